# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_maintain, as it declares itself."""

from types import SimpleNamespace
from typing import Any

from oslotest import base

from kronos.common import exceptions
from kronos.extensions.maintenance.audit import (
    history,
    live_runs,
    started_plans,
    strategy,
)
from kronos.extensions.maintenance.extension import MaintenanceRun
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.readings.done_hosts import RunQueries
from kronos.extensions.maintenance.readings.reader import MaintenanceReader
from tests.unit.strategies import declared

ASKED = {'hosts': 'h2,h1', 'run': 'r'}


class TestMaintain(base.BaseTestCase):
    def test_it_empties_hosts_and_does_no_more(self) -> None:
        settings = declared.settings(
            strategy.Maintain,
            ASKED | {'at_once': 2},
            cooldown=900,
            enforce_hard_affinity=True,
        )
        self.assertEqual(
            MaintenanceRun(Maintenance('r', ('h1', 'h2'), 2)),
            settings.extension,
        )
        self.assertTrue(settings.evacuate and settings.unlimited)
        self.assertFalse(settings.rebalance or settings.enforces)
        self.assertEqual(0, settings.cooldown_seconds)

    def test_scopes(self) -> None:
        """As for all others: those of the options, or of the audit."""
        for more, expected in (
            ({}, None),
            ({'aggregates': 'a,b'}, ['a', 'b']),
            ({'aggregates': 5}, ['5']),
        ):
            parsed = strategy.Maintain.parse(ASKED | more)
            self.assertEqual(expected, parsed.aggregates)
        error = self.assertRaises(
            exceptions.ConfigurationError,
            strategy.Maintain.parse,
            ASKED | {'aggregates': ','},
        )
        self.assertIn('Audit parameter aggregates: ', str(error))

    def test_what_it_reads(self) -> None:
        conf = SimpleNamespace(
            kronos=declared.kronos(
                maintenance_done_query='d', maintenance_ready_query='r'
            )
        )
        clients: Any = None  # they are not asked
        settings = declared.settings(strategy.Maintain, ASKED)
        reader = strategy.Maintain.reader(settings, conf, clients)
        self.assertEqual(
            MaintenanceReader(
                RunQueries('d', 'r'),
                history.closed,
                live_runs.elsewhere,
                live_runs.moves,
                live_runs.balancing,
                in_hand=started_plans.in_hand,
                pace=live_runs.pace,
            ),
            reader,
        )

    def test_what_it_must_be_told(self) -> None:
        schema = strategy.Maintain.get_schema()
        self.assertEqual(['hosts', 'run'], schema['required'])
