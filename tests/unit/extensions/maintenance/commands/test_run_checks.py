# SPDX-License-Identifier: Apache-2.0
"""Does test-config tell what slows a live run down?"""

from oslotest import base

from kronos.clients.rest import Json
from kronos.cmd.checks.findings import Findings
from kronos.extensions.maintenance.client import runs
from kronos.extensions.maintenance.commands import run_checks


def row(run: str, at_once: int, force: bool) -> Json:
    return {
        'uuid': f'audit-of-{run}',
        'audit_type': runs.CONTINUOUS,
        'strategy_name': runs.STRATEGY,
        'state': runs.ONGOING,
        'created_at': '2026-11-28T04:00:00+00:00',
        'force': force,
        'parameters': {'hosts': 'h1,h2,h3', 'run': run, 'at_once': at_once},
    }


class TestRunChecks(base.BaseTestCase):
    def codes(self, workers: int | None, *rows: Json) -> list[str]:
        findings = Findings()
        run_checks.check_runs(runs.of(rows), rows, workers, findings)
        return [each.code for each in findings.items]

    def test_without_force(self) -> None:
        unforced = row('a', 1, False)
        self.assertEqual(['maintenance-unforced'], self.codes(9, unforced))

    def test_too_few_workers(self) -> None:
        wide = row('b', 2, True)
        self.assertEqual(['maintenance-workers'], self.codes(1, wide))
        self.assertEqual([], self.codes(2, wide))
        self.assertEqual([], self.codes(None, wide))
