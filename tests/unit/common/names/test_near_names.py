# SPDX-License-Identifier: Apache-2.0
"""Which names are proposed for one that nothing has?"""

import ast
import difflib
import pathlib

import fixtures
from oslotest import base

import kronos
from kronos.common.names import near_names


class TestNear(base.BaseTestCase):
    def test_the_nearest(self) -> None:
        for name, names, alike in (
            ('flavour', ['project', 'flavor'], ['flavor']),
            ('GPU', ['gpu', 'gold'], ['gpu']),
            ('cmp3', ['CMP03.example.org', 'Cmp03'], ['Cmp03']),
            ('x', ['project', 'flavor'], []),
            (
                'a1',
                ['a2', 'A1.rack7.dc3.example.org'],
                ['A1.rack7.dc3.example.org'],
            ),
            ('a1.rack7.dc3.example.org', ['a2', 'a1'], ['a1']),
            ('', ['project', ''], []),
            ('x' * 101, ['x' * 100], []),
            ('x' * 100, ['x' * 101], []),
        ):
            self.assertEqual(alike, near_names.near(name, names), name)

    def test_as_near_as_the_nearest(self) -> None:
        """What is further off is not proposed beside it."""
        names = ['kronos_spread', 'kronos_pack', 'kronos_recover']
        self.assertEqual(
            ['kronos_spread'], near_names.near('kronos_spred', names, 3)
        )
        self.assertEqual(
            ['cmp3', 'cmp2'], near_names.near('cmp4', ['cmp2', 'cmp3'], 3)
        )

    def test_bounded(self) -> None:
        """However many there are, so many characters are compared."""
        compared: list[int] = []

        def close(word: str, names: list[str], *_: object) -> list[str]:
            compared.append(sum(map(len, names)))
            return []

        self.useFixture(
            fixtures.MonkeyPatch('difflib.get_close_matches', close)
        )
        near_names.near('host', (f'host{n:096d}' for n in range(10**4)))
        self.assertEqual([near_names.MOST], compared)


class TestHints(base.BaseTestCase):
    def test_a_question(self) -> None:
        for names, text in (
            ([], ''),
            (['a'], 'did you mean a?'),
            (['a', 'b'], 'did you mean a or b?'),
            (['a', 'b', 'c'], 'did you mean a, b or c?'),
        ):
            self.assertEqual(text, near_names.question(names))

    def test_fields(self) -> None:
        names = ['project', 'flavor']
        self.assertEqual(
            'did you mean flavor?', near_names.of_fields('flavour', names)
        )
        self.assertEqual(
            'known: project, flavor', near_names.of_fields('x', names)
        )

    def test_names_of_a_cloud(self) -> None:
        names = [f'cmp{number}' for number in range(30)]
        self.assertEqual(
            'did you mean cmp3?', near_names.of_cloud('cmp33', names)
        )
        self.assertEqual(
            'did you mean cmp9, cmp8 or cmp7?',
            near_names.of_cloud('cmp', names[:10]),
        )
        self.assertEqual(
            f'known: {", ".join(names[:20])} and 10 more',
            near_names.of_cloud('gpu', names),
        )
        self.assertEqual('known: none', near_names.of_cloud('gpu', ['']))

    def test_names_that_steer_terminals(self) -> None:
        self.assertEqual(
            'did you mean go?ld?', near_names.of_cloud('gold', ['go\x1bld'])
        )
        self.assertEqual(
            'known: ?[2J', near_names.of_cloud('gold', ['\x1b[2J'])
        )
        self.assertEqual(
            f'known: {"x" * 100}', near_names.of_cloud('gold', ['x' * 999])
        )


class TestOnePlace(base.BaseTestCase):
    def test_nothing_else_compares_names(self) -> None:
        """So that all of them are bounded, and asked for in one way."""
        folder = pathlib.Path(kronos.__file__).parent
        users = [
            file.name
            for file in folder.rglob('*.py')
            for node in ast.walk(ast.parse(file.read_text()))
            if isinstance(node, ast.Import)
            and any(alias.name == difflib.__name__ for alias in node.names)
        ]
        self.assertEqual(['near_names.py'], users)
