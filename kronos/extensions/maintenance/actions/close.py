# SPDX-License-Identifier: Apache-2.0
"""The closing of a host of a run, while few enough are unavailable."""

from collections.abc import Mapping
from dataclasses import dataclass

from kronos.actions.core import concurrency
from kronos.engine import faults, wording
from kronos.engine.faults import Fault
from kronos.engine.types import ComputeService
from kronos.extensions.maintenance import closing_reason
from kronos.extensions.maintenance.actions.host_change import (
    DISABLED,
    HostChange,
    HostContext,
    HostRun,
)
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.notices.notice import Event


@dataclass(frozen=True)
class Closing:
    """Within which limits a host is closed."""

    at_once: int = 1
    reopens: bool = True
    at_once_per_az: int | None = None
    """None: any number."""


class CloseRun(HostRun):
    """Disable the nova-compute of a host, with the reason of the run."""

    participle = 'closed'
    event = Event.CLOSED

    def __init__(
        self, change: HostChange, closing: Closing, context: HostContext
    ) -> None:
        super().__init__(change, context)
        self._closing = closing
        self._own = ClosingReason(
            change.run,
            Step.EMPTYING,
            float(int(context.wall())),
            change.audit,
            closing.reopens,
        )
        self._since = self._own.since

    def _reason(self) -> str:
        return str(self._own)

    def _due(self, services: Mapping[str, ComputeService]) -> bool:
        service = services[self._change.host]
        if service.status == DISABLED:
            self.own(service)
            return False
        is_inside = concurrency.scope_of(
            self._context.nova, self._change.aggregate
        )
        if not is_inside(self._change.host):
            raise faults.error(
                Fault.HOST_LEFT_SCOPE,
                f'{self._change.host} is not in {self._change.aggregate} any '
                'more',
            )
        closed = sorted(
            name
            for name, row in services.items()
            if is_inside(name) and not row.is_available
        )
        if len(closed) >= self._closing.at_once:
            raise faults.error(
                Fault.TOO_MANY_UNAVAILABLE,
                f'{wording.counted(len(closed), "host")} of '
                f'{self._change.aggregate} cannot take servers '
                f'({wording.some(closed)}), and at_once is '
                f'{self._closing.at_once}',
            )
        self._require_zone([services[name] for name in closed], service.zone)
        return True

    def _require_zone(self, closed: list[ComputeService], zone: str) -> None:
        """:raises StaleTask: the zone has lost enough hosts already"""
        most = self._closing.at_once_per_az
        inside = [row.host for row in closed if row.zone == zone]
        if most is not None and len(inside) >= most:
            raise faults.error(
                Fault.TOO_MANY_UNAVAILABLE,
                f'{wording.counted(len(inside), "host")} of availability '
                f'zone {zone} cannot take servers ({wording.some(inside)}), '
                f'and at_once_per_az is {most}',
            )

    def own_step(self, service: ComputeService) -> Step | None:
        """How far it has come, if the run has closed it."""
        reason = closing_reason.parsed(service.disabled_reason)
        return None if reason is None else reason.step
