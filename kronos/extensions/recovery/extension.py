# SPDX-License-Identifier: Apache-2.0
"""The extension that recovers: its answers to the trunk's questions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from kronos.engine import edits
from kronos.engine.edits import Pair, Relaxation
from kronos.engine.extension import Extension, ReasonCode
from kronos.engine.planning.phase_input import PlanScope
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    Closing,
    EarlierMove,
    Host,
    PlanningInput,
    Snapshot,
)
from kronos.extensions.recovery import (
    failures,
    faulty_hosts,
    outcome,
    planning,
)
from kronos.extensions.recovery.failures import Failures
from kronos.extensions.recovery.options import RecoveryOptions
from kronos.extensions.recovery.outcome import RecoveryOutcome
from kronos.extensions.recovery.readings import failures as readings
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import ScopeRequest


def _any_number(case: PlanningInput, _: Reason, __: Pair) -> PlanningInput:
    snapshot = case.snapshot
    number = len(snapshot.hosts) + len(failures.of(snapshot).elsewhere)
    return edits.with_option(case, RecoveryOptions, max_closed_hosts=number)


def _no_fault(
    case: PlanningInput, reason: Reason, pair: Pair
) -> PlanningInput:
    host = reason.host or pair.destination
    return edits.with_host(case, host, faulty=None)


@dataclass(frozen=True)
class Recovery(Extension):
    """It closes hosts at fault, drains them, and starts servers again."""

    name: ClassVar[str] = failures.NAME
    relaxations: ClassVar[Mapping[ReasonCode, Relaxation]] = {
        Code.SCOPE_FAILURES_UNKNOWN: lambda case, _, __: edits.with_beside(
            case, failures.NAME, unknown=''
        ),
        Code.SCOPE_TOO_MANY_AT_FAULT: _any_number,
        Code.HOST_AT_FAULT: _no_fault,
    }

    @property
    def closes_hosts(self) -> bool:
        return True

    def cut(
        self,
        snapshot: Snapshot,
        inventory: CloudInventory,
        request: ScopeRequest,
    ) -> Failures:
        return Failures(
            failures.why_unknown(inventory.beside),
            readings.elsewhere(snapshot.scope, snapshot.hosts, inventory),
        )

    def stopped(self, snapshot: Snapshot, settings: Settings) -> Reason | None:
        return faulty_hosts.why_stopped(snapshot, settings)

    def host_reasons(self, host: Host, settings: Settings) -> list[Reason]:
        reason = faulty_hosts.why_at_fault(host)
        return [reason] if reason else []

    def to_empty(self, snapshot: Snapshot, settings: Settings) -> set[str]:
        return faulty_hosts.to_empty(snapshot, settings)

    def closings(
        self, result: AggregateResult, snapshot: Snapshot, settings: Settings
    ) -> list[Closing]:
        reasons = faulty_hosts.to_close(snapshot, settings)
        return [Closing(host, reason) for host, reason in reasons.items()]

    def note(
        self, result: AggregateResult, snapshot: Snapshot, settings: Settings
    ) -> None:
        """Add what failed, whatever becomes of it."""
        result.beside[failures.NAME] = RecoveryOutcome(
            faulty_hosts.at_fault(snapshot),
            {
                uuid: instance.failure
                for uuid, instance in sorted(snapshot.instances.items())
                if instance.failure
            },
        )

    def follow(
        self,
        case: PlanningInput,
        result: AggregateResult,
        planner: PlanScope,
    ) -> list[EarlierMove]:
        """Add what is to be started again.

        :returns: the cold migrations among it
        """
        planned = planning.plan(case, planner)
        result.beside[failures.NAME] = replace(
            outcome.of(result), restarts=planned.restarts
        )
        started = {restart.instance for restart in planned.restarts}
        for reasons in (result.stayed, result.unmovable):
            reasons |= planned.left
            for uuid in started:
                reasons.pop(uuid, None)
        return [
            EarlierMove(
                case.snapshot.scope,
                case.snapshot.instances[step.instance],
                step.source,
                step.destination,
                {},
            )
            for step in planned.steps
        ]

    def answer(self, result: AggregateResult, uuid: str) -> dict[str, Any]:
        """What becomes of one that failed: where it starts, or why not."""
        for restart in outcome.of(result).restarts:
            if restart.instance == uuid:
                return _recovery(restart.destination, '', restart.reason)
        why = result.stayed.get(uuid)
        if uuid not in outcome.of(result).failed_servers or why is None:
            return {}
        return _recovery('', why.code.value, str(why))


def _recovery(destination: str, code: str, text: str) -> dict[str, Any]:
    row = {'destination': destination, 'code': code, 'text': text}
    return {'recovery': row}


RECOVERY = Recovery()
