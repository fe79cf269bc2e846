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
            {'level', 'code', 'text', 'mend', 'follows'},
            {*self.found.document()[0]},
        )

    def test_once_each(self) -> None:
        for text in ('one', 'one', 'two'):
            self.found.warning('a', text, '')
        self.assertEqual(2, len(self.found.items))

    def test_only_an_error_is_bad(self) -> None:
        self.found.note('a', 'one')
        self.found.warning('b', 'two', '')
        self.assertTrue(self.found.is_good)
        self.found.error('c', 'three', '')
        self.assertFalse(self.found.is_good)


class TestCauses(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.found = findings.Findings()

    def shape(self) -> list[tuple[str, str, list[str]]]:
        return [
            (
                row['code'],
                row['level'],
                [effect['code'] for effect in row['follows']],
            )
            for row in self.found.document()
        ]

    def test_below_its_cause(self) -> None:
        """Whichever was found first, and without a remedy of its own."""
        self.found.error('effect', 'one', 'mend it', because=['x'])
        self.found.warning('cause', 'two', 'mend that', key='x')
        self.assertEqual([('cause', 'error', ['effect'])], self.shape())
        [row] = self.found.document()
        self.assertEqual('mend that', row['mend'])
        self.assertEqual('', row['follows'][0]['mend'])

    def test_a_cause_that_was_not_found(self) -> None:
        self.found.error('effect', 'one', 'mend it', because=['x', 'y'])
        self.assertEqual([('effect', 'error', [])], self.shape())
        self.found.note('cause', 'two', key='y')
        self.assertEqual([('cause', 'error', ['effect'])], self.shape())

    def test_the_cause_of_a_cause(self) -> None:
        self.found.error('c', 'three', '', because=['b'])
        self.found.error('b', 'two', '', key='b', because=['a'])
        self.found.error('a', 'one', '', key='a')
        self.assertEqual([('a', 'error', ['c', 'b'])], self.shape())

    def test_one_cause_told_twice(self) -> None:
        self.found.error('a', 'one', '', key='a')
        self.found.error('a', 'two', '', key='a')
        self.assertEqual([('a', 'error', ['a'])], self.shape())

    def test_causes_of_each_other(self) -> None:
        self.found.error('a', 'one', '', key='a', because=['b'])
        self.found.error('b', 'two', '', key='b', because=['a'])
        self.assertEqual([('a', 'error', ['b'])], self.shape())

    def test_what_most_follows_from_is_first(self) -> None:
        self.found.error('a', 'one', '')
        self.found.error('b', 'two', '', key='b')
        self.found.error('c', 'three', '', because=['b'])
        self.found.warning('d', 'four', '', key='d')
        self.assertEqual(
            [('b', 'error', ['c']), ('a', 'error', []), ('d', 'warning', [])],
            self.shape(),
        )
