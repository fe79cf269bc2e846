# SPDX-License-Identifier: Apache-2.0
"""Is a host whose guests cannot write closed and left, on real hosts?"""

import datetime
import json
import time
import uuid
from typing import Any, ClassVar

from labkit import layout
from labkit.real import monitors

from tests.lab import monitored
from tests.lab.real import DESTINATION, SOURCE

SECONDS = 60
"""Within which a host at fault is closed."""


class RecoverTestCase(monitored.MonitoredTestCase):
    options: ClassVar[dict[str, Any]] = {
        **monitored.MonitoredTestCase.options,
        'restart_timeout': 120,
    }

    def setUp(self) -> None:
        super().setUp()
        self.event_audit = self.recovering()
        sink = {
            **monitors.cloud(),
            'driver': 'watcher',
            'audit': self.event_audit,
            'trigger_delay': '10',
            'repeat_seconds': '5',
        }
        self.watch({'audit': sink})

    def recovering(self) -> str:
        """An EVENT audit that goes on by itself; its uuid."""
        name = f'recover-{uuid.uuid4().hex[:8]}'
        found = self.openstack(
            'optimize audit create -t EVENT -g kronos_recovery '
            '-s kronos_recover -p aggregates=real --force --auto-trigger '
            f'--name {name}'
        )
        self.addCleanup(
            self.run_client, f'optimize audit delete {found["UUID"]}'
        )
        return str(found['UUID'])

    def reported(self) -> list[dict[str, Any]]:
        """What the reports of the audit say of the scope, the newest last."""
        found = sorted(self.reports.glob(f'*-{self.event_audit}.json'))
        return [json.loads(one.read_text())['scopes'][0] for one in found]

    def last(self) -> dict[str, Any]:
        told = self.reported()
        return told[-1] if told else {}

    def at_rest(self) -> bool:
        """Whether no plan of the audit is to be carried out."""
        states = {one['state'] for one in self.plans(self.audit_row())}
        return not states & {'RECOMMENDED', 'PENDING', 'ONGOING'}

    def audit_row(self) -> dict[str, Any]:
        return {'UUID': self.event_audit}

    def figures(self, **values: object) -> None:
        """Tell what was measured."""
        told = ', '.join(f'{key} {one}' for key, one in values.items())
        print(f'{self.id().rpartition(".")[2]}: {told}', flush=True)


class TestHosts(RecoverTestCase):
    number = 3
    options: ClassVar[dict[str, Any]] = {
        **RecoverTestCase.options,
        # One of few servers leaves an imbalance wherever it goes.
        'drain_may_exceed_threshold': True,
    }

    def test_one_at_fault(self) -> None:
        """Two of its guests cannot write; it is closed, the third leaves."""
        names = ['one', 'two', 'well']
        self.boot_guests(dict.fromkeys(names, SOURCE), self.disk_flavor())
        self.small_disks('one', 'two')
        self.fill('one')
        self.fill('two')
        self.wait(
            lambda: SOURCE in self.cloud.disabled(), f'{SOURCE} to be closed'
        )
        at = self.logged_at(f'monitor-{SOURCE}', ': io_error (incident')
        took = self.logged_at('watcher-applier', f'Host {SOURCE} is cl') - at
        self.figures(closed=f'{took:.1f} s after the second I/O error')
        self.wait(
            lambda: self.at('well') != SOURCE,
            'the third to leave',
        )
        self.wait(self.at_rest, 'all plans to end')
        for name in ('one', 'two'):
            self.assertEqual(SOURCE, self.at(name))
        self.assertLessEqual(took, SECONDS)
        reason = self.disabled_reason(SOURCE)
        self.assertIn('KRONOS:', reason)
        self.assertEqual({SOURCE}, self.cloud.disabled())

    def test_three_at_fault(self) -> None:
        """It is what they share: none is closed, and the audit says so."""
        placed = {
            f'{host}-{number}': host
            for host in self.hosts
            for number in (1, 2)
        }
        self.boot_guests(placed, self.disk_flavor())
        self.small_disks(*placed)
        self.watch({})  # it is told when all have failed
        for name in placed:
            self.fill(name)
        audit = self.openstack(
            'optimize audit create -t ONESHOT -g kronos_recovery '
            '-s kronos_recover -p aggregates=real --auto-trigger'
        )
        self.event_audit = self.finished(audit)['UUID']
        told = self.last()
        self.assertEqual('scope_too_many_at_fault', told['reason_code'], told)
        self.assertEqual(set(), self.cloud.disabled())
        self.assertEqual(3, len(told['hosts_at_fault']))

    def logged_at(self, service: str, words: str) -> float:
        """When a service last said something, in Unix seconds."""
        lines = (layout.LOG / f'{service}.log').read_text().splitlines()
        line = [one for one in lines if words in one][-1]
        return datetime.datetime.fromisoformat(line[:23]).timestamp()

    def disabled_reason(self, host: str) -> str:
        [found] = [
            row
            for row in self.cloud.services()
            if row['binary'] == 'nova-compute' and row['host'] == host
        ]
        return str(found['disabled_reason'])


