# SPDX-License-Identifier: Apache-2.0
"""Does kronos-test-config report budgets that no plan can use up?"""

from types import SimpleNamespace
from typing import Any

from oslotest import base

from kronos.cmd.checks.causes import budgets
from kronos.cmd.checks.findings import Findings, Level
from kronos.engine.settings import Settings
from kronos.engine.types import ServerGroup, Snapshot
from kronos.policies.models import Mode
from tests.builders import scopes


class TestPlansWorth(base.BaseTestCase):
    """Six servers, four of project p1, of which two are of a group."""

    def setUp(self) -> None:
        super().setUp()
        projects = dict(zip('abcdef', ('p1',) * 4 + ('p2', ''), strict=True))
        self.scope = scopes.scope(
            [],
            {'h1': [], 'h2': []},
            [
                scopes.vm(uuid, 'h1', [], project_id=project)
                for uuid, project in projects.items()
            ],
            groups=[ServerGroup('g', 'anti-affinity', ['a', 'b', 'other'])],
            name='gpu\x1b',
        )

    def texts(
        self, allowed: int = 9, mode: Mode = Mode.SPREAD, **options: Any
    ) -> list[str]:
        policy = scopes.policy(
            'cpu',
            mode=mode,
            capacity_query='up' if mode is Mode.PACK else None,
            max_migrations_per_cycle=allowed,
        )
        findings = Findings()
        snapshots: list[Snapshot] = [self.scope]
        budgets.check(snapshots, [policy], Settings(**options), findings)
        for finding in findings.items:
            self.assertEqual('budget-plan', finding.code)
            self.assertIs(Level.WARNING, finding.level)
        return [finding.text for finding in findings.items]

    def test_none(self) -> None:
        self.assertEqual([], self.texts())

    def test_projects(self) -> None:
        """One of p1, that of p2, and that without a project."""
        options = {'project_budget': '1/3600'}
        self.assertEqual(
            [
                'project_budget never lets more than 3 servers of scope gpu? '
                'move in a plan, and max_migrations_per_cycle is 9'
            ],
            self.texts(**options),
        )
        self.assertEqual(1, len(self.texts(4, **options)))
        self.assertEqual([], self.texts(3, **options))

    def test_one_project_of_its_own(self) -> None:
        budgets_of = {'p1': '3', 'p2': '9'}
        [text] = self.texts(project_budgets=budgets_of)
        self.assertIn('than 5 servers', text)
        self.assertEqual([], self.texts(5, project_budgets=budgets_of))

    def test_a_plan_needs_no_more_than_all_servers(self) -> None:
        self.assertEqual([], self.texts(project_budget='4/60'))

    def test_groups(self) -> None:
        [text] = self.texts(group_budget='1')
        self.assertIn('group_budget never lets more than 5 servers', text)

    def test_servers_move_once_in_a_plan(self) -> None:
        self.assertEqual([], self.texts(instance_budget='1/86400'))

    def test_exempt_phases(self) -> None:
        exempt = {'project_budget': '1/60', 'budget_exempt': ['pack']}
        self.assertEqual([], self.texts(mode=Mode.PACK, **exempt))
        self.assertEqual(1, len(self.texts(**exempt)))

    def test_no_policy(self) -> None:
        findings = Findings()
        options = Settings(project_budget='1/60')
        budgets.check([self.scope], [], options, findings)
        self.assertEqual([], findings.items)


class TestPhases(base.BaseTestCase):
    def test_unknown(self) -> None:
        findings = Findings()
        options = SimpleNamespace(budget_exempt=['spraed', 'relieve'])
        budgets.check_phases(options, findings)
        [finding] = findings.items
        self.assertTrue(finding.text.endswith(': spraed'), finding.text)
