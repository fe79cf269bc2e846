# SPDX-License-Identifier: Apache-2.0
"""Is only said what says something?"""

from typing import Any

from oslotest import base

from kronos.engine.types import Bound, Certificate, PackingBound
from kronos.reports import certificates


def certificate(
    bound: float,
    reached: float,
    migrations: int = 5,
    before: float = 0.8,
    **more: Any,
) -> Certificate:
    return Certificate(
        migrations, bound, reached, Bound.EXACT, before=before, **more
    )


def told(*args: Any, **more: Any) -> str:
    return certificates.sentence(certificate(*args, **more))


class TestCertificates(base.BaseTestCase):
    def test_told(self) -> None:
        for text_of, text in (
            (
                told(0.3, 0.4),
                'This plan removes at least 80.0 % of the combined imbalance '
                'that any plan of 5 migrations could remove: none gets it '
                'below 0.3000.',
            ),
            (
                told(0.0, 0.1, 1),
                'This plan removes at least 87.5 % of the combined imbalance '
                'that any plan of 1 migration could remove.',
            ),
            (
                told(0.4, 0.4, 1),
                'No plan of 1 migration can get the combined imbalance lower.',
            ),
        ):
            self.assertEqual(text, text_of)

    def test_a_plan_that_removes_nothing(self) -> None:
        """It may leave more than there was, within all thresholds."""
        for reached in (0.8, 0.80001, 0.9):
            self.assertEqual(
                'No plan of 5 migrations can get the combined imbalance below '
                '0.3000.',
                told(0.3, reached),
            )
            self.assertEqual('', told(0.00004, reached))

    def test_rounded_down(self) -> None:
        """Nothing more is promised than is proven."""
        text = told(0.23456, 0.5)
        self.assertIn('at least 53.0 %', text)  # 53.05
        self.assertIn('below 0.2345.', text)
        self.assertIn('at least 99.9 %', told(0.1, 0.10011, before=10.0))

    def test_nothing_to_say(self) -> None:
        self.assertEqual('', told(0.4, 0.4, 0))
        self.assertEqual('', certificates.sentence(None))

    def test_brief(self) -> None:
        self.assertEqual(
            'at least 80.0 % of what 5 migrations can remove',
            certificates.brief(certificate(0.3, 0.4)),
        )
        for found in (
            certificate(0.4, 0.4),
            certificate(0.3, 0.8),
            certificate(0.8, 0.8),
            None,
        ):
            self.assertEqual('', certificates.brief(found))

    def test_row(self) -> None:
        self.assertIsNone(certificates.row(None))
        row = certificates.row(certificate(0.3, 0.4))
        assert row is not None
        self.assertEqual('exact', row['found_by'])
        self.assertAlmostEqual(0.25, row['gap'])
        self.assertAlmostEqual(0.8, row['share'])
        self.assertFalse(row['is_optimal'])
        self.assertIn('0.3000', row['text'])


class TestPacking(base.BaseTestCase):
    def test_told(self) -> None:
        for bound, text in (
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
            self.assertEqual(text, certificates.packing_sentence(bound))

    def test_nothing_to_say(self) -> None:
        """As many as there are, no migration left, or nothing packed."""
        for bound in (
            PackingBound(20, 3, 9, 9),
            PackingBound(0, 0, 0, 9),
            None,
        ):
            self.assertEqual('', certificates.packing_sentence(bound))

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