class TestRestarts(RecoverTestCase):
    """For clouds without Masakari."""

    options: ClassVar[dict[str, Any]] = {
        **RecoverTestCase.options,
        'restart_servers': True,
    }

    def test_three_crashes(self) -> None:
        """Here, then elsewhere, then no more."""
        self.boot_guests({'one': SOURCE})
        for place in (SOURCE, DESTINATION):
            before = self.emulator('one')
            at = self.kill('one')
            self.wait(
                lambda gone=before: self.anew('one', gone), 'it to run again'
            )
            self.figures(place=place, again=f'{time.time() - at:.1f} s')
            self.assertEqual(place, self.at('one'))
            self.wait(self.at_rest, 'the plan to end')
            self.wait(self.unsaid, 'Prometheus to know')
        self.kill('one')
        uuid = self.uuids['one']
        self.wait(
            lambda: (
                self.last().get('stayed_codes', {}).get(uuid)
                == 'instance_restarted'
            ),
            'it to be left alone',
        )
        self.tell('left alone', self.last()['stayed'][uuid])
        self.wait(self.at_rest, 'all plans to end')
        self.assertEqual(0, self.emulator('one'))

    def unsaid(self) -> bool:
        """Whether no server is said to have failed."""
        return not self.cloud.promql('kronos_vm_failed')

    def test_stopped_by_users(self) -> None:
        """Their guests crash, and their users stop them before Kronos acts."""
        names = [f's{number}' for number in range(6)]
        ends = dict.fromkeys(names[:3], SOURCE)
        self.boot_guests({**dict.fromkeys(names, DESTINATION), **ends})
        self.watch({})
        for name in names[1:]:
            self.kill(name)
            self.openstack(f'server stop {self.uuids[name]}')
        self.wait(
            lambda: all(self.status(name) == 'SHUTOFF' for name in names[1:]),
            'all of them to be stopped',
        )
        before = self.emulator(names[0])
        self.kill(names[0])
        self.wait(
            lambda: len(self.cloud.promql('kronos_vm_failed')) == len(names),
            'Prometheus to know',
        )
        audit = self.openstack(
            'optimize audit create -t ONESHOT -g kronos_recovery '
            '-s kronos_recover -p aggregates=real --auto-trigger'
        )
        self.event_audit = self.finished(audit)['UUID']
        self.wait(lambda: self.anew(names[0], before), 'the one to run again')
        self.wait(self.at_rest, 'the plan to end')
        states = {name: self.status(name) for name in names}
        wanted = dict.fromkeys(names, 'SHUTOFF') | {names[0]: 'ACTIVE'}
        self.assertEqual(wanted, states)
        self.tell('told', self.last()['stayed'])
