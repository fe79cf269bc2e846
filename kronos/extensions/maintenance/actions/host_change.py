# SPDX-License-Identifier: Apache-2.0
"""The change of a host of a run: its nova-compute is asked for a status.

Its reason is read before, in the same lock in which it is written, and read
again after: a person who rewrites the reason has taken the host.
"""

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from oslo_log import log as logging

from kronos.actions.core.context import Patience
from kronos.actions.core.run import Run
from kronos.actions.core.step import Step, StepEnd, StepLimits, StepRun
from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.compute_services import ComputeServices
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.types import ComputeService
from kronos.extensions.maintenance import closing_reason
from kronos.extensions.maintenance.closing_reason import ClosingReason
from kronos.extensions.maintenance.notices.notice import Event, HostNotice

LOG = logging.getLogger(__name__)
T = TypeVar('T')

DISABLED = 'disabled'
POLL_SECONDS = 2.0
SETTLE_SECONDS = 90.0
"""For Nova to show what it was asked for; it may wait 60 s for a host."""
REQUESTS = 2


@dataclass(frozen=True)
class HostChange:
    """Which host is changed, and by which run."""

    host: str
    aggregate: str
    run: str
    audit: str
    """Uuid."""


@dataclass(kw_only=True)
class HostContext(Patience):
    """Besides how time passes, what a change of a host asks."""

    nova: NovaClient
    services: ComputeServices
    alone: Callable[[Callable[[], str]], str] = lambda work: work()
    """Does some work while no other engine or applier does such."""
    announce: Callable[[HostNotice], object] = lambda notice: None
    """Tells whoever listens what Nova shows now; never fails or waits."""


class HostRun(Run[str, ComputeService | None]):
    """The change of one host."""

    participle: str
    """For messages."""
    event: Event
    """What it is announced as."""

    def __init__(self, change: HostChange, context: HostContext) -> None:
        self._change = change
        self._context = context
        self._has_asked = False
        self._since = 0.0
        """Of the reason that is written, or taken away; Unix seconds."""

    @abc.abstractmethod
    def _due(self, services: Mapping[str, ComputeService]) -> bool:
        """Whether there is anything to do.

        :raises KronosException: it must not be done, or not now
        """

    @abc.abstractmethod
    def _reason(self) -> str:
        """The reason that the host gets; '': it is enabled."""

    def _preflight(self) -> str:
        self._look()
        return ''

    def _request(self) -> str:
        """Ask Nova for it while nobody else changes a host.

        :returns: the host; '' if there is nothing to do
        """

        def change() -> str:
            if not self._look():
                return ''
            self._ask()
            return self._change.host

        return self._context.alone(change)

    def _look(self) -> bool:
        self._context.stop_if_cancelled()
        services = self._context.nova.list_compute_services()
        if self._change.host not in services:
            raise faults.error(
                Fault.SOURCE_NOT_UP,
                f'{self._change.host} has no nova-compute service',
                transient=False,
            )
        return self._due(services)

    def _ask(self) -> str:
        self._has_asked = True
        reason = self._reason()
        if reason:
            self._context.services.disable(self._change.host, reason)
        else:
            self._context.services.enable(self._change.host)
        return self._change.host

    def _is_reached(self, service: ComputeService | None) -> bool:
        if service is None:
            return False
        if not self._reason():
            return service.status != DISABLED
        return (
            service.status == DISABLED
            and service.disabled_reason == self._reason()
        )

    def _watch(self, sent: str) -> ComputeService | None:
        """Look until Nova shows what it was asked for."""
        host, context = self._change.host, self._context
        if not sent:
            return context.nova.get_service(host)
        step: Step[ComputeService | None] = Step(
            participle=self.participle,
            ask=self._ask,
            look=lambda: context.nova.get_service(host),
            is_reached=self._is_reached,
            may_ask=lambda service: False,
        )
        limits = StepLimits(
            timeout=SETTLE_SECONDS,
            poll_interval=POLL_SECONDS,
            requests=REQUESTS,
        )
        result = StepRun(step, context, limits).carry_out()
        if result.end is not StepEnd.REACHED:
            raise result.error or exceptions.NovaClientError(
                reason=f'nova-compute on {host} is not {self.participle}, '
                'although Nova was asked to'
            )
        return result.seen

    def _conclude(self, seen: ComputeService | None) -> str:
        if not self._has_asked:
            return f'{self._change.host} was {self.participle} already'
        LOG.info('Host %s is %s', self._change.host, self.participle)
        self._context.announce(
            HostNotice(
                self.event,
                self._change.run,
                self._change.host,
                self._change.aggregate,
                self._since,
                self._change.audit,
            )
        )
        return ''

    def own(self, service: ComputeService) -> ClosingReason:
        """The reason with which the run has closed the host.

        :raises StaleTask: it is open, or somebody else's
        """
        host = self._change.host
        if service.status != DISABLED:
            raise faults.error(
                Fault.HOST_TAKEN_OVER,
                f'{host} is enabled, and not by run {self._change.run}',
            )
        reason = closing_reason.parsed(service.disabled_reason)
        if reason is None or reason.run != self._change.run:
            raise faults.error(
                Fault.HOST_TAKEN_OVER,
                f'the reason of {host} is not that of run '
                f'{self._change.run}, so the run leaves the host alone: '
                f'"{service.disabled_reason}"',
            )
        return reason
