# SPDX-License-Identifier: Apache-2.0
"""Do three databases come up, go down and fail as those of a cloud do?"""

import pymysql

from tests.lab import nodes

from labkit import layout, process  # isort: skip
from labkit.ha import choice, faults  # isort: skip

COUNT = 'SELECT COUNT(*) FROM trial.rows'
COUNT_LARGE = 'SELECT COUNT(*) FROM trial.large'
LARGE = "INSERT INTO trial.large VALUES (1, REPEAT('x', 1000000))"
CUT_OFF = 1047
"""What a node answers that is not part of the group."""


class TestDatabases(nodes.NodesTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.databases = self.useFixture(nodes.Databases())
        self.databases.query(
            'db1',
            'CREATE DATABASE trial',
            'CREATE TABLE trial.rows (id INT AUTO_INCREMENT PRIMARY KEY)',
        )

    def test_faults_of_one_node(self) -> None:
        self.assert_together(choice.DATABASES)
        self.assert_survives_a_kill('db2')
        self.assert_survives_a_cut('db3')
        self.assert_survives_a_lag('db1')
        self.assert_survives_a_pause('db2')
        self.assert_survives_a_full_disk('db3')
        nodes.end(('db3',))
        self.assert_together(('db1', 'db2'))
        self.databases.start('db3')
        self.assert_together(choice.DATABASES)

    def test_all_of_them_at_once(self) -> None:
        self.insert('db2')
        for kill in (False, True):
            nodes.end(choice.DATABASES, kill)
            self.assertFalse(set(choice.DATABASES) & set(process.records()))
            self.databases.start_all()
            self.assert_together(choice.DATABASES)
            self.assertLessEqual(1, self.rows('db3'))

    def test_nothing_is_left(self) -> None:
        pids = [process.records()[name].pid for name in choice.DATABASES]
        self.databases.cleanUp()
        self.assertEqual([None] * 3, [process.stat(pid) for pid in pids])
        self.assertEqual([], list(layout.DATA.glob('db*')))
        self.assertEqual([], list(layout.RUN.glob('db*')))

    def assert_survives_a_kill(self, name: str) -> None:
        process.kill(process.records()[name])
        self.wait_for_size('db1', 2)
        self.insert('db1')
        self.databases.start(name)
        self.assertEqual(self.rows('db1'), self.rows(name))
        self.assert_together(choice.DATABASES)

    def assert_survives_a_cut(self, name: str) -> None:
        faults.isolate(name, self.databases.ports)
        self.wait(
            lambda: not self.databases.is_synced(name), f'{name} to be alone'
        )
        refused = self.assertRaises(
            pymysql.err.OperationalError, self.insert, name
        )
        self.assertEqual(CUT_OFF, refused.args[0])
        self.wait_for_size('db1', 2)
        self.insert('db1')
        faults.end(name, self.databases.ports)
        self.assertEqual(self.rows('db1'), self.rows(name))
        self.assert_together(choice.DATABASES)

    def assert_survives_a_lag(self, name: str) -> None:
        faults.desync(name, self.databases.ports)
        self.assertFalse(self.databases.is_synced(name))
        self.insert('db2')
        faults.end(name, self.databases.ports)
        self.assert_together(choice.DATABASES)

    def assert_survives_a_pause(self, name: str) -> None:
        self.pause(name)
        self.wait_for_size('db1', 2)
        self.insert('db1')
        self.assertEqual({}, self.databases.state(name))
        self.resume(name)
        self.assert_together(choice.DATABASES)

    def assert_survives_a_full_disk(self, name: str) -> None:
        """It ends, and what it refused is nowhere."""
        table = 'CREATE TABLE trial.large (id INT PRIMARY KEY, text LONGBLOB)'
        self.databases.query(name, table)
        faults.fill(name, self.databases.ports)
        self.assertRaises(
            pymysql.err.OperationalError, self.databases.query, name, LARGE
        )
        self.wait_for_size('db1', 2)
        self.insert('db1')
        [[count]] = self.databases.query('db1', COUNT_LARGE)
        self.assertEqual(0, count)
        self.databases.start(name)
        faults.end(name, self.databases.ports)
        self.assert_together(choice.DATABASES)

    def assert_together(self, names: tuple[str, ...]) -> None:
        """They are like each other, and what one is told all know."""
        for name in names:  # one that stood still does not know it yet
            self.wait_for_size(name, len(names))
            self.wait_for_sync(name)
        self.insert(names[0])
        counts = {self.rows(name) for name in names}
        self.assertEqual(1, len(counts), counts)

    def wait_for_size(self, name: str, size: int) -> None:
        self.wait(
            lambda: (
                self.databases.state(name).get('wsrep_cluster_size')
                == str(size)
            ),
            f'a group of {size}',
        )

    def wait_for_sync(self, name: str) -> None:
        self.wait(lambda: self.databases.is_synced(name), f'{name} in sync')

    def insert(self, name: str) -> None:
        self.databases.query(name, 'INSERT INTO trial.rows VALUES ()')

    def rows(self, name: str) -> int:
        [[count]] = self.databases.query(
            name, 'SET wsrep_sync_wait = 1', COUNT
        )
        return int(count)
