# SPDX-License-Identifier: Apache-2.0
"""Is it told when resizes do not stay in their cell by themselves?"""

from oslotest import base

from kronos.cmd.checks.findings import Findings
from kronos.extensions.cells.checks import cross_cell_weigher


class TestMultiplier(base.BaseTestCase):
    def judged(self, value: float) -> tuple[bool | None, list[str]]:
        findings = Findings()
        need = cross_cell_weigher.judge('m', value, 'nova.conf', findings)
        return need.is_good, [one.text for one in findings.items]

    def test_above_zero(self) -> None:
        self.assertEqual((True, []), self.judged(0.5))

    def test_zero_and_below(self) -> None:
        for value, effect in ((0.0, 'any cell'), (-2.0, 'another cell')):
            is_good, [text] = self.judged(value)
            self.assertIs(False, is_good)
            self.assertIn(f'nova.conf: m = {value:g}', text)
            self.assertTrue(text.endswith(effect), text)

    def test_not_a_number(self) -> None:
        is_good, [_] = self.judged(float('nan'))
        self.assertIs(False, is_good)

    def test_shown(self) -> None:
        for value, shown in ((1000000.0, '1000000'), (0.25, '0.25')):
            need = cross_cell_weigher.judge('m', value, 'x', Findings())
            self.assertEqual(shown, need.value)
