# SPDX-License-Identifier: Apache-2.0
"""The replay: what Kronos would plan by a recording."""

import dataclasses
import functools
import json
from dataclasses import dataclass, field
from typing import Any

from kronos.common import timing
from kronos.common.exceptions import ConfigurationError
from kronos.engine.planning import propose
from kronos.engine.settings import (
    PHASES_OF_MODE,
    PlanMode,
    SearchName,
    Settings,
    SwapMoves,
    TieBreak,
    UnexplainedLoad,
    VetoReference,
)
from kronos.engine.types import UNASSIGNED, CycleInput, CycleReport, Snapshot
from kronos.policies.models import Mode, Policy
from kronos.recordings import overrides, parts
from kronos.recordings.recording import Recording
from kronos.snapshots import settings_from_conf
from kronos.snapshots.scopes import ScopeRequest


@dataclass
class ReplayOptions:
    """What is to differ from the recorded audit; empty: nothing."""

    policies: list[Policy] | None = None
    """Instead of those of the recording."""
    mode: str | None = None
    """One of :func:`modes`."""
    max_migrations: int | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    """Of the extension that the mode asks for; empty: as recorded."""
    drain_hosts: list[str] | None = None
    """Plan only that these are drained, without a budget by the recording."""
    scopes: list[str] = field(default_factory=list)
    """Aggregates to plan, in this order; UNASSIGNED is the pool."""
    overrides: dict[str, str] = field(default_factory=dict)
    """Values as text by ``FIELD.POLICY`` or by option of ``[kronos]``."""
    convert_policies: bool = False
    """Plan policies of another mode as if they were written for this one."""
    plain: bool = False
    """The literal greedy rule."""
    at: float | None = None
    """Plan as if the recording were of this time, in Unix seconds."""
    exhaust: bool = False
    """Go on when every policy is within its threshold."""


@dataclass
class Replay:
    """A plan of a recording, with what it was planned by."""

    recording: Recording
    policies: list[Policy]
    settings: Settings
    snapshots: list[Snapshot]
    report: CycleReport
    parents: list[list[int]]
    """For each step the indices of those that must end before it."""
    order: list[int]
    """The indices of the steps in the order in which they get their turns."""
    timings: dict[str, float] = field(default_factory=dict)
    """Seconds that each part took."""
    options: ReplayOptions = field(default_factory=ReplayOptions)

    @property
    def budget(self) -> int:
        """Migrations that a scope may plan, where that is limited."""
        return self.settings.max_migrations or max(
            policy.max_migrations_per_cycle
            for policy in self.policies
            if policy.enabled
        )


def cycle(recording: Recording, options: ReplayOptions) -> CycleInput:
    """All that a replay plans by.

    :raises ConfigurationError: the options do not fit the recording
    :raises ScopeError: the scopes are unknown or empty
    """
    policies, settings = planned_by(recording, options)
    request = request_of(recording, options, settings)
    if options.at is not None:
        recording = _moved(recording, options.at)
    strategy = f'kronos_{options.mode}' if options.mode else ''
    snapshots = recording.snapshots(policies, settings, request, strategy)
    return CycleInput(snapshots, policies, settings)


def replay(recording: Recording, options: ReplayOptions) -> Replay:
    """Plan a recording, offline; without options the audit's very steps.

    :raises ConfigurationError: the options do not fit the recording
    :raises ScopeError: the scopes are unknown or empty
    """
    timings: dict[str, float] = {}
    with timing.timed(timings, 'collect'):
        inputs = cycle(recording, options)
    plan = propose.plan(
        inputs.snapshots,
        inputs.policies,
        inputs.settings,
        recording.max_concurrent,
        functools.partial(timing.timed, timings),
    )
    return Replay(
        recording,
        inputs.policies,
        inputs.settings,
        inputs.snapshots,
        plan.report,
        plan.parents,
        plan.order,
        timings,
        options,
    )


def _moved(recording: Recording, moment: float) -> Recording:
    """The recording as if it were of another time.

    What is remembered of moves is older, or younger, then.
    """
    gathered = dataclasses.replace(recording.gathered, taken_at=moment)
    return dataclasses.replace(recording, gathered=gathered)


