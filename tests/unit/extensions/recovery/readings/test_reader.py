# SPDX-License-Identifier: Apache-2.0
"""What does a recovery read of a cloud?"""

from typing import Any

from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.types import Health, Host, Instance, PastRestart, Reading
from kronos.extensions.recovery.failures import NOT_ASKED, why_unknown
from kronos.extensions.recovery.options import RecoveryOptions
from kronos.extensions.recovery.readings.failures import FailureQueries
from kronos.extensions.recovery.readings.reader import RecoveryReader
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.reader import Look
from kronos.snapshots.scopes import Cloud


class Prometheus:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def instant_query(self, query: str, label_key: str) -> Reading:
        return self.reading


class TestReader(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        cloud = Cloud({'h1': Host('h1')}, {}, [])
        self.gathered = CloudInventory(cloud, {}, [Instance('v', 'h1')])

    def read(self, reader: RecoveryReader, reading: Reading) -> None:
        nova: Any = None  # of a server that is well it is not asked
        settings = Settings(beside=[RecoveryOptions(restart_servers=True)])
        reader.read(
            Look(self.gathered, {}, nova, Prometheus(reading), settings, print)
        )

    def test_before(self) -> None:
        self.assertEqual(NOT_ASKED, why_unknown(self.gathered.beside))

    def test_what_was_before(self) -> None:
        """Once it is recalled, and no sooner."""
        past = PastRestart(1.0, 'FAILED', False)
        reader = RecoveryReader(FailureQueries('', 'f'), lambda: {'v': [past]})
        self.read(reader, Reading('f'))
        [instance] = self.gathered.instances
        self.assertEqual([], instance.restarts)
        self.assertEqual('', why_unknown(self.gathered.beside))
        reader.recall()
        self.read(reader, Reading('f'))
        self.assertEqual([past], instance.restarts)

    def test_nobody_knows_what_failed(self) -> None:
        away = Reading('f', Health.UNREACHABLE, error='away', is_away=True)
        reader = RecoveryReader(FailureQueries('f', 'f'))
        self.read(reader, away)
        self.assertIn('away', why_unknown(self.gathered.beside))
