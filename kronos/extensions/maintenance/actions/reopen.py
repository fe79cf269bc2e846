# SPDX-License-Identifier: Apache-2.0
"""The opening of a host that is done: only what bears the run's own reason."""

from collections.abc import Callable, Mapping

from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.types import ComputeService
from kronos.extensions.maintenance.actions.host_change import (
    HostChange,
    HostContext,
    HostRun,
)
from kronos.extensions.maintenance.closing_reason import Step
from kronos.extensions.maintenance.maintenance import RunView
from kronos.extensions.maintenance.notices.notice import Event

View = Callable[[], RunView]
"""Gives what the queries of the run say now."""


class ReopenRun(HostRun):
    """Enable the nova-compute of a host that the run has closed."""

    participle = 'opened'
    event = Event.REOPENED

    def __init__(
        self, change: HostChange, view: View, context: HostContext
    ) -> None:
        super().__init__(change, context)
        self._view = view

    def _reason(self) -> str:
        return ''

    def _due(self, services: Mapping[str, ComputeService]) -> bool:
        host = self._change.host
        service = services[host]
        reason = self.own(service)
        self._since = reason.since
        if reason.step is Step.EMPTYING or not service.is_up:
            raise faults.error(
                Fault.HOST_NOT_DONE,
                f'{host} is {reason.step}, and nova-compute is '
                f'{service.state}',
            )
        view = self._view()
        if view.unknown or host not in view.ready:
            why = view.unknown or 'the queries of the run do not name it'
            raise faults.error(
                Fault.HOST_NOT_DONE, f'{host} is not opened: {why}'
            )
        return True
