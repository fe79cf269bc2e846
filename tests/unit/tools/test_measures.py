# SPDX-License-Identifier: Apache-2.0
"""The measures of the source tree, and the names that it may not have."""

import contextlib
import io
import pathlib
import sys

import fixtures
from oslotest import base

from tests import places

sys.path.insert(0, str(places.TOP / 'tools'))

from measures import __main__ as command  # noqa: E402
from measures import imports, lines, names, walks  # noqa: E402
from measures.sources import Sources  # noqa: E402

LISTED = places.TOP / 'tests' / 'fixtures' / 'forbidden_names.txt'
"""Files that still have forbidden names: the list only shrinks."""
DEEPEST = {'kronos': 26, 'kronos.engine': 22}
"""Modules on the longest chain of imports, by package."""


class TestForbiddenNames(base.BaseTestCase):
    def test_files(self) -> None:
        """A file leaves the list with its last one, and none comes to it."""
        listed = LISTED.read_text().splitlines()
        sources = Sources.read(places.TOP)
        remaining = names.files_with_forbidden(sources)
        new = [
            f'{path}: {names.forbidden_in(module)}'
            for module in sources.modules.values()
            if (path := str(module.path.relative_to(places.TOP)))
            in set(remaining) - set(listed)
        ]
        self.assertEqual([], new, 'Use the noun: instance, message, result.')
        clean = sorted(set(listed) - set(remaining))
        self.assertEqual([], clean, f'Take these off {LISTED.name}.')
        self.assertEqual(sorted(set(listed)), listed)


class TestDepth(base.BaseTestCase):
    def test_chains_stay_short(self) -> None:
        chains = imports.graph(Sources.read(places.TOP), for_types=False)
        for package, most in DEEPEST.items():
            depth = imports.depth(chains, package)
            self.assertLessEqual(depth, most, package)


class TestMeasures(base.BaseTestCase):
    """Of a tree of a few lines."""

    def sources(self, **modules: str) -> Sources:
        """:param modules: text by dotted name below ``kronos``"""
        top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name, text in modules.items():
            path = top / 'kronos' / f'{name.replace("__", "/")}.py'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Sources.read(top)

    def test_depth(self) -> None:
        graph = imports.graph(
            self.sources(
                cmd='def f():\n    from kronos.engine import plan\n',
                engine__plan='from kronos.engine.types import Host\n',
                engine__types='class Host: ...\n',
            )
        )
        self.assertEqual({'kronos.engine.types'}, graph['kronos.engine.plan'])
        self.assertEqual(3, imports.depth(graph, 'kronos'))
        self.assertEqual(2, imports.depth(graph, 'kronos.engine'))

    def test_depth_without_imports_for_types(self) -> None:
        """Two modules may know each other's types."""
        sources = self.sources(
            engine__plan='from kronos.engine import moves\n',
            engine__moves='if TYPE_CHECKING:\n'
            '    from kronos.engine.plan import Plan\n',
        )
        known = imports.graph(sources)
        self.assertEqual({'kronos.engine.plan'}, known['kronos.engine.moves'])
        loaded = imports.graph(sources, for_types=False)
        self.assertEqual(2, imports.depth(loaded, 'kronos'))

    def test_arrows(self) -> None:
        """The trunk's into a feature; not the feature's own."""
        graph = imports.graph(
            self.sources(
                recordings__store='from kronos.recordings import cell_rows\n',
                recordings__cell_rows='',
                extensions__cells='import kronos.recordings.cell_rows\n',
                clients__nova__cell_listings='',
                snapshots__cloud='import kronos.clients.nova.cell_listings\n',
                extensions__recovery__search='import kronos.snapshots.cloud\n',
                cmd='import kronos.extensions.recovery.search\n',
            )
        )
        self.assertEqual(
            [('kronos.recordings.store', 'kronos.recordings.cell_rows')],
            imports.arrows_into(graph, 'cells'),
        )
        self.assertEqual(
            [('kronos.cmd', 'kronos.extensions.recovery.search')],
            imports.arrows_into(graph, 'recovery'),
        )

    def test_names(self) -> None:
        sources = self.sources(
            engine__plan='class Move:\n    at: float\n    host = "a"\n',
            engine__moves='class Move: ...\nfor one in ():\n    found = one\n',
            cmd='def f(told): ...\n',
        )
        self.assertEqual(['Move'], names.classes_of_several_modules(sources))
        self.assertEqual(
            {'kronos.engine': '75.0 %', 'all': '75.0 %'},
            {name: str(row) for name, row in names.shares(sources).items()},
        )
        self.assertEqual(
            ['kronos/cmd.py', 'kronos/engine/moves.py'],
            names.files_with_forbidden(sources),
        )

    def test_lines(self) -> None:
        sources = self.sources(a='1\n2\n', b='3\n')
        (sources.top / 'doc' / 'source' / 'contributor').mkdir(parents=True)
        page = sources.top / 'doc' / 'source' / 'contributor' / 'words.rst'
        page.write_text('Words\n=====\n')
        (sources.top / 'README.rst').write_text('Kronos\n')
        self.assertEqual(3, lines.product(sources))
        self.assertEqual(3, lines.documents(sources.top))

    def test_command(self) -> None:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            self.assertEqual(0, command.main(['--only', 'imports']))
            self.assertEqual(0, command.main(['--forbidden']))
        self.assertIn('import depth: kronos.engine', output.getvalue())
        self.assertIn(LISTED.read_text(), output.getvalue())


class TestWalks(base.BaseTestCase):
    TEST = (
        'tests.unit.recordings.test_examples.TestExamples.'
        'test_every_example_is_told_of'
    )

    def files(self, first: str = '', last: str = '') -> list[str]:
        walk = walks.Walk('walk', self.TEST, first, last)
        return walks.files([walk], Sources.read(places.TOP))['walk']

    def test_whole(self) -> None:
        self.assertEqual(['kronos/recordings/examples.py'], self.files())

    def test_part(self) -> None:
        path = 'kronos/recordings/examples.py'
        self.assertEqual([path], self.files(f'{path}:listed', f'{path}:_home'))

    def test_it_never_begins(self) -> None:
        self.assertRaises(walks.WalkError, self.files, 'kronos/osc.py:run')

    def test_its_test_is_gone(self) -> None:
        self.TEST += '_well'
        error = self.assertRaises(walks.WalkError, self.files)
        self.assertIn('test_every_example_is_told_of_well', str(error))

    def test_the_code_has_all_of_them(self) -> None:
        """Whoever renames a function has its walk begin elsewhere."""
        sources = Sources.read(places.TOP)
        for walk in walks.WALKS:
            for place in filter(None, (walk.first, walk.last)):
                path, _, function = place.partition(':')
                text = (sources.top / path).read_text()
                self.assertIn(f'def {function}(', text, walk.name)
