# SPDX-License-Identifier: Apache-2.0
"""Do the examples show what is said of them?"""

import os
import pathlib
import re
import types

import fixtures
from oslotest import base

from kronos.cmd import explain, replay
from kronos.common.exceptions import ArchiveError
from kronos.recordings import examples, load
from kronos.recordings.replay import ReplayOptions
from kronos.recordings.replay import replay as replayed
from tests import commands, places

TOP = places.TOP
FOLDER = TOP / 'kronos' / 'examples'
MOST_BYTES = 400 * 1024
MOST_OF_A_FILE = 100 * 1024
FORBIDDEN = re.compile(
    r'https?://|127\.0\.0\.1|/(home|root|tmp|work|etc|var|usr)/|[Pp]assw'
    r'|[Ss]ecret|[Tt]oken|localhost|\.lab'
)
"""What tells of the machine on which an example was recorded."""
KNOWN = {
    'uneven': (20, 'budget', 0.4773, 0.0869),
    'drain': (7, 'stuck', 0.5343, 0.4396),
    'groups': (3, 'done', 0.4779, 0.4682),
    'pack': (8, 'packed', 0.6110, 0.7618),
    'cells': (10, 'budget', 0.4658, 0.3160),
    'lab-spread': (13, 'balanced', 0.7263, 0.1011),
    'lab-drain': (6, 'balanced', 0.1759, 0.0563),
    'lab-pack': (12, 'packed', 0.0906, 0.6115),
}
"""Steps, why it stopped, combined imbalance before and after."""


def printed(command: types.ModuleType, *arguments: str) -> tuple[int, str]:
    """Exit status and output."""
    code, out, err = commands.run(command.main, arguments)
    return code, out + err


class TestExamples(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        # Where there is no clone.
        self.folder = self.useFixture(fixtures.TempDir()).path
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def test_every_example_is_told_of(self) -> None:
        here = {one.name for one in FOLDER.iterdir() if one.is_dir()}
        self.assertEqual(here - {'__pycache__'}, set(examples.listed()))
        self.assertEqual(set(KNOWN), set(examples.listed()))

    def test_plans(self) -> None:
        for name, known in KNOWN.items():
            with self.subTest(name=name):
                recording = load.read(f'examples/{name}')
                self.assertEqual([], recording.unknown)
                self.assertEqual([], recording.gathered.warnings)
                plan = replayed(recording, ReplayOptions()).report
                [scope] = plan.scopes
                self.assertEqual(
                    known,
                    (
                        len(plan.steps),
                        scope.stopped.value,
                        round(scope.combined_before, 4),
                        round(scope.combined_after, 4),
                    ),
                )

    def test_explained_and_shown(self) -> None:
        """Every host and the scope, and the page."""
        for name in KNOWN:
            path = f'examples/{name}'
            with self.subTest(name=name):
                code, text = printed(explain, path)
                self.assertEqual(0, code, text)
                host = min(load.read(path).gathered.cloud.hosts)
                code, text = printed(explain, path, '--host', host)
                self.assertEqual((0, True), (code, host in text), text)
                page = os.path.join(self.folder, f'{name}.html')
                code, text = printed(replay, path, '--html', page)
                self.assertEqual(0, code, text)
                html = pathlib.Path(page).read_text()
                self.assertIn(f'Kronos: {name}', html)
                self.assertIn(host, html)

    def test_they_are_small_and_tell_nothing(self) -> None:
        sizes = {}
        for path in FOLDER.rglob('*'):
            if not path.is_file() or '__pycache__' in path.parts:
                continue
            sizes[path] = path.stat().st_size
            text = path.read_text()
            self.assertIsNone(FORBIDDEN.search(text), path)
        self.assertLess(sum(sizes.values()), MOST_BYTES)
        self.assertLess(max(sizes.values()), MOST_OF_A_FILE)

    def test_where_they_are(self) -> None:
        self.assertTrue(FOLDER.samefile(examples.located('examples')))
        self.assertTrue(
            (FOLDER / 'pack').samefile(examples.located('./examples/pack/'))
        )
        for path in ('pack', 'examples/pack/nova', '/examples/pack', '..'):
            self.assertEqual(path, examples.located(path))
        for path in ('examples/nothing', 'examples/..x'):
            error = self.assertRaises(ArchiveError, load.read, path)
            self.assertIn('known: uneven, drain', str(error))
        self.assertEqual('examples/../x', examples.located('examples/../x'))

    def test_what_is_there_comes_first(self) -> None:
        """A directory of one's own is never taken for ours."""
        os.makedirs('examples/pack')
        self.assertEqual('examples/pack', examples.located('examples/pack'))
        error = self.assertRaises(ArchiveError, load.read, 'examples/pack')
        self.assertIn('it is not a recording', str(error))

    def test_commands(self) -> None:
        code, text = printed(replay, '--list-examples')
        self.assertEqual(0, code)
        for name, shown in examples.listed().items():
            self.assertRegex(text, rf'examples/{name} +{re.escape(shown)}\n')
        code, text = printed(replay, 'examples')
        self.assertEqual(0, code)
        self.assertRegex(text, rf'recordings +{len(KNOWN)}\n')
        code, text = printed(replay, 'examples/nothing')
        self.assertEqual(1, code)
        self.assertIn('known: uneven', text)
