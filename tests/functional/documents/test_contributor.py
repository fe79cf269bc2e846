# SPDX-License-Identifier: Apache-2.0
"""The pages for contributors say what the code says."""

import ast
import io
import pathlib
import re
import sys
import tokenize
from typing import Any

from oslotest import base

from kronos.engine.phase_rules import SoftGroups, rules_of
from kronos.engine.settings import Settings, SoftRules
from kronos.engine.types import MigrationPhase
from kronos.policies.models import Mode
from tests import places

EXT = str(places.TOP / 'doc' / 'ext')
if EXT not in sys.path:
    sys.path.insert(0, EXT)

import module_list  # noqa: E402

PAGES = places.TOP / 'doc' / 'source' / 'contributor'
PACKAGE = places.TOP / 'kronos'
MOST_FILES = 16
MOST_LINES = 400
"""Of a module."""
LONGER = {'engine/faults': 752, 'engine/reasons': 614}
"""One table, and little beside it."""
MOST_IN_CLASS = 200
"""Lines of a class whose docstring does not say why it is one class."""
MOST_IN_FUNCTION = 40
"""Lines of a function, its docstring aside."""
LISTS = frozenset(
    {
        'cmd/checks/cloud:_nova',
        'cmd/loads/fetching:add_arguments',
        'cmd/record:argument_parser',
        'cmd/what_if:add',
    }
)
"""Longer, since they say one option, field or kind after the other."""
PATH = re.compile(
    r'``((?!https?:)(?:[\w.-]+/)+[\w.-]*'
    r'|[\w-]+\.(?:py|rst|yaml|toml|txt|html))``'
)
"""A path as pages write it; a bare name has the suffix of a file."""
CITED = re.compile(r'(?<![\w.])[A-Z]\d{1,2}(?!\w)')
"""What an id of a requirement looks like."""
WITHOUT_TWIN = frozenset(
    {
        'clients/nova/api',
        'clients/nova/schema',
        'clients/prometheus/response',
        'clients/schema',
        'clients/watcher',
        'cmd/checks/cloud',
        'cmd/checks/files',
        'cmd/checks/metrics',
        'cmd/checks/policies',
        'cmd/checks/scopes',
        'cmd/checks/tables',
        'cmd/checks/watcher',
        'cmd/checks/weigher',
        'cmd/replays/explain_tables',
        'conf/execution',
        'conf/weigher',
        'engine/arrays',
        'engine/eligibility/quarantine',
        'engine/explain/alternatives',
        'engine/explain/blockers',
        'engine/explain/effects',
        'engine/explain/nearest_miss',
        'engine/explain/scenario',
        'engine/explain/verdicts',
        'engine/faults',
        'engine/planning/drain_reasons',
        'engine/planning/group_reasons',
        'engine/planning/search/bin_packing',
        'engine/planning/search/drain_costs',
        'engine/planning/search/drain_moves',
        'engine/planning/search/moves',
        'engine/planning/shared_hosts',
        'engine/planning/stop_reasons',
        'engine/scoring/evaluation',
        'engine/simulation/build',
        'engine/simulation/simulation',
        'engine/types/inventory',
        'engine/types/metrics',
        'engine/types/migrations',
        'engine/types/plan',
        'engine/types/snapshot',
        'recordings/formats/kronos_openstack_schema',
        'reports/html/bars',
        'reports/html/grouping',
        'reports/html/hosts',
        'reports/html/naming',
        'reports/html/overview',
        'reports/html/sankey',
        'reports/html/scale',
        'reports/html/unmoved',
        'reports/html/view',
        'snapshots/watcher_actions',
        'weighers/load',
        'weighers/probe',
    }
)
"""Modules that no test module of the same name tests; it only shrinks."""


def modules() -> dict[str, str]:
    """Name of each module with the first line of its docstring."""
    found = {}
    for path in sorted(PACKAGE.rglob('*.py')):
        if path.name != '__init__.py':
            name = str(path.relative_to(PACKAGE).with_suffix(''))
            text = ast.get_docstring(ast.parse(path.read_text())) or ''
            found[name] = text.partition('\n')[0]
    return found


class TestWords(base.BaseTestCase):
    def test_each_module(self) -> None:
        """It is printed, with what its own first line says."""
        self.assertIn(
            '\n.. modules:: kronos\n', (PAGES / 'words.rst').read_text()
        )
        printed = {
            f'{folder}/{name}': line
            for folder, _, lines in module_list.folders('kronos')
            for name, line in lines.items()
        }
        self.assertEqual(modules(), printed)

    def test_no_first_line_is_a_question_alone(self) -> None:
        """It says what the module is."""
        for name, line in modules().items():
            self.assertRegex(line, r'^[A-Z]', name)
            self.assertNotRegex(
                line, '^(What|Which|How|Why|Who|Where|When|Does|Is|May)', name
            )


