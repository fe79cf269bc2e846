# SPDX-License-Identifier: Apache-2.0
"""Are findings told once each, the worst first?"""

from oslotest import base

from kronos.cmd.checks import findings


class TestFindings(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.found = findings.Findings()

    def test_the_worst_first(self) -> None:
        """Those of one level in the order of the checks."""
        self.found.note('a', 'one')
        self.found.warning('b', 'two', 'mend it')
        self.found.error('c', 'three', 'mend it')
        self.found.error('d', 'four', 'mend it')
        self.assertEqual(
            ['c', 'd', 'b', 'a'],
            [one['code'] for one in self.found.document()],
        )
        self.assertEqual(
            {'level', 'code', 'text', 'mend'}, {*self.found.document()[0]}
        )

    def test_once_each(self) -> None:
        for text in ('one', 'one', 'two'):
            self.found.warning('a', text, '')
        self.assertEqual(2, self.found.count(findings.Level.WARNING))

    def test_only_an_error_is_bad(self) -> None:
        self.found.note('a', 'one')
        self.found.warning('b', 'two', '')
        self.assertTrue(self.found.is_good)
        self.found.error('c', 'three', '')
        self.assertFalse(self.found.is_good)
