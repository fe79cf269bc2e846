# SPDX-License-Identifier: Apache-2.0
"""Are budgets read as operators write them, and is nonsense refused?"""

from oslotest import base

from kronos.options import budget
from kronos.options.budget import Budget

PROJECT = '0a1b2c'


class TestParsed(base.BaseTestCase):
    def test_syntax(self) -> None:
        for text, expected in (
            ('5/3600', Budget(None, 5, 3600)),
            ('2', Budget(2)),
            ('2,5/3600', Budget(2, 5, 3600)),
            (' 2 , 5 / 3600\n', Budget(2, 5, 3600)),
        ):
            parsed = budget.parsed(text)
            self.assertEqual(expected, parsed, text)
            self.assertEqual(expected, budget.parsed(str(parsed)))
        self.assertIsNone(budget.parsed(' '))

    def test_nonsense(self) -> None:
        """The message names the value, in one line, and the rule."""
        for text, words in (
            ('many', "'many' is not a budget: it must be N moves at a time"),
            ('5/', 'N/SECONDS'),
            ('/5', 'N/SECONDS'),
            ('2,', 'N,M/SECONDS'),
            ('2,5', 'N,M/SECONDS'),
            ('5/3600,2', 'N,M/SECONDS'),
            ('-1', 'N moves at a time'),
            ('1.5/60', 'N moves at a time'),
            ('\u0665', 'N moves at a time'),
            ('0', 'its moves must be at least 1'),
            ('0/60', 'its moves must be at least 1'),
            ('1/0', 'its seconds must be at least 1'),
            ('1/99999999', 'its seconds must be at least 1 and at most'),
            ('9' * 999, "'9999999999999999999999999999999999999999...'"),
            ('5/3600\nX <b>', "'5/3600?X <b>'"),
        ):
            error = self.assertRaises(ValueError, budget.parsed, text)
            self.assertIn(words, str(error), text)
            self.assertNotIn('\n', str(error))

    def test_checked(self) -> None:
        self.assertEqual('2', budget.checked(' 2 '))
        self.assertRaises(ValueError, budget.checked, 'x')


class TestByProject(base.BaseTestCase):
    def test_a_budget_may_have_a_comma(self) -> None:
        self.assertEqual(
            {PROJECT: '2,5/3600', 'b': '3', 'c': '1/60'},
            budget.by_project(f'{PROJECT}:2,5/3600, b : 3,c:1/60'),
        )
        self.assertEqual({}, budget.by_project(''))
        self.assertEqual({'a': '3'}, budget.by_project({'a': '3'}))

    def test_nonsense(self) -> None:
        for text, words in (
            ('3', 'it must be ID:BUDGET'),
            ('a:', 'it must be ID:BUDGET'),
            ('a b:3', "'a b:3' is not a project"),
            ('a:3,a:4', "project 'a' has two budgets"),
            ('a:3,b:x', "project b: 'x' is not a budget"),
            ('\x1b[2J:3', "'?[2J:3' is not a project"),
        ):
            error = self.assertRaises(ValueError, budget.by_project, text)
            self.assertIn(words, str(error), text)


class TestPhases(base.BaseTestCase):
    def test_words(self) -> None:
        self.assertEqual(['pack'], budget.phases(['pack']))
        error = self.assertRaises(ValueError, budget.phases, ['a', 'B 1'])
        self.assertIn("'B 1' is not a phase", str(error))