class TestArchitecture(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.text = (PAGES / 'architecture.rst').read_text()

    def test_files_are_there(self) -> None:
        """Each path, in the package, the repository, or beside another.

        "``policies.py`` there" is in a folder that the same cell or paragraph
        names before it.
        """
        pages = [PAGES / 'architecture.rst', PAGES / 'reviewing.rst']
        paths = 0
        for page in [*pages, *(PAGES / 'decisions').iterdir()]:
            for block in re.split(r'\n\n|\n *(?:\*|-|#\.) ', page.read_text()):
                folders = [PACKAGE, places.TOP]
                for name in PATH.findall(block):
                    path = _existing(name, folders)
                    self.assertIsNotNone(path, f'{page.name}: {name}')
                    folders += [path, path.parent]
                    paths += 1
        self.assertGreater(paths, 150)

    def test_phases(self) -> None:
        _, _, table = self.text.partition(':name: phases')
        rows = re.findall(r'   \* - ``(\w+)``\n' + r'     - (.+)\n' * 7, table)
        priced = Settings(soft_rules=SoftRules.PENALTY)
        wanted = []
        for phase in MigrationPhase:
            packs = phase in (MigrationPhase.RELIEVE, MigrationPhase.PACK)
            mode = Mode.PACK if packs else Mode.SPREAD
            rules = rules_of(phase, mode, priced)
            who = [
                *(['counting'] if rules.from_counting else []),
                *(['draining'] if rules.from_draining else []),
            ]
            wanted.append(
                (
                    phase.value,
                    ', '.join(who),
                    _yes(rules.ceilings),
                    _yes(rules.return_guard),
                    _yes(rules.spares_moved),
                    _yes(rules.spares_young),
                    _yes(rules.thresholds_object),
                    rules.soft_groups.value,
                )
            )
        self.assertEqual(wanted, rows)
        self.assertEqual({'veto', 'priced'}, {*SoftGroups})


class TestCitations(base.BaseTestCase):
    def test_no_id_of_a_requirement(self) -> None:
        """What matters of it is said in words, in code and tests alike."""
        for room in ('kronos', 'tests', 'tools'):
            for path in (places.TOP / room).rglob('*.py'):
                text = path.read_text()
                if not CITED.search(text):
                    continue
                for token in tokenize.generate_tokens(
                    io.StringIO(text).readline
                ):
                    told = token.string
                    if token.type == tokenize.COMMENT or '"""' in told[:4]:
                        self.assertNotRegex(told, CITED, path)


class TestHouse(base.BaseTestCase):
    def test_folders(self) -> None:
        for folder in {path.parent for path in PACKAGE.rglob('*.py')}:
            files = [
                path
                for path in folder.glob('*.py')
                if path.name != '__init__.py'
            ]
            self.assertLessEqual(len(files), MOST_FILES, folder)

    def test_lengths(self) -> None:
        for path in PACKAGE.rglob('*.py'):
            name = str(path.relative_to(PACKAGE).with_suffix(''))
            lines = len(path.read_text().splitlines())
            self.assertLessEqual(lines, LONGER.get(name, MOST_LINES), path)

    def test_classes(self) -> None:
        """A long one says in its docstring why it is not two."""
        found = []
        for path in PACKAGE.rglob('*.py'):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef):
                    length = (node.end_lineno or 0) - node.lineno + 1
                    told = ast.get_docstring(node) or ''
                    is_told = 'One class, since' in ' '.join(told.split())
                    if length > MOST_IN_CLASS and not is_told:
                        found.append(f'{path}:{node.name} has {length} lines')
        self.assertEqual([], found)

    def test_functions(self) -> None:
        """How long they are, without what their docstrings say."""
        found = set()
        for path in PACKAGE.rglob('*.py'):
            name = path.relative_to(PACKAGE).with_suffix('')
            for node in ast.walk(ast.parse(path.read_text())):
                if (
                    isinstance(node, ast.FunctionDef)
                    and self._lines(node) > MOST_IN_FUNCTION
                ):
                    found.add(f'{name}:{node.name}')
        self.assertEqual(set(LISTS), found)

    @staticmethod
    def _lines(node: ast.FunctionDef) -> int:
        last = node.end_lineno or node.lineno
        docstring = ast.get_docstring(node, clean=False)
        if docstring is None:
            return last - node.lineno + 1
        return last - node.lineno - docstring.count('\n')

    def test_twins(self) -> None:
        """Each module has a test module of its name, where it stands."""
        unit = places.TOP / 'tests' / 'unit'
        missing = set()
        for name in modules():
            path = pathlib.Path(name)
            twins = (unit / path.parent).glob(f'test_{path.name}*.py')
            if not any(twins):
                missing.add(name)
        self.assertEqual(WITHOUT_TWIN, missing)


def _existing(name: str, folders: list[pathlib.Path]) -> Any:
    """The path in the first of the folders that has it; None if none has."""
    paths = (folder / name for folder in folders)
    return next(filter(pathlib.Path.exists, paths), None)


def _yes(value: bool) -> str:
    return 'yes' if value else 'no'
