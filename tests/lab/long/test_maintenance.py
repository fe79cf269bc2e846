# SPDX-License-Identifier: Apache-2.0
"""Hosts are maintained one after the other, to the end.

==============================  =========================================
What                            What it shows
==============================  =========================================
four hosts, k = 1               moves equal the bound: the servers of the
                                first host move twice, all others once; who
                                stays is named before
twenty hosts, k = 2             the same, of 240 servers at .7, in the time
                                that is told before the first is closed
an engine, the applier and      the same moves, and nobody is forgotten
the client are killed at every
step
people and queries in between   every host is enabled, or bears a reason
                                with run, step and time
==============================  =========================================
"""

import itertools
import logging
import subprocess
import time
from typing import Any, ClassVar

from kronos.extensions.maintenance import closing_reason
from kronos.extensions.maintenance.closing_reason import Step
from tests.lab import base, maintained, terminal_client
from tests.lab.maintained import APPLIER, ENGINE

from labkit import layout  # isort: skip
from labkit.cells import second_cell  # isort: skip
from labkit.services import SECOND_ENGINE  # isort: skip


LOG = logging.getLogger(__name__)
FOUR = ('cmp1', 'cmp2', 'cmp3', 'cmp5')
PER_HOST = 12
BANDWIDTH = 400
"""MiB per second."""
MEMORY = {'lab.medium': 4096, 'lab.small': 2048}
"""In MiB."""
WORK_SECONDS = 15
"""The reboot of a simulated host."""
FLAVORS = ('lab.medium',) * 5 + ('lab.small',)
"""Twelve of them are .69 of a host."""


class TestFour(maintained.MaintainedTestCase):
    rack: ClassVar = FOUR

    def test_all_of_them(self) -> None:
        """Two servers each: those of the seed move twice."""
        self.uuids = self.boot_each(2)
        stays = f'{self.rack[-1]}-0'
        self.openstack(f'server lock {self.uuids[stays]}')
        audit = self.begin()
        look = self.foretold(audit)['look']
        self.assertEqual([stays], [row['name'] for row in look['staying']])
        self.to_end(self.rack[-1:])
        self.stands(audit, stays)
        self.assertIn(stays, self.left_on(self.rack[-1]))
        self.openstack(f'server unlock {self.uuids[stays]}')
        self.to_end()
        self.check_end()
        self.check_moves(10, 2)


class TestTwenty(maintained.MaintainedTestCase):
    """Two appliers, for two hosts at a time.

    A move lasts as long as Kronos expects of its memory, so that a processor
    that is short does not count.
    """

    number_of_hosts: ClassVar = 21
    rack: ClassVar = tuple(f'cmp{n}' for n in range(1, 22) if n != 4)
    at_once: ClassVar = 2
    seconds: ClassVar = 20
    limit: ClassVar = 7200
    options: ClassVar = {'migration_bandwidth': BANDWIDTH}

    def test_all_of_them(self) -> None:
        self.uuids = self.boot_each(PER_HOST, *FLAVORS)
        self.addCleanup(self.cloud.set_migrations, {})
        self.cloud.set_migrations(
            {
                f'{host}-{number}': {
                    'seconds': MEMORY[FLAVORS[number % len(FLAVORS)]]
                    / BANDWIDTH
                }
                for host in self.rack
                for number in range(PER_HOST)
            }
        )
        self.second_applier()
        begin = time.monotonic()
        audit = self.begin(f'work_time={WORK_SECONDS}')
        forecast = self.foretold(audit)['forecast']
        look = self.foretold(audit)['look']
        self.to_end()
        took = time.monotonic() - begin
        self.check_end()
        self.assertEqual(([], {}), (look['staying'], look['stopped']))
        self.check_moves(forecast['least_moves'], PER_HOST)
        ratio = took / forecast['seconds']
        LOG.warning('%.0f s, of %.0f s', took, forecast['seconds'])
        self.assertTrue(0.8 <= ratio <= 1.2, f'{took} s, of {forecast}')


