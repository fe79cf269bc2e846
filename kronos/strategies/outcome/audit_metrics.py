# SPDX-License-Identifier: Apache-2.0
"""The metrics of an audit: how it ended, and how each scope stands.

Whatever is wrong with them, the audit goes on.
"""

import contextlib
import time
from collections import Counter
from collections.abc import (
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any

from oslo_log import log as logging
from watcher import objects
from watcher.common import context

from kronos.engine import types
from kronos.engine.eligibility import cooldown
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Health, Outcome, Snapshot
from kronos.metrics import process
from kronos.metrics.metric import Source
from kronos.metrics.store import Gauge
from kronos.strategies.outcome import additions as beside
from kronos.strategies.outcome import limit_metrics, slot_metrics

LOG = logging.getLogger(__name__)

OFTEN = 3
"""So many moves of an instance within what is remembered are too many."""
PARTS = {
    'policies': 'reading',
    'history': 'reading',
    'collect': 'reading',
    'effect': 'reading',
    'certify': 'proof',
    'record': 'writing',
}
"""The parts of an audit by what is timed; the rest is planning."""
OURS = 'kronos'


def begin(conf: Any) -> None:
    """Have the metrics of this process written, if they are wanted."""
    with unharmed():
        process.begin(Source.DECISION_ENGINE, conf.kronos_metrics)


def ended(strategy: str, outcome: str) -> None:
    """Count a run, and show which plans wait for somebody."""
    with unharmed():
        store = process.of_process()
        if store.is_on:
            store.count(
                'kronos_audits_total', strategy=strategy, outcome=outcome
            )
            # Else another decision engine may have planned since, for long.
            store.show('plans', _plans(), expires=True)


def written(report: types.CycleReport) -> None:
    """Count the moves of a plan that is there to be started."""
    with unharmed():
        store = process.of_process()
        for scope in report.scopes:
            for phase, number in _moves(scope).items():
                store.count(
                    'kronos_moves_planned_total',
                    number,
                    scope=scope.name,
                    phase=phase,
                )


def planned(
    report: types.CycleReport,
    snapshots: Sequence[Snapshot],
    settings: Settings,
    timings: Mapping[str, float],
    watched: Collection[str] = (),
    additions: beside.Additions = beside.PLAIN,
) -> None:
    """Show how each scope stands after planning.

    :param watched: names of the flavors whose slots are counted
    """
    with unharmed():
        store = process.of_process()
        if not store.is_on:
            return
        for part, seconds in _parts(timings).items():
            store.observe('kronos_audit_part_seconds', seconds, part=part)
        by_scope = {snapshot.scope: snapshot for snapshot in snapshots}
        for scope in report.scopes:
            gauges = [*_of_scope(scope), *_of_policies(scope)]
            snapshot = by_scope.get(scope.name)
            if snapshot is not None:
                gauges += _of_past(snapshot, settings)
                gauges += slot_metrics.of_scope(snapshot, watched, settings)
            store.show('scope', gauges, scope.name)
            if more := [*additions.gauges(scope)]:
                store.show(additions.subject(scope), more, scope.name)


@contextlib.contextmanager
def unharmed() -> Iterator[None]:
    """Have the audit go on, whatever is wrong with its metrics."""
    try:
        yield
    except Exception as error:
        # Its text may hold anything.
        LOG.warning(
            'The metrics of the audit are incomplete: %s', type(error).__name__
        )


def _parts(timings: Mapping[str, float]) -> dict[str, float]:
    parts: dict[str, float] = {}
    for name, seconds in timings.items():
        part = PARTS.get(name, 'planning')
        parts[part] = parts.get(part, 0.0) + seconds
    return parts


def _moves(scope: types.AggregateResult) -> Counter[str]:
    return Counter(str(step.phase.value) for step in scope.steps)


def _of_scope(scope: types.AggregateResult) -> Iterator[Gauge]:
    own = {'scope': scope.name}
    reason = scope.stopped.code.value
    yield Gauge('kronos_scope_stopped', 1, {**own, 'reason': reason})
    if scope.policies_used:
        name = 'kronos_scope_last_success_timestamp_seconds'
        yield Gauge(name, time.time(), own)
        name = 'kronos_scope_imbalance_ratio'
        yield Gauge(name, scope.combined_before, own)
        name = 'kronos_scope_planned_imbalance_ratio'
        yield Gauge(name, scope.combined_after, own)
        name = 'kronos_scope_hosts_over_threshold'
        yield Gauge(name, scope.hosts_over_before, own)
    for state, number in (
        ('in_use', scope.hosts_in_use_before),
        ('unavailable', len(scope.unavailable_hosts)),
    ):
        yield Gauge('kronos_scope_hosts', number, {**own, 'state': state})
    yield Gauge('kronos_scope_instances', len(scope.instances), own)
    for phase, number in _moves(scope).items():
        name = 'kronos_scope_planned_moves'
        yield Gauge(name, number, {**own, 'phase': phase})
    for code, number in _codes(scope.stayed.values()).items():
        name = 'kronos_scope_staying_instances'
        yield Gauge(name, number, {**own, 'reason': code})
    quarantined = _codes(scope.unmovable.values())[Code.INSTANCE_QUARANTINE]
    yield Gauge('kronos_scope_quarantined_instances', quarantined, own)
    yield Gauge('kronos_effect_limited', bool(scope.effect_limit), own)
    yield from _of_drains(scope)
    yield from limit_metrics.of_scope(scope)


def _codes(reasons: Iterable[Reason]) -> Counter[str]:
    return Counter(str(reason.code.value) for reason in reasons)


def _of_drains(scope: types.AggregateResult) -> Iterator[Gauge]:
    states: Counter[str] = Counter()
    for drain in scope.drains:
        for state, number in (
            ('leaving', drain.leaving),
            ('staying', len(drain.staying)),
        ):
            states[state] += number
            labels = {'scope': scope.name, 'host': drain.host, 'state': state}
            yield Gauge('kronos_host_draining_instances', number, labels)
    for state, number in states.items():
        labels = {'scope': scope.name, 'state': state}
        yield Gauge('kronos_scope_draining_instances', number, labels)


def _of_policies(scope: types.AggregateResult) -> Iterator[Gauge]:
    for policy in scope.policies:
        own = {'scope': scope.name, 'policy': policy.name}
        partial = policy.health is Health.PARTIAL
        yield Gauge('kronos_policy_partial', partial, own)
        name = 'kronos_policy_threshold_ratio'
        yield Gauge(name, policy.threshold, own)
        if policy.skipped:
            is_healthy = policy.health is Health.HEALTHY
            reason = 'unusable' if is_healthy else policy.health.value
            yield Gauge('kronos_policy_skipped', 1, {**own, 'reason': reason})
            continue
        name = 'kronos_policy_imbalance_ratio'
        yield Gauge(name, policy.imbalance_before, own)
        name = 'kronos_policy_planned_imbalance_ratio'
        yield Gauge(name, policy.imbalance_after, own)
        for score in policy.scores:
            labels = {**own, 'host': score.host}
            yield Gauge('kronos_host_score_ratio', score.value, labels)


def _of_past(snapshot: Snapshot, settings: Settings) -> Iterator[Gauge]:
    own = {'scope': snapshot.scope}
    seconds = cooldown.seconds_left(snapshot, settings)
    yield Gauge('kronos_scope_cooldown_seconds', seconds, own)
    often = len(_often_moved(snapshot, settings))
    yield Gauge('kronos_scope_repeatedly_moved_instances', often, own)


def _often_moved(snapshot: Snapshot, settings: Settings) -> set[str]:
    since = cooldown.watcher_since(settings, snapshot.taken_at).moves
    # Watcher and Nova both report a move of Kronos, each of them once.
    moves = Counter(
        (event.instance, event.origin)
        for event in snapshot.events
        if event.outcome is Outcome.MOVED
        and event.instance in snapshot.instances
        and event.at >= since
    )
    return {uuid for (uuid, _), number in moves.items() if number >= OFTEN}


def _plans() -> Iterator[Gauge]:
    """The plans that nobody has started, and those that no applier runs."""
    state = objects.action_plan.State
    admin = context.make_context(is_admin=True)
    filters = {'state__in': [state.PENDING, state.RECOMMENDED]}
    by_state: dict[str, list[float]] = {state.PENDING: []}
    for plan in objects.ActionPlan.list(admin, filters=filters, eager=True):
        # The plan of a pipeline has no strategy.
        has_strategy = plan.strategy_id is not None
        if has_strategy and plan.strategy.name.startswith(OURS):
            touched = plan.updated_at or plan.created_at
            is_pending = plan.state == state.PENDING
            moment = touched if is_pending else plan.created_at
            by_state.setdefault(plan.state, []).append(moment.timestamp())
    waiting = by_state[state.PENDING]
    idle = by_state.get(state.RECOMMENDED, [])
    yield Gauge('kronos_plans_waiting', len(waiting))
    yield Gauge('kronos_plans_not_started', len(idle))
    if waiting:
        name = 'kronos_plans_waiting_oldest_timestamp_seconds'
        yield Gauge(name, min(waiting))
    if idle:
        name = 'kronos_plans_not_started_newest_timestamp_seconds'
        yield Gauge(name, max(idle))
