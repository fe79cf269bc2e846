# SPDX-License-Identifier: Apache-2.0
"""Does a strategy that is no extension's add nothing?"""

from oslotest import base

from kronos.engine.types import CycleReport
from kronos.strategies.outcome.additions import PLAIN
from kronos.strategies.outcome.planned_actions import PlannedAction
from tests.unit.strategies.outcome.test_status_messages import scope


class TestPlain(base.BaseTestCase):
    def test_it_adds_nothing(self) -> None:
        report, one = CycleReport([scope()]), scope()
        move = PlannedAction('kronos_live_migrate', {}, 'u')
        self.assertEqual([], PLAIN.ahead(report))
        self.assertEqual([move], PLAIN.arranged(report, [], [move]))
        self.assertFalse(PLAIN.acts(one) or PLAIN.is_over(one))
        self.assertFalse(PLAIN.is_described(one) or PLAIN.hosts(one))
        self.assertEqual([], [*PLAIN.unfinished(one), *PLAIN.lines(one)])
        self.assertEqual([], [*PLAIN.gauges(one)])
        self.assertEqual('', PLAIN.subject(one))
