# SPDX-License-Identifier: Apache-2.0
"""The site: every page is reached, and what it is made of is whole."""

import re
import sys
import tomllib

from oslotest import base

from kronos.engine.reasons import Code
from kronos.extensions.maintenance.codes import MaintenanceCode
from kronos.policies import loader
from tests import documented, places

SOURCE = places.TOP / 'doc' / 'source'
EXT = str(places.TOP / 'doc' / 'ext')
if EXT not in sys.path:
    sys.path.insert(0, EXT)

import code_tables  # noqa: E402
import drawings  # noqa: E402

CLIENT = 'openstack.kronos.v1'
EXTENDING = SOURCE / 'extending'
MOST_LINES = 80
"""Of an example that is to be pasted."""


def project() -> dict:
    text = (places.TOP / 'pyproject.toml').read_text()
    return tomllib.loads(text)['project']


class TestPages(base.BaseTestCase):
    def test_each_is_in_the_index_once(self) -> None:
        named = []
        for folder in ('', 'contributor/decisions/'):
            text = (SOURCE / folder / 'index.rst').read_text()
            names = re.findall(r'^   ([\w/-]+)$', text, re.MULTILINE)
            named += [f'{folder}{name}' for name in names]
        pages = {
            str(path.relative_to(SOURCE).with_suffix(''))
            for path in SOURCE.rglob('*.rst')
        }
        self.assertEqual(sorted(pages - {'index'}), sorted(named))

    def test_files_that_pages_name_are_there(self) -> None:
        """Sphinx looks at links; these are names in a sentence.

        A part in capitals stands for any.
        """
        for path in documented.files():
            for name in re.findall(
                r'(?<![\w/])(?:doc/source|deploy|etc|tests|tools)/[\w./-]*\w',
                path.read_text(),
            ):
                any_ = re.sub(r'\b[A-Z]{2,}\b', '*', name)
                self.assertTrue([*places.TOP.glob(any_)], (path, name))


class TestCodes(base.BaseTestCase):
    def test_the_documentation_has_them_all(self) -> None:
        """The page prints the codes in order and in their words."""
        text = (SOURCE / 'explaining.rst').read_text()
        self.assertIn('\n.. reasons-table::\n', text)
        self.assertEqual(
            [
                (f'``{code.value}``', code.means, code.remedy)
                for code in (*Code, *MaintenanceCode)
            ],
            list(code_tables.reason_rows()),
        )


class TestCommands(base.BaseTestCase):
    def test_all_are_on_their_page(self) -> None:
        """Those of the openstack client are found by their entry points."""
        text = (SOURCE / 'commands.rst').read_text()
        named = re.findall(
            r'^\.\. autoprogram:: kronos\.cmd\.(\w+):argument_parser\(\)\n'
            r'   :prog: (\S+)$',
            text,
            re.MULTILINE,
        )
        scripts = project()['scripts']
        self.assertEqual(sorted(scripts), sorted(name for _, name in named))
        for module, name in named:
            self.assertEqual(f'kronos.cmd.scripts:{module}', scripts[name])
        self.assertIn(f'.. autoprogram-cliff:: {CLIENT}\n', text)


class TestPlugins(base.BaseTestCase):
    def test_each_group_of_watcher(self) -> None:
        text = (SOURCE / 'plugins.rst').read_text()
        named = re.findall(r'^\.\. plugins:: (\S+)$', text, re.MULTILINE)
        wanted = [
            group
            for group in project()['entry-points']
            if group.startswith('watcher_')
        ]
        self.assertEqual(sorted(wanted), sorted(named))


class TestDrawings(base.BaseTestCase):
    def test_the_rooms_are_those_of_the_package(self) -> None:
        package = places.TOP / 'kronos'
        for name, folder in (
            ('kronos', package),
            ('kronos.engine', package / 'engine'),
            ('kronos.monitor', package / 'monitor'),
        ):
            floors = drawings.layers(name)
            drawn = {room for floor in floors for room in floor}
            for room in drawn:
                found = [folder / room, folder / f'{room}.py']
                self.assertTrue(any(one.exists() for one in found), room)
            figure = drawings.staircase_svg(floors, name)
            self.assertEqual(len(drawn), figure.count('<rect'))

    def test_each_entry_point_is_loaded_by_somebody(self) -> None:
        figure = drawings.hosts_svg(drawings.loaded())
        for group, points in project()['entry-points'].items():
            if group.startswith('watcher_'):
                self.assertNotEqual({}, points)
                for name in points:
                    self.assertIn(f' {name}<', figure)
        self.assertIn(' optimize kronos explain<', figure)
        self.assertIn(' kronos-replay<', figure)


class TestWritten(base.BaseTestCase):
    """Strategy and weigher are tried with Watcher and Nova."""

    def test_each_is_short_and_shown(self) -> None:
        pages = ''.join(
            path.read_text() for path in SOURCE.glob('writing-*.rst')
        )
        shown = {
            (SOURCE / name).resolve()
            for name in re.findall(r'literalinclude:: (\S+)', pages)
        }
        examples = {path for path in EXTENDING.rglob('*.*') if path.is_file()}
        self.assertEqual(
            shown, {one for one in examples if '__pycache__' not in one.parts}
        )
        for path in shown:
            lines = path.read_text().splitlines()
            self.assertLessEqual(len(lines), MOST_LINES, path)

    def test_the_policies_are_right(self) -> None:
        found = loader.load(str(EXTENDING / 'policies.yaml'))
        self.assertEqual(['cpu', 'load'], [one.name for one in found.policies])
