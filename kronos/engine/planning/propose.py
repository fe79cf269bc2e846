# SPDX-License-Identifier: Apache-2.0
"""The planning of all scopes: the one entry of the engine.

Strategies, replay, kronos-explain and the bench call :func:`plan`, and for a
question "what if" :func:`plan_again`. It decides and
changes nothing: its snapshots are left as they are.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

import numpy as np

from kronos.common import gc_pause
from kronos.engine.planning import drain_without_metrics
from kronos.engine.planning.proof import certificate
from kronos.engine.planning.scope_planner import ScopePlanner
from kronos.engine.scheduling import graph
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    CycleReport,
    EarlierMove,
    PlanningInput,
    Snapshot,
)
from kronos.policies.models import Policy

Timed = Callable[[str], AbstractContextManager[None]]
"""Measures what it surrounds, under the name of a part."""


@dataclass
class ScheduledPlan:
    """What is to be moved, and in which order it may be."""

    report: CycleReport
    parents: list[list[int]]
    """For each step of the report the indices of those that must end
    before it begins."""
    order: list[int]
    """The indices of the steps in the order in which they get their turns."""


@gc_pause.paused()
def plan(
    snapshots: Sequence[Snapshot],
    policies: Sequence[Policy],
    settings: Settings,
    max_concurrent: int,
    timed: Timed = lambda _: nullcontext(),
) -> ScheduledPlan:
    """Plan every scope, and lay the steps out in time.

    :param max_concurrent: moves of one scope that may run at a time
    :param timed: times the parts ``propose`` and ``schedule``
    :raises ValueError: as :func:`propose`
    """
    with timed('propose'):
        report = propose(snapshots, policies, settings)
    with timed('schedule'):
        steps = report.steps
        schedule = graph.schedule(steps, list(snapshots), max_concurrent)
        report.seconds = schedule.seconds(steps, max_concurrent)
    return ScheduledPlan(report, schedule.parents, schedule.order)


def certify(report: CycleReport) -> None:
    """Let a solver prove how much lower any plan could get.

    It may take some seconds per scope, and changes the certificates alone.
    """
    for scope in report.scopes:
        certificate.sharpen(scope.certificate)
        if scope.rest is not None:
            certificate.sharpen(scope.rest.certificate)


def plan_again(case: PlanningInput) -> AggregateResult:
    """Plan one scope by what the planner was given, or something else.

    For questions of the kind "what if": nothing is looked up or checked.
    """
    return ScopePlanner(case).plan()


def propose(
    snapshots: Sequence[Snapshot],
    policies: Sequence[Policy],
    settings: Settings,
) -> CycleReport:
    """Plan every scope, one after the other, in the order given.

    Per scope: score, cooldown, profile, leave out what is not
    available; then the phases: evacuation, repair of server groups, and
    spread or pack by the mode of the policies. They share a budget,
    and each starts from what the one before left. A host that is in several
    scopes is found by the later one as the earlier one leaves it, and no
    instance is planned in two. A scope without usable metrics stands
    still, but for its drain (:mod:`.drain_without_metrics`).

    :param snapshots: one per scope, of one moment
    :param policies: of one mode; those not enabled are ignored
    :returns: the steps in an order in which each is legal, for every scope
        why it ended, and for every instance that does not move why
    :raises ValueError: if the enabled policies are of two modes,
        ``settings.max_migrations`` is less than 1, or the settings ask for
        no phase
    """
    enabled = [policy for policy in policies if policy.enabled]
    if len({policy.mode for policy in enabled}) > 1:
        raise ValueError('all enabled policies must have one mode')
    if settings.max_migrations is not None and settings.max_migrations < 1:
        raise ValueError(
            f'max_migrations is {settings.max_migrations}: it must be at '
            'least 1'
        )
    if not (settings.evacuate or settings.enforces or settings.rebalance):
        raise ValueError('the settings ask for no phase')
    report, earlier = CycleReport(), list[EarlierMove]()
    # Sums of absurd values overflow; such moves are never chosen.
    with np.errstate(over='ignore', invalid='ignore'):
        for snapshot in snapshots:
            choice = drain_without_metrics.choose(
                PlanningInput(snapshot, enabled, settings, list(earlier))
            )
            planner = ScopePlanner(choice.input)
            result = planner.plan()
            if choice.notice:
                result.unmeasured = choice.notice
                result.warnings.append(choice.notice)
            report.scopes.append(result)
            earlier += planner.moves(result.steps)
            earlier += settings.extension.follow(
                replace(choice.input, earlier=list(earlier)), result, _drained
            )
    return report


def _drained(case: PlanningInput) -> AggregateResult:
    return ScopePlanner(drain_without_metrics.choose(case).input).plan()
