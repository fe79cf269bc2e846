# SPDX-License-Identifier: Apache-2.0
"""Is only said what says something?"""

from oslotest import base

from kronos.engine.types import Bound, Certificate, PackingBound
from kronos.reports import certificates


def told(bound: float, reached: float, migrations: int = 5) -> str:
    return certificates.told(
        Certificate(migrations, bound, reached, Bound.COUNTING)
    )


class TestCertificates(base.BaseTestCase):
    def test_told(self) -> None:
        self.assertEqual(
            'No plan of 5 migrations can get the combined imbalance below '
            '0.3000, 25.0 % lower than this one.',
            told(0.3, 0.4),
        )
        self.assertEqual(
            'No plan of 1 migration can get the combined imbalance lower.',
            told(0.4, 0.4, 1),
        )

    def test_nothing_to_say(self) -> None:
        self.assertEqual('', told(0.00004, 0.4))
        self.assertEqual('', told(0.4, 0.4, 0))
        self.assertEqual('', certificates.told(None))

    def test_row(self) -> None:
        self.assertIsNone(certificates.row(None))
        found = certificates.row(Certificate(5, 0.3, 0.4, Bound.EXACT))
        assert found is not None
        self.assertEqual('exact', found['found_by'])
        self.assertAlmostEqual(0.25, found['gap'])
        self.assertFalse(found['is_optimal'])
        self.assertIn('0.3000', found['text'])


class TestPacking(base.BaseTestCase):
    def test_told(self) -> None:
        for found, text in (
            (
                PackingBound(20, 3, 4, 9),
                'No plan of 20 migrations can empty more than 4 hosts.',
            ),
            (
                PackingBound(1, 0, 1, 9),
                'No plan of 1 migration can empty more than 1 host.',
            ),
            (
                PackingBound(20, 4, 4, 9),
                'No plan of 20 migrations can empty more hosts.',
            ),
            (PackingBound(None, 4, 4, 9), 'No plan can empty more hosts.'),
            (
                PackingBound(5, 0, 0, 9),
                'No plan of 5 migrations can empty a host.',
            ),
        ):
            self.assertEqual(text, certificates.packing_told(found))

    def test_nothing_to_say(self) -> None:
        """As many as there are, no migration left, or nothing packed."""
        for found in (
            PackingBound(20, 3, 9, 9),
            PackingBound(0, 0, 0, 9),
            None,
        ):
            self.assertEqual('', certificates.packing_told(found))

    def test_row(self) -> None:
        self.assertIsNone(certificates.packing_row(None))
        self.assertEqual(
            {
                'migrations': 20,
                'hosts_emptied': 3,
                'hosts_emptied_at_most': 4,
                'is_optimal': False,
                'text': 'No plan of 20 migrations can empty more than 4 '
                'hosts.',
            },
            certificates.packing_row(PackingBound(20, 3, 4, 9)),
        )
