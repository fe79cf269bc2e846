# SPDX-License-Identifier: Apache-2.0
"""The reader of a run's status, from Watcher and Nova."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from kronos.clients.nova.client import NovaClient
from kronos.clients.watcher import WatcherClient
from kronos.common import exceptions
from kronos.common.names import near_names
from kronos.extensions.maintenance.client import (
    host_rows,
    run_history,
    runs,
)
from kronos.extensions.maintenance.client.run_status import RunStatus
from kronos.extensions.maintenance.client.runs import Run


@dataclass
class RunReader:
    """It reads a run anew each time.

    :param clock: Unix seconds
    """

    watcher: WatcherClient
    nova: NovaClient
    clock: Callable[[], float] = time.time

    def run(self, name: str | None) -> Run:
        """The run of a name, as of :func:`runs.named`."""
        return runs.named(runs.listed(self.watcher), name)

    def status(self, run: Run, host: str | None = None) -> RunStatus:
        """The status of a run.

        Servers are counted on hosts that it has closed, and on the one that
        is asked for: each is a request.

        :raises KronosException: the run does not have the host, or a
            service does not answer
        """
        if host is not None and host not in run.spec.hosts:
            hint = near_names.of_cloud(host, run.spec.hosts)
            raise exceptions.KronosException(
                f'the run {run.name} has no host {host}; {hint}'
            )
        history = run_history.read(self.watcher, run)
        services = self.nova.list_compute_services()
        rows = host_rows.of(run.spec, services, history, self.clock())
        for row in rows:
            if row.is_own or row.host == host:
                servers = self.nova.list_instances_on_host(row.host)
                host_rows.count_servers(row, servers)
        return RunStatus(run, rows, history)
