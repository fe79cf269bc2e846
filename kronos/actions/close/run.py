# SPDX-License-Identifier: Apache-2.0
"""The closing of a host at fault, looked at once more before it is done.

Between an audit and its plan's start the host may have been mended, or others
may have come to be at fault, so that it is what they share. Kronos closes
a host only while it knows that it should; it never opens one.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TypeVar

from oslo_log import log as logging

from kronos.actions.core.step import End, Limits, Step, StepRun
from kronos.actions.live.context import Patience
from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.compute_services import ComputeServices
from kronos.common import exceptions
from kronos.engine import faults, wording
from kronos.engine.faults import Fault
from kronos.engine.types import BY_KRONOS, UNASSIGNED, ComputeService

LOG = logging.getLogger(__name__)
T = TypeVar('T')

CLOSED = 'disabled'
SHORTEST_WAIT = 1.0
"""Seconds between two looks at the service."""
SETTLE_SECONDS = 60.0
"""For Nova to show what it was asked for, beside the tries."""
AtFault = Callable[[Collection[str]], Mapping[str, float]]
"""Gives those of the hosts that ``host_fault_query`` names, with its values;
raises PrometheusError where that is not known."""


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


@dataclass
class Asked:
    """Whom a closing asks."""

    nova: NovaClient
    services: ComputeServices
    at_fault: AtFault


class HostClosing:
    """The closing of one host."""

    def __init__(
        self, settings: ClosingSettings, asked: Asked, patience: Patience
    ) -> None:
        self._settings = settings
        self._asked = asked
        self._patience = patience
        self._value = 0.0

    def check(self) -> None:
        """Look whether the host is still to be closed, if it is open.

        :raises StaleTask: it is not at fault any more
        :raises PreFlightError: it is gone, or too many are at fault
        :raises MigrationCancelled: the plan was cancelled
        :raises ClientError: Nova or Prometheus cannot be asked
        """
        self._again(self._check)

    def close(self) -> str:
        """Disable its nova-compute, and make sure that it is disabled.

        :returns: a remark; '' if all went as planned
        :raises KronosException: as of :meth:`check`
        """
        if not self._again(self._check):
            return f'{self._settings.host} was disabled already'
        return self._close()

    def _check(self) -> bool:
        """Whether there is anything to do."""
        host = self._settings.host
        services = self._asked.nova.list_compute_services()
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
        at_fault = self._asked.at_fault(services)
        if host not in at_fault:
            raise faults.error(
                Fault.HOST_NOT_AT_FAULT,
                f'host_fault_query does not name {host} any more',
            )
        self._value = at_fault[host]
        inside = members_of(self._asked.nova, settings.aggregate, services)
        if host not in inside:
            raise faults.error(
                Fault.HOST_LEFT_SCOPE,
                f'{host} is not in {settings.aggregate} any more',
            )
        counted = sorted(
            name
            for name in inside
            if name in at_fault
            or (name in services and services[name].is_closed_by_kronos)
        )
        if len(counted) > settings.max_closed_hosts:
            raise faults.error(
                Fault.TOO_MANY_AT_FAULT,
                f'{len(counted)} hosts of {settings.aggregate} are at fault '
                f'or were closed by Kronos ({wording.some(counted)}), and '
                f'max_closed_hosts is {settings.max_closed_hosts}',
            )

    def _close(self) -> str:
        host = self._settings.host
        reason = (
            f'{BY_KRONOS}at fault, host_fault_query gave {self._value:g}; '
            f'closed by action plan {self._settings.plan}. Kronos does not '
            'open it again'
        )
        result = StepRun(
            self._step(reason), self._patience, self._limits()
        ).carry_out()
        if result.end is not End.REACHED:
            raise result.error or exceptions.NovaClientError(
                reason=f'nova-compute on {host} is not disabled, although '
                'Nova was asked to'
            )
        LOG.warning('Host %s is closed: %s', host, reason)
        return ''

    def _step(self, reason: str) -> Step[ComputeService | None]:
        host, asked = self._settings.host, self._asked

        def ask() -> str:
            self._patience.stop_if_cancelled()
            asked.services.disable(host, reason)
            return host

        return Step(
            participle='closed',
            ask=ask,
            look=lambda: asked.nova.get_service(host),
            is_reached=lambda one: one is not None and one.status == CLOSED,
            may_ask=lambda one: one is not None and one.status != CLOSED,
            on_trouble=lambda words: self._patience.tell(
                f'tries again: {words}'
            ),
        )

    def _limits(self) -> Limits:
        """As many tries as in :meth:`_again`."""
        settings = self._settings
        wait = max(settings.retry_backoff, SHORTEST_WAIT)
        return Limits(
            timeout=wait * 2.0**settings.max_retries + SETTLE_SECONDS,
            poll_interval=wait,
            idle=wait,
            requests=settings.max_retries + 1,
        )

    def _again(self, work: Callable[[], T]) -> T:
        """Try again what fails for a passing reason."""
        failures = 0
        while True:
            self._patience.stop_if_cancelled()
            try:
                return work()
            except exceptions.ClientError as error:
                passing = bool(error.kwargs.get('transient'))
                if not passing or failures >= self._settings.max_retries:
                    raise
                self._patience.tell(f'tries again: {error}')
                delay = self._settings.retry_backoff * 2.0**failures
                wish = float(error.kwargs.get('retry_after') or 0.0)
                self._patience.sleep(max(delay, wish))
                failures += 1


def members_of(
    nova: NovaClient, aggregate: str, services: Collection[str]
) -> set[str]:
    """The hosts of an aggregate as it is now, or those that are in none.

    :raises NovaClientError: Nova cannot be asked
    """
    aggregates = nova.list_aggregates()
    if aggregate == UNASSIGNED:
        taken = {name for one in aggregates for name in one.hosts}
        return set(services) - taken
    return {
        name
        for one in aggregates
        if one.name == aggregate
        for name in one.hosts
    }
