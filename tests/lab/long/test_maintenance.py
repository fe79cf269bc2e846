# SPDX-License-Identifier: Apache-2.0
"""Hosts are maintained one after the other, to the end.

==============================  =========================================
What                            What it shows
==============================  =========================================
four hosts, k = 1               moves equal the bound: the servers of the
                                first host move twice, all others once
twenty hosts, k = 2             the same, of 240 servers at .7
the engine or applier is        the same moves, and nobody is forgotten
killed at every step
people and queries in between   every host is enabled, or bears a reason
                                with run, step and time
==============================  =========================================
"""

from typing import Any, ClassVar

from kronos.extensions.maintenance import closing_reason
from kronos.extensions.maintenance.closing_reason import Step
from tests.lab import maintained
from tests.lab.maintained import APPLIER, ENGINE

FOUR = ('cmp1', 'cmp2', 'cmp3', 'cmp5')
PER_HOST = 12
FLAVORS = ('lab.medium',) * 5 + ('lab.small',)
"""Twelve of them are .69 of a host."""


class TestFour(maintained.MaintainedTestCase):
    rack: ClassVar = FOUR

    def test_all_of_them(self) -> None:
        """Two servers each: those of the seed move twice."""
        self.uuids = self.boot_each(2)
        self.begin()
        self.to_end()
        self.check_end()
        self.check_moves(10, 2)


class TestTwenty(maintained.MaintainedTestCase):
    number_of_hosts: ClassVar = 21
    rack: ClassVar = tuple(f'cmp{n}' for n in range(1, 22) if n != 4)
    at_once: ClassVar = 2
    limit: ClassVar = 7200

    def test_all_of_them(self) -> None:
        self.uuids = self.boot_each(PER_HOST, *FLAVORS)
        self.begin()
        self.to_end()
        self.check_end()
        number = len(self.rack) * PER_HOST
        self.check_moves(number + PER_HOST, PER_HOST)


class TestKilled(maintained.MaintainedTestCase):
    """Engine and applier are killed, once in each step of each host."""

    rack: ClassVar = FOUR[:3]
    limit: ClassVar = 1800

    def setUp(self) -> None:
        super().setUp()
        self.kills: list[tuple[str, str]] = []
        for name in (APPLIER, ENGINE):
            self.addCleanup(self.lab.start, name)

    def test_both_at_every_step(self) -> None:
        self.uuids = self.boot_each(2)
        self.on_look.append(self.kill)
        self.begin()
        self.to_end()
        self.check_end()
        self.check_moves(8, 2)
        self.assertLessEqual(
            {
                (host, step)
                for host in self.rack
                for step in (Step.EMPTYING, Step.HANDED_OVER)
            },
            {*self.kills},
        )

    def kill(self, services: dict[str, Any]) -> None:
        """Kill both when a host is seen in a step for the first time.

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
            if (host, step) not in self.kills:
                self.kills.append((host, step))
                if step != 'open':
                    self.kill_both()

    def kill_both(self) -> None:
        for name in (APPLIER, ENGINE):
            self.lab.stop(name, kill=True)
        for name in (APPLIER, ENGINE):
            self.lab.start(name)


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

    def stands(self, audit: dict[str, Any], words: str) -> None:
        """Wait until the audit says so."""
        url = f'/v1/audits/{audit["UUID"]}'
        self.wait(
            lambda: words in str(self.cloud.watcher(url)['status_message']),
            f'the audit to say {words!r}',
        )


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
