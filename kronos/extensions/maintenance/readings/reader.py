# SPDX-License-Identifier: Apache-2.0
"""The reader of a run: which hosts are done, and which others opened."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kronos.common import exceptions
from kronos.common.names import near_names
from kronos.engine import wording
from kronos.engine.types import ComputeService
from kronos.extensions.maintenance import closing_reason, maintenance
from kronos.extensions.maintenance.maintenance import Maintenance, RunView
from kronos.extensions.maintenance.readings import done_hosts, in_hand
from kronos.extensions.maintenance.readings.done_hosts import RunQueries
from kronos.extensions.maintenance.readings.in_hand import HostInHand
from kronos.extensions.maintenance.readings.pace import Pace
from kronos.snapshots.reader import Look, Reader


@dataclass
class MaintenanceReader(Reader):
    """It reads what a maintenance run is planned by."""

    queries: RunQueries
    """Of ``[kronos]``."""
    _recalled: Sequence[HostInHand] = field(default=(), init=False)
    closed: Callable[[str], Collection[str]] = lambda run: ()
    """Gives the hosts that a run has closed, as Watcher remembers."""
    elsewhere: Callable[[str], Mapping[str, str]] = lambda run: {}
    """Gives the hosts of all runs but one, and the run of each."""
    moves: Callable[[str], Mapping[str, int]] = lambda run: {}
    """Gives how often a run has moved each server."""
    balancing: Callable[[], Sequence[str]] = tuple
    """Gives the names of live audits that balance."""
    concurrent: int = 2
    """``max_concurrent_migrations``"""
    in_hand: Callable[[], Sequence[HostInHand]] = tuple
    """Gives the hosts that started plans of all runs are to change."""
    pace: Callable[[str], Pace] = lambda run: Pace()
    """Gives the pace of a run."""

    def recall(self) -> None:
        """Before Nova is asked: what ends meanwhile, Nova shows."""
        self._recalled = self.in_hand()

    def read(self, look: Look) -> None:
        spec = maintenance.of(look.settings)
        if spec is None:
            return
        gathered = look.gathered
        hosts = gathered.cloud.hosts | gathered.cloud.other_hosts
        services = gathered.services or {}
        view, warnings = done_hosts.view(
            look.prometheus,
            RunQueries.of(spec, self.queries),
            spec,
            hosts,
            look.settings.host_match,
        )
        inside = {host.name for scope in look.hosts.values() for host in scope}
        view.missing = sorted({*spec.hosts} - inside)
        closed = self.closed(spec.run)
        has_begun = bool(closed) or _is_closing(spec, services)
        if not (has_begun or view.done):
            _require_known(view, sorted(inside))
        if not has_begun:
            _require_free(spec, services, self.elsewhere(spec.run))
        warnings += _of_missing(view, spec)
        hosts_closed = {*_enabled(closed, services)} & {*spec.hosts}
        moves = self.moves(spec.run)
        gathered.beside[maintenance.NAME] = replace(
            view,
            opened=sorted(hosts_closed - {*view.done}),
            moved=len(moves),
            moved_twice=sum(number > 1 for number in moves.values()),
            balancing=[*self.balancing()],
            concurrent=self.concurrent,
            in_hand=in_hand.names(
                self._recalled, spec.run, gathered.events, gathered.taken_at
            ),
            **vars(self.pace(spec.run)),
        )
        gathered.warnings += warnings


def _of_missing(view: RunView, spec: Maintenance) -> list[str]:
    if not view.missing:
        return []
    return [
        f'hosts of run {spec.run} that are in no scope of the audit: '
        f'{wording.some(view.missing)}'
    ]


def _enabled(
    hosts: Collection[str], services: Mapping[str, ComputeService]
) -> list[str]:
    return [
        name
        for name in hosts
        if name in services and services[name].status == 'enabled'
    ]


def _is_closing(
    spec: Maintenance, services: Mapping[str, ComputeService]
) -> bool:
    """Whether a host is closed by the run."""
    reasons = [
        closing_reason.parsed(service.disabled_reason)
        for service in services.values()
    ]
    return any(reason and reason.run == spec.run for reason in reasons)


def _require_known(view: RunView, inside: list[str]) -> None:
    """Refuse unknown hosts.

    :raises ConfigurationError: names the host and the nearest that exists
    """
    if not view.missing:
        return
    name = view.missing[0]
    hint = near_names.of_cloud(name, inside)
    raise exceptions.ConfigurationError(
        f'Audit parameter hosts: "{name}" is no host of a scope of the '
        f'audit; {hint}'
    )


def _require_free(
    spec: Maintenance,
    services: Mapping[str, ComputeService],
    elsewhere: Mapping[str, str],
) -> None:
    """Refuse hosts of another run.

    :raises ConfigurationError: names the host and the run
    """
    for name in spec.hosts:
        text = services[name].disabled_reason if name in services else ''
        reason = closing_reason.parsed(text)
        run = reason.run if reason is not None else elsewhere.get(name)
        if run is not None:
            raise exceptions.ConfigurationError(
                f'Audit parameter hosts: "{name}" is in run "{run}" already; '
                'wait until that run has ended, or remove the host from one '
                'of the two'
            )
