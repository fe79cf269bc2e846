# SPDX-License-Identifier: Apache-2.0
"""Does an operator learn of consent that does not do what it seems to do?"""

from typing import Any

from oslotest import base

from kronos.cmd.checks import instances
from kronos.cmd.checks.findings import Findings, Level
from kronos.engine.settings import ConsentRule, Settings
from tests.builders import scopes


class TestConsent(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.servers = [scopes.vm(uuid, 'a', []) for uuid in 'uvwx']
        self.snapshot = scopes.scope([], {'a': [], 'b': []}, self.servers)

    def wishes(self, **values: str) -> None:
        for uuid, value in values.items():
            server = self.snapshot.instances[uuid]
            server.metadata = {'kronos:consent': value}

    def found(self, **settings: Any) -> dict[str, tuple[Level, str]]:
        findings = Findings()
        every = list(self.snapshot.instances.values())
        instances.check_consent(
            [self.snapshot], every, Settings(**settings), findings
        )
        for item in findings.items:
            self.assertTrue(item.remedy)
        return {item.code: (item.level, item.text) for item in findings.items}

    def test_nothing(self) -> None:
        self.assertEqual({}, self.found())
        self.wishes(u='any', v='drain', w='window')
        self.assertEqual({}, self.found())

    def test_unknown_values(self) -> None:
        """By the ids of their servers, and no more than what a line takes."""
        self.wishes(u='any', v='Never', w='\x1b[31m\n' + 'x' * 999)
        self.snapshot.instances['x'].tags = ['kronos:consent:']
        level, text = self.found()['consent-unknown']
        self.assertIs(Level.WARNING, level)
        self.assertTrue(text.startswith('3 values'), text)
        self.assertIn('v (its metadata kronos:consent=Never)', text)
        self.assertIn('x (its tag kronos:consent:)', text)
        self.assertNotIn('\x1b', text)
        self.assertNotIn('\n', text)
        self.assertLess(len(text), 400)

    def test_who_stays_in_a_drain(self) -> None:
        self.wishes(u='never', v='drain')
        level, text = self.found()['consent-drain']
        self.assertIs(Level.NOTE, level)
        self.assertTrue(text.startswith('1 servers'), text)
        self.assertTrue(text.endswith(': u'), text)
        for rule in (ConsentRule.DRAIN_OVERRIDES, ConsentRule.IGNORE):
            self.assertNotIn('consent-drain', self.found(consent=rule))

    def test_projects(self) -> None:
        self.snapshot.instances['u'].project_id = 'p1'
        own = self.found(consent_projects=['p1'])
        self.assertEqual({}, own)
        level, text = self.found(consent_projects=['p1', 'web'])[
            'consent-projects'
        ]
        self.assertIs(Level.WARNING, level)
        self.assertIn('has web,', text)
        budgets = {'p1': '1', 'web': '2/60'}
        found = self.found(project_budgets=budgets)
        self.assertEqual(['budget-projects'], [*found])
        level, text = found['budget-projects']
        self.assertIs(Level.WARNING, level)
        self.assertIn('project_budgets has web,', text)