class TestKilled(maintained.MaintainedTestCase):
    """An engine, the applier and the client, in each step of each host.

    The engines take turns: the run is with either of the two.
    """

    rack: ClassVar = FOUR[:3]
    limit: ClassVar = 1800

    def setUp(self) -> None:
        super().setUp()
        self.steps: list[tuple[str, str]] = []
        self.kills = 0
        self.engines = itertools.cycle((ENGINE, SECOND_ENGINE))
        self.second_engine()
        for name in (APPLIER, ENGINE):
            self.addCleanup(self.lab.start, name)

    def test_all_at_every_step(self) -> None:
        self.uuids = self.boot_each(2)
        self.begin()
        self.client = self.started()
        self.addCleanup(self.end_client)
        self.on_look.append(self.kill)
        self.to_end()
        self.check_end()
        self.check_moves(8, 2)
        self.assertEqual(0, self.client.wait(base.LIMIT_SECONDS))
        self.assertLessEqual(
            {
                (host, step)
                for host in self.rack
                for step in (Step.EMPTYING, Step.HANDED_OVER, 'done')
            },
            {*self.steps},
        )
        self.assertGreaterEqual(self.kills, 20)

    def started(self) -> subprocess.Popen[bytes]:
        """The client that waits for the end of the run."""
        command = (
            f'optimize kronos maintenance status --run {self.run_name} --wait'
        )
        return subprocess.Popen(
            [layout.program('openstack'), *command.split()],
            env=terminal_client.environment(self.lab.env()),
            stdout=subprocess.DEVNULL,
        )

    def end_client(self) -> None:
        self.client.kill()
        self.client.wait()

    def kill(self, services: dict[str, Any]) -> None:
        """Kill them when a host is seen in a step for the first time.

        Each closed host bears a reason of the run.
        """
        for host, row in services.items():
            step = 'open'
            if row['status'] == 'disabled':
                reason = closing_reason.parsed(row['disabled_reason'])
                self.assertIsNotNone(reason, row)
                self.assertEqual(self.run_name, reason.run)
                step = reason.step
            elif self.is_done(host):
                step = 'done'
            if (host, step) not in self.steps:
                self.steps.append((host, step))
                if step != 'open':
                    self.kill_all()

    def kill_all(self) -> None:
        names = APPLIER, next(self.engines)
        for name in names:
            self.lab.stop(name, kill=True)
        self.end_client()
        self.kills += len(names) + 1
        for name in names:
            self.lab.start(name)
        self.client = self.started()


class MeddledTestCase(maintained.MaintainedTestCase):
    """Two hosts with a server each."""

    rack: ClassVar = FOUR[:2]
    limit: ClassVar = 1800

    def closed_in(self, step: Step) -> str:
        """The first host that the run has in a step."""

        def first() -> str:
            rows = self.reasons().items()
            return min((h for h, r in rows if r.step is step), default='')

        return str(self.wait(first, f'a host to be {step}'))


class TestLate(MeddledTestCase):
    at_once: ClassVar = 2

    def test_a_host_comes_back_late(self) -> None:
        """No other one is closed until it is back; then all goes on."""
        self.uuids = self.boot_each(1)
        audit = self.begin('host_timeout=10')
        host = self.closed_in(Step.HANDED_OVER)
        self.stands(audit, f'1 late ({host})')
        self.assertEqual({host}, {*self.reasons()})
        self.reboot(host)
        self.to_end()
        self.check_end()


class TestOpened(MeddledTestCase):
    """Somebody opens a host of a run; the two others are done."""

    rack: ClassVar = FOUR[:3]

    def test_a_host_is_opened_by_hand(self) -> None:
        """It is not closed again, and said; the run does the others."""
        self.uuids = self.boot_each(1)
        audit = self.begin()
        host = self.closed_in(Step.HANDED_OVER)
        self.cloud.set_host(host, True)
        self.to_end([host])
        self.stands(audit, f'1 opened by hand ({host}): ')
        self.assertEqual({}, self.reasons())
        self.assertEqual(0, self.rebooted[host])
        self.reboot_when_empty(host)
        self.stands(audit, '3 of 3 hosts done')

    def reboot_when_empty(self, host: str) -> None:
        """What the person who opened it does: close, empty, reboot, open."""
        self.cloud.set_host(host, False, 'mine')
        for uuid, server in self.cloud.servers().items():
            if server['OS-EXT-SRV-ATTR:host'] == host:
                self.openstack(f'server delete --wait {uuid}')
        self.reboot(host)
        self.cloud.set_host(host, True)

    def test_a_server_comes_back(self) -> None:
        """A host on which somebody boots is not handed over with it."""
        self.uuids = self.boot_each(1)
        self.begin()
        host = self.closed_in(Step.EMPTYING)
        # As long as it is disabled, nova-scheduler sends nothing there.
        self.cloud.set_host(host, True)
        self.uuids['late'] = self.cloud.boot('late', host, cpu=0.1)['id']
        self.to_end([host])
        self.assertEqual([], [h for h in self.reasons() if h != host])


