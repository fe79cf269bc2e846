# SPDX-License-Identifier: Apache-2.0
"""The run of a closing: a host at fault is looked at again, then disabled.

Between an audit and its plan's start the host may have been mended, or others
may have come to be at fault, so that it is what they share. Kronos closes
a host only while it knows that it should; it never opens one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from oslo_log import log as logging

from kronos.actions.core import concurrency
from kronos.actions.core.context import Patience
from kronos.actions.core.run import Run
from kronos.actions.core.step import (
    Step,
    StepEnd,
    StepLimits,
    StepResult,
    StepRun,
)
from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.compute_services import ComputeServices
from kronos.common import exceptions
from kronos.engine import faults, wording
from kronos.engine.faults import Fault
from kronos.engine.types import BY_KRONOS, ComputeService

LOG = logging.getLogger(__name__)
T = TypeVar('T')

CLOSED = 'disabled'
SHORTEST_WAIT = 1.0
"""Seconds between two looks at the service."""
SETTLE_SECONDS = 60.0
"""For Nova to show what it was asked for, beside the tries."""
AtFault = Callable[[Mapping[str, ComputeService]], Mapping[str, float]]
"""Gives the hosts that ``host_fault_query`` names, with its values, but for
those that are maintained; raises PrometheusError where that is not known."""


@dataclass(frozen=True)
class ClosingSettings:
    """Which host is to be closed, and within which limits."""

    host: str
    aggregate: str
    plan: str = ''
    """Uuid of the action plan."""
    max_closed_hosts: int = 1
    max_retries: int = 3
    retry_backoff: float = 30.0
    """Seconds before the first further try; then doubled."""


@dataclass(kw_only=True)
class ClosingContext(Patience):
    """Besides how time passes, the services that a closing asks."""

    nova: NovaClient
    services: ComputeServices
    at_fault: AtFault


Closing = StepResult[ComputeService | None]


class ClosingRun(Run[str, Closing | None]):
    """The closing of one host."""

    def __init__(
        self, settings: ClosingSettings, context: ClosingContext
    ) -> None:
        self._settings = settings
        self._context = context
        self._value = 0.0

    def _preflight(self) -> str:
        """Look whether the host is still to be closed, if it is open.

        :returns: ''
        :raises StaleTask: it is not at fault any more
        :raises PreFlightError: it is gone, or too many are at fault
        :raises MigrationCancelled: the plan was cancelled
        :raises ClientError: Nova or Prometheus cannot be asked
        """
        self._again(self._is_open)
        return ''

    def _request(self) -> str:
        """The reason with which it is to be disabled; '' if it is already.

        :raises KronosException: as of :meth:`_preflight`
        """
        return self._reason if self._again(self._is_open) else ''

    @property
    def _reason(self) -> str:
        return (
            f'{BY_KRONOS}at fault, host_fault_query gave {self._value:g}; '
            f'closed by action plan {self._settings.plan}. Kronos does not '
            'open it again'
        )

    def _watch(self, sent: str) -> Closing | None:
        """Disable its nova-compute, and look until it is disabled."""
        if not sent:
            return None
        step, limits = self._step(sent), self._limits()
        return StepRun(step, self._context, limits).carry_out()

    def _conclude(self, seen: Closing | None) -> str:
        host = self._settings.host
        if seen is None:
            return f'{host} was disabled already'
        if seen.end is not StepEnd.REACHED:
            raise seen.error or exceptions.NovaClientError(
                reason=f'nova-compute on {host} is not disabled, although '
                'Nova was asked to'
            )
        LOG.warning('Host %s is closed: %s', host, self._reason)
        return ''

    def _is_open(self) -> bool:
        """Whether there is anything to do."""
        host = self._settings.host
        services = self._context.nova.list_compute_services()
        if host not in services:
            raise faults.error(
                Fault.SOURCE_NOT_UP,
                f'{host} has no nova-compute service',
                transient=False,
            )
        if services[host].status == CLOSED:
            return False
        self._require_fault(services)
        return True

    def _require_fault(self, services: Mapping[str, ComputeService]) -> None:
        settings, host = self._settings, self._settings.host
        at_fault = self._context.at_fault(services)
        if host not in at_fault:
            raise faults.error(
                Fault.HOST_NOT_AT_FAULT,
                f'host_fault_query does not name {host} any more',
            )
        self._value = at_fault[host]
        is_inside = concurrency.scope_of(
            self._context.nova, settings.aggregate
        )
        if not is_inside(host):
            raise faults.error(
                Fault.HOST_LEFT_SCOPE,
                f'{host} is not in {settings.aggregate} any more',
            )
        counted = sorted(
            name
            for name, service in services.items()
            if is_inside(name)
            and (name in at_fault or service.is_closed_by_kronos)
        )
        if len(counted) > settings.max_closed_hosts:
            raise faults.error(
                Fault.TOO_MANY_AT_FAULT,
                f'{len(counted)} hosts of {settings.aggregate} are at fault '
                f'or were closed by Kronos ({wording.some(counted)}), and '
                f'max_closed_hosts is {settings.max_closed_hosts}',
            )

    def _step(self, reason: str) -> Step[ComputeService | None]:
        host, context = self._settings.host, self._context

        def ask() -> str:
            context.stop_if_cancelled()
            context.services.disable(host, reason)
            return host

        return Step(
            participle='closed',
            ask=ask,
            look=lambda: context.nova.get_service(host),
            is_reached=lambda service: (
                service is not None and service.status == CLOSED
            ),
            may_ask=lambda service: (
                service is not None and service.status != CLOSED
            ),
            on_trouble=lambda words: self._context.tell(
                f'tries again: {words}'
            ),
        )

    def _limits(self) -> StepLimits:
        """As many tries as in :meth:`_again`."""
        settings = self._settings
        wait = max(settings.retry_backoff, SHORTEST_WAIT)
        return StepLimits(
            timeout=wait * 2.0**settings.max_retries + SETTLE_SECONDS,
            poll_interval=wait,
            idle=wait,
            requests=settings.max_retries + 1,
        )

    def _again(self, work: Callable[[], T]) -> T:
        """Try again what fails for a passing reason."""
        failures = 0
        while True:
            self._context.stop_if_cancelled()
            try:
                return work()
            except exceptions.ClientError as error:
                passing = bool(error.kwargs.get('transient'))
                if not passing or failures >= self._settings.max_retries:
                    raise
                self._context.tell(f'tries again: {error}')
                delay = self._settings.retry_backoff * 2.0**failures
                wish = float(error.kwargs.get('retry_after') or 0.0)
                self._context.sleep(max(delay, wish))
                failures += 1
