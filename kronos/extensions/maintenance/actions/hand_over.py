# SPDX-License-Identifier: Apache-2.0
"""The hand-over of a host: it is empty, twice and a minute apart.

Placement says what is on it: it also holds what no listing of servers shows,
such as one that is on its way, or a resize that may be reverted to it.
"""

from collections.abc import Callable, Collection, Mapping

from kronos.engine import faults, wording
from kronos.engine.faults import Fault
from kronos.engine.types import ComputeService
from kronos.extensions.maintenance import maintenance
from kronos.extensions.maintenance.actions.host_change import (
    HostChange,
    HostContext,
    HostRun,
)
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.maintenance import Stopped
from kronos.extensions.maintenance.notices.notice import Event

APART_SECONDS = 60.0
Consumers = Callable[[], Collection[str]]
"""Gives uuids of all that Placement holds on the host; raises
PlacementClientError."""


class HandOverRun(HostRun):
    """Write into the reason of a host that it is handed over."""

    participle = 'handed over'
    event = Event.HANDED_OVER

    def __init__(
        self,
        change: HostChange,
        stopped: Stopped,
        consumers: Consumers,
        context: HostContext,
    ) -> None:
        super().__init__(change, context)
        self._stopped = stopped
        self._consumers = consumers
        self._own: ClosingReason | None = None
        self._is_empty = False

    def _request(self) -> str:
        self._look()
        self._require_empty()
        self._context.tell('looks again in a minute')
        self._context.sleep(APART_SECONDS)
        self._require_empty()
        self._context.tell('')
        return super()._request()

    def _reason(self) -> str:
        return '' if self._own is None else str(self._own)

    def _due(self, services: Mapping[str, ComputeService]) -> bool:
        reason = self.own(services[self._change.host])
        if reason.step is not Step.EMPTYING:
            self._own = reason
            return False
        if self._own is None:
            self._own = reason.advanced(Step.HANDED_OVER, self._context.wall())
            self._since = self._own.since
        return True

    def _require_empty(self) -> None:
        """:raises StaleTask: Placement holds something there"""
        self._context.stop_if_cancelled()
        consumers = {*self._consumers()}
        if not consumers:
            return
        servers = self._context.nova.list_instances_on_host(self._change.host)
        if self._stopped is Stopped.STAY:
            consumers -= {
                server.uuid
                for server in servers
                if server.status == maintenance.SHUTOFF
            }
        if consumers:
            raise faults.error(
                Fault.HOST_OCCUPIED,
                f'{self._change.host} is not handed over: Placement still '
                f'has allocations of {wording.some(sorted(consumers))} there',
            )
