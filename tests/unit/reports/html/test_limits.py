# SPDX-License-Identifier: Apache-2.0
"""Does the page show what limits a plan, in rows that are bounded?"""

import json
from typing import Any

from oslotest import base

from kronos.engine.types import BudgetStanding, ConsentStanding, FullBudget
from kronos.reports import document
from kronos.reports.html import limits, page, unmoved
from kronos.reports.html.hosts import instance_hosts
from tests.builders import limited


def report() -> Any:
    """As it is read from a file."""
    return json.loads(json.dumps(document.document(limited.report())))


def rows(row: dict[str, Any]) -> limits.Limits:
    result = limits.limits(row, instance_hosts(row))
    assert result is not None
    return result


class TestLimits(base.BaseTestCase):
    def test_rows(self) -> None:
        [row] = report()['scopes']
        result = rows(row)
        project, group = result.budgets
        self.assertEqual(
            ('project_budget', 1, 3, 2),
            (project.option, project.used, project.free, project.planned),
        )
        self.assertEqual(
            [limits.FullBudget('acme', '2027-01-15 08:50:00 UTC', 2)],
            project.full,
        )
        self.assertEqual([], group.full)
        unknown, drain = result.consents
        self.assertEqual('other', unknown.project)
        self.assertEqual(['web0'], [server.name for server in drain.staying])

    def test_many(self) -> None:
        full = [
            FullBudget(f'u{number}', 'full', None, 1) for number in range(60)
        ]
        uuids = [f'u{number}' for number in range(60)]
        cycle = limited.report()
        [scope] = cycle.scopes
        scope.budgets = [BudgetStanding('instance', 60, 0, 0, full)]
        scope.consents = [
            ConsentStanding('never', f'p{number}', 60, uuids)
            for number in range(60)
        ]
        [row] = document.document(cycle)['scopes']
        result = rows(row)
        [budget] = result.budgets
        self.assertEqual(
            (limits.FULL, 60 - limits.FULL, ''),
            (len(budget.full), budget.unlisted, budget.full[0].free_at),
        )
        self.assertEqual(
            (limits.CONSENTS, 60 - limits.CONSENTS),
            (len(result.consents), result.unlisted),
        )
        consent = result.consents[0]
        self.assertEqual(
            (unmoved.EXAMPLES, 60 - unmoved.EXAMPLES),
            (len(consent.staying), consent.unnamed),
        )
        text = page.render(document.document(cycle), 'Many')
        self.assertEqual(1, text.count('free when a move ends</li><li class'))
        self.assertIn('and 35 more; the JSON report has all', text)


class TestPage(base.BaseTestCase):
    def test_section(self) -> None:
        text = page.render(report(), 'Limits')
        for part in (
            'What limits its moves',
            'open until 2027-01-15 10:00 (UTC)',
            '120 moves of about',
            '<bdi>acme</bdi>: 2 servers, free at 2027-01-15 08:50:00 UTC',
            'unknown value, treated as never',
            'agrees to drains and repairs',
        ):
            self.assertIn(part, text)

    def test_old_report(self) -> None:
        old = report()
        for key in ('window', 'budgets', 'consents'):
            del old['scopes'][0][key]
        self.assertNotIn('What limits', page.render(old, 'Old'))

    def test_outcomes(self) -> None:
        closed = report()
        for stopped, words in (
            ('window', 'Window closed'),
            ('window_too_short', 'Window too short'),
            ('window_unusable', 'Window unusable'),
        ):
            closed['scopes'][0]['stopped'] = stopped
            self.assertIn(f'>{words}<', page.render(closed, 'Closed'))
