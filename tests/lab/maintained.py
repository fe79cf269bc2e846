# SPDX-License-Identifier: Apache-2.0
"""What do the scenarios of maintenance share? A rack, and who reboots it."""

import collections
import json
import pathlib
import time
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from kronos.extensions.maintenance import closing_reason
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from tests.lab import base, sampling
from tests.lab.base import Wanted

from labkit import layout, reboots, releases, running  # isort: skip

RACK = 'rack'
"""The aggregate whose hosts are maintained; all of one size."""
NEW, NEW_VERSION = '6.1.0-2', releases.OLD_VERSION + 1
DONE = (
    f'label_join(node_uname_info{{release="{NEW}"}}, "host", "", "nodename")'
)
SECONDS = 5
"""From audit to audit."""
CORES, MEMORY_MB = 0.3, 700
APPLIER, ENGINE = 'watcher-applier', 'watcher-decision-engine'


class MaintainedTestCase(base.LabTestCase):
    """A rack of hosts with servers, that are rebooted when handed over."""

    rack: ClassVar[tuple[str, ...]]
    aggregate: ClassVar[str] = RACK
    at_once: ClassVar[int] = 1
    seconds: ClassVar[int] = SECONDS
    limit: ClassVar[float] = 900
    """Seconds that a run may take."""

    def setUp(self) -> None:
        super().setUp()
        self.make_rack()
        self.configure_query(DONE)
        self.addCleanup(self.restore)
        # Watcher keeps what runs of earlier scenarios have closed.
        self.run_name = f'kernel-{time.time():.0f}'
        self.rebooted = collections.Counter[str]()
        sampler = sampling.ClosedSampler(self.rack, pause=0.5)
        self.closed_hosts = self.enterContext(sampler)
        self.on_look: list[Callable[[dict[str, Any]], None]] = []
        """Called at each look with all services by host."""

    def configure_query(self, query: str) -> None:
        """Set by which query hosts are done, from the next audit on."""
        self.configure(
            aggregates=self.aggregate, maintenance_done_query=f"'{query}'"
        )

    def make_rack(self) -> None:
        compute = self.cloud.compute
        for aggregate in compute.aggregates():
            if aggregate.name == RACK:  # of a scenario that was killed
                self.cloud.drop_zone(aggregate.id)
        made = compute.create_aggregate(name=RACK)
        self.addCleanup(self.cloud.drop_zone, made.id)
        self.rack_id = made.id
        for host in self.rack:
            compute.add_host_to_aggregate(made, host)

    def restore(self) -> None:
        """Let all hosts have the versions that they had at first."""
        changed = sorted(layout.read_json(layout.RELEASES))
        layout.RELEASES.unlink(missing_ok=True)
        self.lab.stop_all(changed)
        self.lab.start_all(changed)

    def boot_each(self, number: int, *flavors: str) -> dict[str, str]:
        """Boot some servers on each host; their uuids by name."""
        flavors = flavors or ('lab.medium',)
        return self.boot(
            Wanted(
                f'{host}-{at}',
                host,
                CORES,
                MEMORY_MB,
                flavor=flavors[at % len(flavors)],
            )
            for host in self.rack
            for at in range(number)
        )

    def begin(self, parameters: str = '') -> dict[str, Any]:
        """A continuous audit that maintains the rack."""
        audit = self.audit(
            f'hosts={",".join(self.rack)} run={self.run_name} '
            f'at_once={self.at_once} {parameters}'.strip(),
            f'--audit_type CONTINUOUS --interval {self.seconds} '
            '--auto-trigger --force',
            'kronos_maintain',
        )
        self.addCleanup(
            self.openstack,
            f'optimize audit update {audit["UUID"]} replace state=CANCELLED',
        )
        return audit

    def foretold(self, audit: dict[str, Any]) -> dict[str, Any]:
        """What the first report of an audit says of its run."""

        def first() -> pathlib.Path | None:
            files = self.reports.glob(f'*-{audit["UUID"]}.json')
            return min(files, default=None)

        [scope] = json.loads(self.wait(first, 'a report').read_text())[
            'scopes'
        ]
        return dict(scope['maintenance'])

    def stands(self, audit: dict[str, Any], words: str) -> None:
        """Wait until the audit says so."""
        url = f'/v1/audits/{audit["UUID"]}'
        self.wait(
            lambda: words in str(self.cloud.watcher(url)['status_message']),
            f'the audit to say {words!r}',
        )

    def services(self) -> dict[str, dict[str, Any]]:
        return {
            row['host']: row
            for row in self.cloud.services()
            if row['binary'] == 'nova-compute' and row['host'] in self.rack
        }

    def reasons(self) -> dict[str, ClosingReason]:
        """Of the hosts that are closed; each is one of the run."""
        reasons = {}
        for host, row in self.services().items():
            if row['status'] == 'disabled':
                reason = closing_reason.parsed(row['disabled_reason'])
                if reason is not None:
                    reasons[host] = reason
        return reasons

    def is_done(self, host: str) -> bool:
        return releases.of(host).release == NEW

    def reboot(self, *hosts: str) -> None:
        reboots.reboot(self.lab, hosts, NEW, NEW_VERSION)
        self.rebooted.update(hosts)

    def to_end(self, spared: Iterable[str] = ()) -> None:
        """Reboot each host when it is handed over, until all are done.

        :param spared: hosts that nobody waits for
        """
        waited = {*self.rack} - {*spared}
        running.wait_for(
            lambda: self.look(waited),
            self.limit,
            'all hosts to be done',
            self.seconds / 5,
        )

    def look(self, waited: Iterable[str]) -> bool:
        """One look of whoever reboots; whether all is over."""
        services = self.services()
        closed = [h for h, s in services.items() if s['status'] == 'disabled']
        for call in self.on_look:
            call(services)
        due = []
        for host in closed:
            text = services[host]['disabled_reason']
            reason = closing_reason.parsed(text or '')
            is_handed = reason is not None and reason.step is Step.HANDED_OVER
            is_due = is_handed and not self.is_done(host)
            if is_due and self.is_rebooting(host):
                due.append(host)
        if due:
            self.assertEqual([], self.left_on(*due))
            self.reboot(*due)
        return all(
            services[host]['status'] == 'enabled' and self.is_done(host)
            for host in waited
        )

    def is_rebooting(self, host: str) -> bool:
        """Whether somebody reboots a host that is handed over."""
        return True

    def left_on(self, *hosts: str) -> list[str]:
        return sorted(
            name
            for name, host in self.cloud.placement().items()
            if host in hosts
        )

    def moves(self) -> list[dict[str, Any]]:
        """Nova's records of what the servers of the rack have moved."""
        uuids = {*self.uuids.values()}
        rows = self.migrations()
        return [row for row in rows if row['instance_uuid'] in uuids]

    def check_moves(self, bound: int, twice: int) -> None:
        """So many moves, and no more servers that have moved twice."""
        rows = self.moves()
        self.assertEqual({'completed'}, {row['status'] for row in rows})
        self.assertEqual(bound, len(rows), rows)
        moves = collections.Counter(row['instance_uuid'] for row in rows)
        self.assertLessEqual(max(moves.values()), 2)
        again = [uuid for uuid, number in moves.items() if number == 2]
        self.assertLessEqual(len(again), twice)

    def check_end(self) -> None:
        """All are enabled, rebooted once, and k was never exceeded."""
        self.assertEqual({}, self.reasons())
        self.assertEqual(dict.fromkeys(self.rack, 1), {**self.rebooted})
        self.assertLessEqual(self.closed_hosts.most['all'], self.at_once)
        self.check_versions()

    def check_versions(self) -> None:
        self.assertEqual(
            {(NEW, NEW_VERSION)}, {self.version(host) for host in self.rack}
        )

    def version(self, host: str) -> tuple[str, int]:
        return releases.of(host).release, self.versions()[host]

    def versions(self) -> dict[str, int]:
        """The hypervisor version of each host, as Nova has it."""
        answer = self.cloud.compute.get(
            '/os-hypervisors/detail', microversion='2.53'
        )
        return {
            row['service']['host']: row['hypervisor_version']
            for row in answer.json()['hypervisors']
        }
