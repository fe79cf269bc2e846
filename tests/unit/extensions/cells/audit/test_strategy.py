# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_cell_drain, as it declares itself."""

from typing import Any

from oslotest import base

from kronos.common.exceptions import ScopeError
from kronos.engine.extension import PLAIN
from kronos.engine.planning.propose import propose
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import CycleReport
from kronos.extensions.cells.audit import strategy
from kronos.extensions.cells.cell_drain import (
    NAME,
    CellOutcome,
    ForeignMove,
    OffloadedServer,
    needs_of,
)
from kronos.extensions.cells.readings.cell_hosts import CellScope
from kronos.strategies import audit, audit_scope, spread
from kronos.strategies.outcome import status_messages
from tests.builders import cells
from tests.unit.strategies import declared
from tests.unit.strategies.outcome.test_status_messages import scope

ASKED = {'source_cell': 'old', 'target_cells': 'new', 'hosts': 'o1'}
STRATEGY = strategy.CellDrainStrategy


class TestSettings(base.BaseTestCase):
    def settings(self, asked: dict[str, Any], **changed: Any) -> Any:
        return audit.make_settings(
            STRATEGY.PLAN_MODE,
            STRATEGY.parse(ASKED | asked),
            declared.kronos(**changed),
        )

    def test_it_empties_a_cell_and_does_no_more(self) -> None:
        found = self.settings(
            {},
            cooldown=900,
            enforce_hard_affinity=True,
            restrict_to_az=True,
            evacuate_disabled_hosts=False,
        )
        self.assertTrue(found.evacuate)
        self.assertFalse(found.rebalance or found.enforces or found.unlimited)
        self.assertFalse(found.restrict_to_az)
        self.assertEqual((0, 10), (
            found.cooldown_seconds, found.max_migrations
        ))  # fmt: skip
        self.assertEqual(
            3, self.settings({'max_migrations': 3}).max_migrations
        )

    def test_other_strategies(self) -> None:
        found = declared.settings(spread.Spread, {})
        self.assertEqual(PLAIN, found.extension)


class TestScope(base.BaseTestCase):
    def request(self, *scope: Any) -> Any:
        asked = STRATEGY.parse(dict(ASKED))
        return audit_scope.request(
            [*scope], asked, declared.kronos(aggregates=['a'])
        )

    def test_cells(self) -> None:
        """And what the audit excludes is left alone."""
        exclude = [{'instances': [{'uuid': 'u'}]}]
        found = self.request({'compute': [{'exclude': exclude}]})
        self.assertEqual(CellScope('old', ['new'], ['o1']), found.chosen)
        self.assertEqual([], found.aggregates)
        self.assertEqual(['u'], found.excluded_instances)

    def test_aggregates(self) -> None:
        named = {'compute': [{'host_aggregates': [{'name': 'a'}]}]}
        error = self.assertRaises(ScopeError, self.request, named)
        self.assertIn('which may then contain only exclude', str(error))


class TestOutcome(base.BaseTestCase):
    def test_summary_and_indicators(self) -> None:
        servers = [
            cells.server('a'),
            cells.server('b', locked=True),
            cells.server('c', locked=True),
            cells.server('d', swap_mb=1),
            cells.server('e'),
        ]
        snapshot = cells.cells(servers)
        needs_of(snapshot).offloaded = [OffloadedServer('u', 'shelf')]
        settings = cells.settings(max_migrations=1)
        report = propose([snapshot], [cells.CPU], settings)
        self.assertEqual(
            'cell old: servers 5 -> 4, 3 stay (it is locked), 1 '
            'SHELVED_OFFLOADED may be there',
            STRATEGY.summary(report.scopes[0]),
        )
        self.assertEqual(
            {
                'servers_before': 5,
                'servers_after': 4,
                'servers_that_stay': 3,
                'migrations': 1,
            },
            STRATEGY.indicators(report),
        )
        [share] = STRATEGY.GOAL.get_efficacy_specification(
        ).get_global_efficacy_indicator(
            type('Map', (), STRATEGY.indicators(report))
        )  # fmt: skip
        self.assertEqual(20.0, share.value)

    def test_moves_that_were_begun(self) -> None:
        """They are told first, and make a plan of their own."""
        snapshot = cells.cells([cells.server('a', locked=True)])
        needs_of(snapshot).unfinished = [
            cells.unfinished('b'),
            cells.unfinished('c'),
            cells.unfinished('d', has_ended=True),
        ]
        needs_of(snapshot).of_others = [
            ForeignMove('e', 'web', 'o1', 'n1', 'old')
        ]
        report = propose([snapshot], [cells.CPU], cells.settings())
        told = (
            '2 moves begun before are finished, d waits for you to confirm '
            'or revert, web is in VERIFY_RESIZE by somebody else: confirm or '
            'revert'
        )
        text = status_messages.summary(
            report, STRATEGY.summary, STRATEGY.ADDITIONS
        )
        self.assertTrue(text.startswith(f'old -> new: {told}; '), text)
        self.assertEqual(2, STRATEGY.indicators(report)['migrations'])
        snapshot.instances['a'].locked = False
        report = propose([snapshot], [cells.CPU], cells.settings())
        text = status_messages.summary(
            report, STRATEGY.summary, STRATEGY.ADDITIONS
        )
        self.assertEqual(
            f'old -> new: 1 migration, cell old: servers 1 -> 0, {told}', text
        )
        self.assertEqual(3, STRATEGY.indicators(report)['migrations'])

    def test_a_blind_audit_finishes_them(self) -> None:
        """It does something, so that it must not fail."""
        snapshot = cells.cells([])
        snapshot.services = None
        report = propose([snapshot], [cells.CPU], cells.settings())
        self.assertTrue(status_messages.is_blind(report, STRATEGY.ADDITIONS))
        needs_of(snapshot).unfinished = [cells.unfinished('b')]
        report = propose([snapshot], [cells.CPU], cells.settings())
        self.assertFalse(status_messages.is_blind(report, STRATEGY.ADDITIONS))
        self.assertIn(
            '1 move begun before is finished; ',
            status_messages.summary(
                report, STRATEGY.summary, STRATEGY.ADDITIONS
            ),
        )

    def test_empty(self) -> None:
        one = scope(beside={NAME: CellOutcome('old', ['new'], 0, 0)})
        self.assertEqual(
            'cell old is empty',
            status_messages.summary(
                CycleReport([one]), STRATEGY.summary, STRATEGY.ADDITIONS
            ),
        )

    def test_nothing_can_leave(self) -> None:
        why = Reason('it is locked', Code.INSTANCE_LOCKED)
        one = scope(
            beside={NAME: CellOutcome('old', ['new'], 1, 1, staying=['u'])},
            stayed={'u': why},
        )
        text = status_messages.summary(
            CycleReport([one]), STRATEGY.summary, STRATEGY.ADDITIONS
        )
        self.assertIn(one.reason, text)
