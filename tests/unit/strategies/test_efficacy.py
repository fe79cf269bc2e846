# SPDX-License-Identifier: Apache-2.0
"""Is a plan measured by the table of a goal?"""

from types import SimpleNamespace

from oslotest import base

from kronos.strategies.efficacy import Efficacy, Measure, Share

MEASURES = (
    Measure('full', 'Full hosts before.', lambda report: 4.0),
    Measure('still_full', 'Full hosts after.', lambda report: 1.0),
)
SHARE = Share('relieved', 'Share of them.', before='full', after='still_full')


class TestEfficacy(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.efficacy = Efficacy(MEASURES, SHARE)

    def share(self, **values):
        [found] = self.efficacy.get_global_efficacy_indicator(
            SimpleNamespace(**values) if values else None
        )
        self.assertEqual(('relieved', '%'), (found.name, found.unit))
        return found.value

    def test_indicators(self):
        """Each is a required number that is not negative."""
        for measure, found in zip(
            MEASURES,
            self.efficacy.get_indicators_specifications(),
            strict=True,
        ):
            self.assertEqual(
                (measure.name, measure.description, True),
                (found.name, found.description, found.required),
            )
            self.assertEqual({'type': 'number', 'minimum': 0}, found.schema)

    def test_share(self):
        """In percent; a plan that makes it worse removes nothing."""
        self.assertEqual(75.0, self.share(full=4.0, still_full=1.0))
        self.assertEqual(0.0, self.share(full=4.0, still_full=5.0))
        self.assertEqual(0.0, self.share(full=0.0, still_full=0.0))
        self.assertEqual(0.0, self.share())
