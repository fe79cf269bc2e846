# SPDX-License-Identifier: Apache-2.0
"""Is the option numa_cells understood, and a bad value explained?"""

from oslotest import base

from kronos.options import numa_cells
from kronos.options.numa_cells import NumaCells

LINE = 'pinned: nodes=2, cpus=44, memory_mb=184388'


class TestParsed(base.BaseTestCase):
    def test_line(self) -> None:
        cells = NumaCells(2, 44, 184388)
        for line, name, expected in (
            (LINE, 'pinned', cells),
            (' a:b :memory_mb=184388,cpus=44,nodes=2', 'a:b', cells),
            (
                f'{LINE}, packing=true',
                'pinned',
                NumaCells(2, 44, 184388, True),
            ),
            (f'{LINE}, packing=False', 'pinned', cells),
        ):
            self.assertEqual((name, expected), numa_cells.parsed(line))

    def test_bad(self) -> None:
        for line, text in (
            ('nodes=2, cpus=44, memory_mb=1', 'it must be AGGREGATE: nodes='),
            (': nodes=2, cpus=44, memory_mb=1', 'it must be AGGREGATE'),
            ('a: nodes=2, cpus=44', 'it must be AGGREGATE'),
            (f'{LINE}, cpus=44', 'it must be AGGREGATE'),
            (f'{LINE}, pages=3', 'it must be AGGREGATE'),
            (f'{LINE}, packing=maybe', 'it must be AGGREGATE'),
            ('a: nodes=two, cpus=4, memory_mb=1', 'nodes must be a whole'),
            ('a: nodes=17, cpus=4, memory_mb=1', 'number from 1 to 16'),
            ('a: nodes=2, cpus=0, memory_mb=1', 'cpus must be a whole'),
        ):
            error = self.assertRaises(ValueError, numa_cells.parsed, line)
            self.assertIn(text, str(error))
            self.assertIn(line[:20], str(error))

    def test_by_aggregate(self) -> None:
        lines = [LINE, 'b: nodes=1, cpus=4, memory_mb=9']
        self.assertEqual({'pinned', 'b'}, {*numa_cells.by_aggregate(lines)})
        error = self.assertRaises(
            ValueError, numa_cells.by_aggregate, [LINE, LINE]
        )
        self.assertEqual("aggregate 'pinned' has two lines", str(error))
