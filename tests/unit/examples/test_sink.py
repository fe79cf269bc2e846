# SPDX-License-Identifier: Apache-2.0
"""The sink of doc/source/contributor/plugins.rst, as a package of its own."""

import json

from kronos.monitor.sinks import registry
from kronos.monitor.sinks.base import Outcome
from tests import places
from tests.builders.packages import Package
from tests.unit.monitor.sinks import hooks
from tests.unit.monitor.test_settings import SettingsTestCase

EXAMPLE = places.TOP / 'tests' / 'unit' / 'examples' / 'sink.py'


class TestSink(SettingsTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.useFixture(
            Package(
                'your_package',
                EXAMPLE.read_text(),
                {registry.NAMESPACE: {'lines': 'Lines'}},
            )
        )
        self.head = (
            'source = synthetic',
            'events_file = /e',
            'sinks = audit_log',
            '[kronos_monitor_audit_log]',
            'driver = lines',
        )

    def test_it_takes_messages(self) -> None:
        path = self.folder / 'lines'
        (chosen,) = self.of(*self.head, f'path = {path}').sinks
        sink = registry.make(chosen.driver, chosen.name, chosen.options)
        message = hooks.message()
        for _ in range(2):
            result = sink.deliver(message)
            self.assertIs(Outcome.DELIVERED, result.outcome)
        ids = [json.loads(line)['id'] for line in path.open()]
        self.assertEqual([message.id] * 2, ids)

    def test_its_own_faults(self) -> None:
        self.assertEqual(
            ['[kronos_monitor_audit_log] path: is not set', 'name a file'],
            self.faults(*self.head),
        )
