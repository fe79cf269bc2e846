# SPDX-License-Identifier: Apache-2.0
"""Does the table about a host's slots name what lacks, and who may move?"""

from typing import Any

from oslotest import base

from kronos.cmd.replays import slot_tables


def answer(servers: int, **fields: Any) -> dict[str, Any]:
    """Of a host that lacks 2 CPUs; its servers use 4 each."""
    return {
        'scope': 'a',
        'host': 'c1',
        'flavor': 'f4',
        'slots': 0,
        'closed': '',
        'lacking': [
            {'resource': 'VCPU', 'required': 4, 'free': 2, 'missing': 2}
        ],
        'servers': [
            {
                'instance': f'u{number}',
                'instance_name': '',
                'amounts': {'VCPU': 4},
                'reasons': [{'code': 'instance_locked', 'text': 'locked'}]
                * number,
            }
            for number in range(servers)
        ],
        'remedy': '',
        **fields,
    }


class TestTables(base.BaseTestCase):
    def test_lines(self) -> None:
        lines = slot_tables.lines(answer(2, remedy='Enable it.'), None)
        self.assertEqual('Host c1, scope a: 0 slots of f4', lines[0])
        self.assertIn('VCPU      4         2     2', lines)
        self.assertEqual(
            [
                'u0        4     yes',
                'u1        4     no        [instance_locked] locked',
            ],
            [line.rstrip() for line in lines if line.startswith('u')],
        )
        self.assertEqual('Remedy: Enable it.', lines[-1])

    def test_closed(self) -> None:
        lines = slot_tables.lines(answer(0, closed='disabled'), None)
        self.assertEqual('It takes no server: disabled', lines[1])

    def test_many(self) -> None:
        lines = slot_tables.lines(answer(13), None)
        self.assertIn('and 3 more', lines)

    def test_rows(self) -> None:
        [head, first, last] = slot_tables.rows([answer(2)])
        self.assertEqual(slot_tables.HEAD, head)
        self.assertEqual(
            ('a', 'c1', 'f4', 'u0', '', 'VCPU', '4', 'yes', ''), first
        )
        self.assertEqual('[instance_locked] locked', last[-1])
