# SPDX-License-Identifier: Apache-2.0
"""The options of a replay: what is to differ from the recorded audit."""

import argparse
import dataclasses
import datetime
import time
from typing import Any

from kronos.cmd.screen import progress
from kronos.common.exceptions import KronosException
from kronos.engine.explain.remedies import Remedy
from kronos.engine.types import UNASSIGNED, CycleInput
from kronos.policies import loader
from kronos.policies.models import Policy
from kronos.recordings import load, replay, safe_files, schema
from kronos.recordings.recording import Recording
from kronos.recordings.replay import Replay, ReplayOptions
from kronos.reports import host_names

REASON = (
    'since a recording contains the options of its audit; change an option '
    'with --set NAME=VALUE'
)
"""Why a replay takes no configuration."""


def add(
    parser: argparse.ArgumentParser, reads_configuration: bool = False
) -> None:
    """Add the options to a command.

    :param reads_configuration: whether it has ``--config-file`` itself
    """
    parser.add_argument(
        '--policies',
        metavar='FILE',
        help='plan with these policies instead of the recorded ones; - is '
        'standard input',
    )
    if not reads_configuration:
        parser.add_argument(
            '--config-file', action=_NoConfiguration, help=argparse.SUPPRESS
        )
    parser.add_argument(
        '--set',
        metavar='NAME=VALUE',
        action='append',
        default=[],
        type=override,
        help='change one setting: a field of a policy (threshold.cpu=0.1) or '
        'an option of [kronos] (keep_hosts=2); may be repeated',
    )
    parser.add_argument(
        '--mode',
        choices=replay.modes(),
        help='plan with the strategy kronos_MODE (default: as recorded)',
    )
    parser.add_argument(
        '--parameter',
        metavar='NAME=VALUE',
        action='append',
        default=[],
        type=override,
        help='with a --mode that has parameters: one of the strategy '
        'kronos_MODE (hosts=cmp1,cmp2); may be repeated (default: as '
        'recorded); --scope names the aggregates',
    )
    parser.add_argument(
        '--max-migrations',
        type=_positive,
        metavar='N',
        help='largest number of migrations to plan in each scope (default: '
        'as recorded, else from the policies)',
    )
    parser.add_argument(
        '--scope',
        metavar='NAME',
        action='append',
        default=[],
        help='plan this aggregate instead of the recorded scopes; '
        f'{UNASSIGNED} is the pool of hosts in no aggregate; may be '
        'repeated',
    )
    parser.add_argument(
        '--at',
        metavar='TIME',
        type=_time,
        help='plan as if the recording were of this time, in ISO 8601 '
        '(2027-01-04T22:30+01:00; UTC if no offset is given): windows, '
        'freezes and cooldowns apply as at that time, the metrics stay as '
        'recorded',
    )
    parser.add_argument(
        '--convert-policies',
        action='store_true',
        help='with --mode: plan policies with mode spread as if they had '
        'mode pack, or the other way round; without a recorded '
        'capacity_query, imbalance_query measures how full a host is',
    )
    parser.add_argument(
        '--plain',
        action='store_true',
        help='plan by the literal rule: take the first of equally good '
        'migrations, make no intermediate moves that only even out '
        'hosts, make no swaps, and allow an instance to move again',
    )
    parser.add_argument(
        '--exhaust',
        action='store_true',
        help='continue when every policy is within its threshold',
    )


class _NoConfiguration(argparse.Action):
    """What the replay of kronos-openstack took."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        parser.error(
            f'--config-file: this command reads no configuration, {REASON}'
        )


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number < 2**31:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a whole number of at least 1'
        )
    return number


def _time(text: str) -> float:
    try:
        return schema.seconds_of(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f'{text!r} is no time in ISO 8601 since 1970, such as '
            '2027-01-04T22:30+01:00'
        ) from None


def override(text: str) -> tuple[str, str]:
    """The type of an argument NAME=VALUE."""
    name, equals, value = text.partition('=')
    if not name or not equals:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not of the form NAME=VALUE'
        )
    return name, value


def of(parsed: argparse.Namespace, policies: str | None) -> ReplayOptions:
    """What the options of a call ask for.

    :param policies: path of a policies file; None: as recorded
    """
    return ReplayOptions(
        policies=None if policies is None else policies_of(policies),
        mode=parsed.mode,
        parameters=dict(parsed.parameter),
        max_migrations=parsed.max_migrations,
        scopes=parsed.scope,
        overrides=dict(parsed.set),
        convert_policies=parsed.convert_policies,
        at=parsed.at,
        plain=parsed.plain,
        exhaust=parsed.exhaust,
    )


def policies_of(path: str) -> list[Policy]:
    """Those of a file; ``-`` is standard input."""
    if path != safe_files.STDIN:
        return loader.load(path).policies
    text = safe_files.standard_input().decode(errors='replace')
    return loader.parse(text, 'standard input').policies


def played(path: str, options: ReplayOptions) -> Replay:
    """Read a recording and plan it."""
    began = time.monotonic()
    recording = read(path, options)
    seconds = round(time.monotonic() - began, 6)
    progress.step(f'planning {path}')
    plan = replay.replay(recording, options)
    plan.timings = {'load': seconds, **plan.timings}
    return plan


def read(path: str, options: ReplayOptions) -> Recording:
    """Read a recording."""
    progress.step(f'reading {path}')
    return load.read(path, options.policies)


def about(recording: Recording) -> dict[str, Any]:
    """Which recording it is, for programs."""
    moment = datetime.datetime.fromtimestamp(
        recording.recorded_at, datetime.UTC
    )
    return {
        'path': recording.source,
        'recorded_at': moment.isoformat(),
        'made_by': recording.made_by,
        'strategy': recording.strategy,
    }


def cause(plan: Replay) -> str:
    """Why hosts lack values that they would have by another option; or ''."""
    return host_names.sentence(
        plan.snapshots, plan.policies, plan.settings.host_match, can_try=True
    )


def with_remedy(options: ReplayOptions, remedy: Remedy) -> ReplayOptions:
    """The options of a call to which the arguments of a remedy are added."""
    return dataclasses.replace(
        options,
        overrides={**options.overrides, **remedy.overrides},
        max_migrations=remedy.max_migrations or options.max_migrations,
        mode=remedy.mode.value if remedy.mode else options.mode,
    )


def cycle(plan: Replay) -> CycleInput:
    """What a replay was planned by."""
    return CycleInput(plan.snapshots, plan.policies, plan.settings)


def prepared(plan: Replay, remedy: Remedy) -> CycleInput | None:
    """What a replay with the arguments of a remedy, too, would plan by.

    None where it refuses them.
    """
    if not remedy.can_be_tried:
        return cycle(plan)
    try:
        return replay.cycle(plan.recording, with_remedy(plan.options, remedy))
    except KronosException:
        return None
