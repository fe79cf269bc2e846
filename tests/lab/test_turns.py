# SPDX-License-Identifier: Apache-2.0
"""Appliers that share a real database server agree on whose turn it is."""

import pathlib

import fixtures

from tests import held_lock, turntaking
from tests.lab import base

from labkit import database, ports  # isort: skip

NAME = 'turns'


class TestTurns(base.LabTestCase):
    def setUp(self):
        super().setUp()
        port = ports.load()['mariadb']
        with database.connect(port) as link, link.cursor() as cursor:
            cursor.execute(f'DROP DATABASE IF EXISTS {NAME}')
            cursor.execute(f'CREATE DATABASE {NAME}')
        self.addCleanup(self._drop, port)
        self.url = f'mysql+pymysql://root@127.0.0.1:{port}/{NAME}?charset=utf8'

    def test_never_more_than_allowed(self):
        """Four processes and the MariaDB that Watcher uses."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        seen = turntaking.run(self.url, folder / 'witness', moves=4, rounds=25)
        self.assertEqual(turntaking.AT_MOST, seen.most, seen)
        self.assertEqual([25] * 4, list(seen.granted.values()), seen)
        self.assertGreater(seen.asked, seen.granted.total(), seen)

    def test_a_holder_that_hangs(self):
        """It leaves two threads and two connections waiting, not more."""
        seen = held_lock.run(self.url, rounds=20)
        self.assertEqual((2, 2), (seen['threads'], seen['connections']))
        [(message, times)] = seen['messages'].items()
        self.assertIn('has locked action_descriptions for 0.5 s', message)
        self.assertEqual(20 * held_lock.MOVES, times)
        self.assertEqual(held_lock.MOVES, seen['after'])

    def _drop(self, port):
        with database.connect(port) as link, link.cursor() as cursor:
            cursor.execute(f'DROP DATABASE {NAME}')