class TestDeleted(MeddledTestCase):
    """Somebody deletes the service of a host; two others are to be done."""

    rack: ClassVar = FOUR[:3]

    def test_a_service_is_deleted(self) -> None:
        """Its host counts until it is installed anew, as one of the rack."""
        self.uuids = self.boot_each(1)
        audit = self.begin()
        host = self.closed_in(Step.HANDED_OVER)
        self.lab.stop(host)
        self.openstack(f'compute service delete {self.services()[host]["id"]}')
        self.stands(audit, f'1 in no scope of the audit ({host})')
        self.stands(audit, f'{host} has left the scope, and at_once is 1')
        self.assertEqual({}, self.reasons())
        self.install(host)
        self.to_end()
        self.check_end()

    def install(self, host: str) -> None:
        """Give a host a nova-compute that Nova has never seen."""
        for file in (layout.DATA / 'nova' / host).glob('compute_id'):
            file.unlink()
        self.reboot(host)
        second_cell.manage('cell_v2', 'discover_hosts')
        self.cloud.compute.add_host_to_aggregate(self.rack_id, host)


class TestPeople(MeddledTestCase):
    """A reason or a query is changed; nobody is forgotten."""

    def test_a_reason_is_rewritten(self) -> None:
        """The host is theirs until they open it; k counts it."""
        self.uuids = self.boot_each(1)
        audit = self.begin()
        host = self.closed_in(Step.HANDED_OVER)
        self.cloud.set_host(host, False, 'a disk is replaced')
        self.reboot(host)
        self.stands(audit, f'1 closed by somebody else ({host})')
        row = self.services()[host]
        self.assertEqual('a disk is replaced', row['disabled_reason'])
        self.assertEqual({}, self.reasons())
        self.cloud.set_host(host, True)
        self.to_end()
        self.check_end()

    def test_stopped_servers_are_started(self) -> None:
        """One stands on a host that is handed over, and has to leave it."""
        self.uuids = self.boot_each(1)
        for uuid in self.uuids.values():
            self.openstack(f'server stop {uuid}')
        audit = self.begin()
        host = self.closed_in(Step.HANDED_OVER)
        self.assertEqual([f'{host}-0'], self.left_on(host))
        for uuid in self.uuids.values():
            self.openstack(f'server start {uuid}')
        self.stands(audit, f'1 occupied again ({host})')
        self.wait(lambda: not self.left_on(host), 'the server to leave')
        self.assertEqual(Step.HANDED_OVER, self.reasons()[host].step)
        self.to_end()
        self.check_end()

    def test_the_query_has_no_answer(self) -> None:
        """Nothing is closed or opened until it has; then all goes on."""
        self.uuids = self.boot_each(1)
        audit = self.begin()
        host = self.closed_in(Step.HANDED_OVER)
        self.configure_query('no such query(')
        self.reboot(host)
        self.stands(audit, 'no host is closed or opened')
        self.assertEqual({host}, {*self.reasons()})
        self.configure_query(maintained.DONE)
        self.to_end()
        self.check_end()

    def test_the_query_names_another_host(self) -> None:
        """One that is handed over and not named stays closed."""
        self.uuids = self.boot_each(1)
        audit = self.begin()
        host = self.closed_in(Step.HANDED_OVER)
        other = next(h for h in self.rack if h != host)
        self.configure_query(
            f'label_join(node_uname_info{{nodename="{other}"}}, "host", "", '
            '"nodename")'
        )
        self.stands(audit, '1 of 2 hosts done')
        self.assertEqual(Step.HANDED_OVER, self.reasons()[host].step)
        self.configure_query(maintained.DONE)
        self.to_end()
        self.check_end()