def planned_by(
    recording: Recording, options: ReplayOptions
) -> tuple[list[Policy], Settings]:
    """The policies and settings of a replay.

    :raises ConfigurationError: the options do not fit the recording
    """
    policies = (
        recording.policies if options.policies is None else options.policies
    )
    overrides.require_sense(policies, options.overrides)
    policies = overrides.policies(policies, options.overrides)
    settings = dataclasses.replace(recording.settings)
    configured = dataclasses.replace(recording.configured or settings)
    for each in (settings, configured):
        overrides.apply(each, options.overrides)
    policies = _of_mode(policies, recording, options)
    name = _extension_of(options)
    mode = _plan_mode(options.mode)
    if options.drain_hosts is not None:
        mode, settings.max_migrations = PlanMode.EVACUATE, None
    elif (
        mode and mode.strategy == recording.strategy and not options.parameters
    ):
        mode, name = None, ''  # it is set already
    parameters = {key: _sent(text) for key, text in options.parameters.items()}
    extension = parts.replayed(name, parameters, recording.gathered)
    settings_from_conf.ask(
        settings,
        configured,
        mode,
        max_migrations=options.max_migrations,
        extension=extension,
        drain_hosts=options.drain_hosts,
    )
    if mode is None and name:
        settings.extension = extension
        extension.prepare(settings)
    settings.exhaust = settings.exhaust or options.exhaust
    if options.plain:
        _make_literal(settings)
    return policies, settings


def _make_literal(settings: Settings) -> None:
    """Set what the literal greedy rule is."""
    settings.search = SearchName.GREEDY
    settings.veto_reference = VetoReference.STEP
    settings.tie_break = TieBreak.FIRST
    settings.plateau_moves, settings.swap_moves = False, SwapMoves.NONE
    settings.repeat_moves = True
    settings.unexplained_load = UnexplainedLoad.IGNORED


def modes() -> list[str]:
    """The words of ``--mode``."""
    return [*(mode.value for mode in PlanMode), *parts.modes_of_others()]


def _plan_mode(word: str | None) -> PlanMode | None:
    """That of a word; None: as recorded, whoever's extension plans it."""
    if word is None or word in parts.modes_of_others():
        return None
    return PlanMode(word)


def _extension_of(options: ReplayOptions) -> str:
    """The name of the extension that a mode asks for; '' if it asks for none.

    :raises ConfigurationError: there are parameters, and it takes none
    """
    names = parts.by_mode()
    name = names.get(options.mode or '', '')
    if options.parameters and not parts.takes_parameters(name):
        modes_with = [m for m in names if parts.takes_parameters(names[m])]
        words = ' and '.join(f'--mode {mode}' for mode in modes_with)
        raise ConfigurationError(reason=f'--parameter is for {words} only')
    if 'aggregates' in options.parameters:
        raise ConfigurationError(
            reason='--parameter aggregates: name the scopes with --scope '
            'instead'
        )
    return name


def _sent(text: str) -> Any:
    """What the command line of Watcher makes of a value."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _of_mode(
    policies: list[Policy], recording: Recording, options: ReplayOptions
) -> list[Policy]:
    """The policies for the strategy that is to be planned.

    :raises ConfigurationError: they were written for another one
    """
    by_strategy = {mode.strategy: mode for mode in PlanMode}
    if options.drain_hosts is not None:
        return policies
    plan_mode = _plan_mode(options.mode) or by_strategy.get(recording.strategy)
    if plan_mode is None:
        return policies
    needed, mode = PHASES_OF_MODE[plan_mode].policies, policies[0].mode
    if needed in (None, mode):
        return policies
    if options.convert_policies:
        return overrides.of_mode(policies, needed, recording.answers)
    fills = ''
    if needed is Mode.PACK:
        fills = (
            '; the fill of hosts is then measured by capacity_query, or by '
            'imbalance_query if that was not recorded'
        )
    raise ConfigurationError(
        reason=f'the policies have mode {mode}, but the plan is for '
        f'{plan_mode}: give policies with mode {needed} with '
        '--policies, or --convert-policies to plan these with '
        f'it{fills}; or --mode {mode}'
    )


def request_of(
    recording: Recording, options: ReplayOptions, settings: Settings
) -> ScopeRequest:
    """The recorded request for other scopes; its exclusions stay."""
    chosen = parts.chosen(settings)
    if chosen or not options.scopes:
        return dataclasses.replace(recording.request, chosen=chosen)
    named = [name for name in options.scopes if name != UNASSIGNED]
    return dataclasses.replace(
        recording.request,
        aggregates=list(named),
        include_unassigned=UNASSIGNED in options.scopes,
        availability_zones=[],
        chosen=None,
    )
