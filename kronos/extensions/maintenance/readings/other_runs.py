# SPDX-License-Identifier: Apache-2.0
"""The reader of other runs: the hosts that every other audit leaves alone.

A host that is to be done takes no server, as it would have to leave again. A
host that a run has closed is the run's: nobody else drains it, and that it
does not answer while it is maintained is no fault of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kronos.engine.types import ComputeService, Host
from kronos.extensions.maintenance import closing_reason, maintenance
from kronos.extensions.maintenance.closing_reason import Step
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.readings import done_hosts
from kronos.extensions.maintenance.readings.done_hosts import RunQueries
from kronos.snapshots.reader import Look, Reader


@dataclass
class OtherRunsReader(Reader):
    """It reads which hosts the runs of other audits have to themselves."""

    queries: RunQueries
    """Of ``[kronos]``."""
    live: Callable[[], Sequence[Maintenance]]
    """Gives what live audits maintain."""

    def read(self, look: Look) -> None:
        spec = maintenance.of(look.settings)
        own = '' if spec is None else spec.run
        cloud, services = look.gathered.cloud, look.gathered.services or {}
        hosts = cloud.hosts | cloud.other_hosts
        for run in self.live():
            if run.run != own:
                self._keep_free(run, hosts, look)
        for name, host in hosts.items():
            if name in services:
                _leave(host, services[name], own)

    def _keep_free(
        self, run: Maintenance, hosts: dict[str, Host], look: Look
    ) -> None:
        """Let nothing go to the hosts of a run that are not done."""
        view, warnings = done_hosts.view(
            look.prometheus,
            RunQueries.of(run, self.queries),
            run,
            hosts,
            look.settings.host_match,
        )
        look.gathered.warnings += warnings
        for name in sorted({*run.hosts} & hosts.keys() - {*view.done}):
            hosts[name].closed = f'{maintenance.TO_DO} in run {run.run}'


def _leave(host: Host, service: ComputeService, own: str) -> None:
    """Leave a host to the run that has closed it."""
    reason = closing_reason.parsed(service.disabled_reason)
    if service.status != 'disabled' or reason is None or reason.run == own:
        return
    host.frozen = (
        f'{maintenance.MAINTAINED} in run {reason.run}, which is left to it'
    )
    if reason.step is not Step.EMPTYING:
        host.faulty = None
