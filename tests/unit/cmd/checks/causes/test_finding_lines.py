# SPDX-License-Identifier: Apache-2.0
"""Are causes shown with their remedies, and effects without?"""

from typing import Any

from oslotest import base

from kronos.cmd.checks.causes import finding_lines


def effect(number: int) -> dict[str, Any]:
    text = f'effect {number}'
    return {'level': 'error', 'code': 'e', 'text': text, 'mend': ''}


class TestText(base.BaseTestCase):
    def text(self, effects: int, width: int | None = None) -> str:
        cause = {
            'level': 'error',
            'code': 'c',
            'text': 'it is wrong',
            'mend': 'mend it',
            'follows': [effect(number) for number in range(effects)],
        }
        return finding_lines.text([cause], width)

    def test_a_cause_alone(self) -> None:
        self.assertEqual(
            'Findings\n'
            '  ERROR c: it is wrong\n'
            '    What to do: mend it\n'
            '1 error, 0 warnings',
            self.text(0),
        )

    def test_what_follows(self) -> None:
        lines = self.text(2).splitlines()
        self.assertEqual(
            ['    - error e: effect 0', '    - error e: effect 1'], lines[3:5]
        )

    def test_the_rest_is_counted(self) -> None:
        lines = self.text(21).splitlines()
        self.assertEqual(
            ['    - error e: effect 2', '    - and 18 more of the same cause'],
            lines[5:7],
        )
        self.assertEqual('1 error, 0 warnings', lines[-1])

    def test_a_narrow_terminal(self) -> None:
        lines = self.text(9, 24).splitlines()
        self.assertLessEqual(max(map(len, lines)), 24)
