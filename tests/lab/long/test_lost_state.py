# SPDX-License-Identifier: Apache-2.0
"""State is lost: nothing moves that is to rest, and nothing moves twice.

==========================  =============================================
What is lost                What happens
==========================  =============================================
Watcher's plans, purged     Nova shows what has moved, and it rests
an hour of Watcher's        a plan that was carried out since then is
database, restored          RECOMMENDED again; started again it asks
                            nothing of Nova
all messages of the broker  the servers of a plan that waits for its
                            trigger are left to it, until it is cancelled
all samples of Prometheus   nothing is planned, and the audit fails; it
                            says why
==========================  =============================================
"""

import collections
import shutil
from typing import Any, ClassVar

from tests.lab import base
from tests.lab.killed import APPLIER
from tests.lab.test_spread import pile

from labkit import (  # isort: skip
    database,
    layout,
    running,
    services,
    topology,
)

TABLES = ('efficacy_indicators', 'actions', 'action_plans', 'audits')
"""Of Watcher's history, those that refer to others first."""
BACKUP = 'backup'
HEAVY = {'cpu': 1.8, 'memory_mb': 4000}
LIGHT = {'cpu': 0.1, 'memory_mb': 500}
PARAMETERS = 'aggregates=alpha max_migrations=2'


class TestLostState(base.LabTestCase):
    options: ClassVar = {'instance_cooldown': 3600, 'return_guard': 3600}

    def setUp(self) -> None:
        super().setUp()
        self.uuids = self.boot(pile('cmp1', 6))

    def watcher(self, *statements: str) -> None:
        link = database.connect(self.lab.ports['mariadb'], 'watcher')
        with link, link.cursor() as cursor:
            cursor.execute('SET foreign_key_checks = 0')
            for statement in statements:
                cursor.execute(statement)

    def planned(self) -> tuple[dict[str, Any], set[str]]:
        """A plan, and the names of the servers that it moves."""
        _, plan, actions = self.audited(PARAMETERS)
        self.assertNotEqual([], actions)
        return plan, self.moved(actions)

    def planned_names(self) -> set[str]:
        """Those that the next audit moves; its plan is cancelled."""
        _, plan, actions = self.audited(PARAMETERS)
        if plan['state'] == 'RECOMMENDED':
            self.openstack(f'optimize actionplan cancel {plan["uuid"]}')
        return self.moved(actions)

    def make_heavy(self, names: set[str]) -> None:
        """Have servers that it would be best to move again, by others."""
        placed = self.cloud.placement()
        hosts = {placed[name] for name in names}
        self.cloud.set_demand(
            **dict.fromkeys(self.uuids, LIGHT) | dict.fromkeys(names, HEAVY)
        )
        self.boot(one for host in sorted(hosts) for one in pile(host, 2))

    def asked(self) -> collections.Counter[str]:
        """Live migrations by server."""
        return collections.Counter(row['path'] for row in self.orders())

    def test_watchers_plans_are_purged(self) -> None:
        plan, names = self.planned()
        self.carried_out(plan)
        self.make_heavy(names)
        self.watcher(*(f'DELETE FROM {table}' for table in TABLES))
        self.assertEqual(set(), names & self.planned_names())
        # Without a rest they would be moved.
        self.configure(instance_cooldown=0, return_guard=0)
        self.assertNotEqual(set(), names & self.planned_names())

    def test_a_backup_is_restored(self) -> None:
        plan, names = self.planned()
        self.keep_backup()
        self.carried_out(plan)
        placed, asked = self.cloud.placement(), self.asked()
        self.make_heavy(names)
        self.restore_backup()
        self.assertEqual('RECOMMENDED', self.plan(plan)['state'])
        self.start(plan)
        self.assertIn(self.executed(plan)['state'], base.FINAL)
        for action in self.actions(plan):
            self.assertIn(' already', action['status_message'])
        self.assertEqual(asked, self.asked())
        now = self.cloud.placement()
        self.assertEqual(placed, {name: now[name] for name in placed})
        self.assertEqual(set(), names & self.planned_names())

    def keep_backup(self) -> None:
        self.addCleanup(self.watcher, f'DROP DATABASE IF EXISTS {BACKUP}')
        self.watcher(
            f'CREATE DATABASE {BACKUP}',
            *(
                f'CREATE TABLE {BACKUP}.{table} AS SELECT * FROM {table}'
                for table in TABLES
            ),
        )

    def restore_backup(self) -> None:
        names = (APPLIER, 'watcher-decision-engine')
        for name in names:
            self.lab.stop(name)
        self.watcher(
            *(f'DELETE FROM {table}' for table in TABLES),
            *(
                f'INSERT INTO {table} SELECT * FROM {BACKUP}.{table}'
                for table in TABLES
            ),
        )
        for name in names:
            self.lab.start(name)

    def plan(self, plan: dict[str, Any]) -> dict[str, Any]:
        return self.cloud.watcher(f'/v1/action_plans/{plan["uuid"]}')

    def test_the_broker_is_emptied(self) -> None:
        plan, names = self.planned()
        self.lab.stop(APPLIER)
        self.addCleanup(self.lab.start, APPLIER)
        self.start(plan)
        self.empty_broker()
        self.lab.start(APPLIER)
        self.assertEqual(set(), names & self.planned_names())
        self.assertEqual('PENDING', self.plan(plan)['state'])
        self.openstack(f'optimize actionplan cancel {plan["uuid"]}')
        self.wait(
            lambda: names & self.planned_names(), 'the servers to be planned'
        )
        self.assertEqual(collections.Counter(), self.asked())

    def empty_broker(self) -> None:
        for row in self.broker('list_queues', 'name', 'messages').splitlines():
            name, _, number = row.partition('\t')
            if number.isdigit() and int(number):
                self.broker('purge_queue', name)

    def broker(self, *words: str) -> str:
        program = services.rabbit_program('rabbitmqctl')
        return running.run(
            'rabbitmqctl',
            [program, '-q', '-n', services.RABBIT_NODE, *words],
            **services.rabbit_environ(self.lab.ports),
        )

    def test_prometheus_has_no_samples(self) -> None:
        self.lab.stop('prometheus')
        shutil.rmtree(layout.DATA / 'prometheus')
        self.addCleanup(layout.EXPORTER.unlink, missing_ok=True)
        layout.write_json(layout.EXPORTER, {'down': [*topology.HOSTS]})
        self.lab.start('prometheus')
        audit = self.finished(self.audit(PARAMETERS))
        self.assertEqual('FAILED', audit['State'], audit)
        self.assertEqual([], self.plans(audit))
        self.assertIn(
            '0 of 6 available hosts have a fresh', audit['Status Message']
        )
        layout.EXPORTER.unlink()
        self.wait_for_metrics()
        # The samples of servers come a little later.
        self.wait(self.planned_names, 'servers to be planned')
