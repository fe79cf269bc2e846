# SPDX-License-Identifier: Apache-2.0
"""The page on emptying a cell: is what it says so, and can it be typed?"""

import importlib.metadata
import re
import sys
from collections.abc import Iterator
from typing import Any

import jsonschema
from oslo_config import cfg
from oslotest import base
from watcherclient.common import utils

from kronos.conf import opts
from kronos.engine.reasons import Code
from kronos.extensions.cells import cell_parameters
from kronos.extensions.cells.cell_drain import Confirm
from tests import documented, places

EXT = str(places.TOP / 'doc' / 'ext')
if EXT not in sys.path:
    sys.path.insert(0, EXT)

import code_tables  # noqa: E402

PAGE = 'cells.rst'
NOT_HERE = 'resource provider allocation delete'
"""Of a package that no other command needs."""
GROUPS = (
    'openstack.compute.v2',
    'openstack.image.v2',
    'openstack.infra_optim.v1',
)


class PageTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.text = documented.page(PAGE)


class TestAudits(PageTestCase):
    def parameters(self) -> Iterator[dict[str, Any]]:
        """Those of each audit, as the client sends them."""
        for words in documented.typed(PAGE, 'openstack'):
            if 'kronos_cell_drain' in words:
                pairs = [
                    words[at + 1]
                    for at, word in enumerate(words)
                    if word == '-p'
                ]
                yield dict(map(utils.split_and_deserialize, pairs))

    def test_each_is_understood(self) -> None:
        found = []
        for raw in self.parameters():
            jsonschema.Draft4Validator(cell_parameters.schema()).validate(raw)
            found.append(cell_parameters.parse(raw))
        self.assertEqual({'old'}, {one.source for one in found})
        self.assertIn(Confirm.MANUAL, [one.confirm for one in found])
        self.assertIn(
            {'v1.4c16g': 'v2.4c16g', '*': 'same'},
            [one.flavor_map for one in found],
        )

    def test_parameters(self) -> None:
        """Each has a row, with the default that holds."""
        table = documented.section(self.text, 'Create a plan')
        rows = dict(re.findall(r'   \* - ``(\w+)``\n     - (.+)\n', table))
        self.assertEqual({*cell_parameters.schema()['properties']}, {*rows})
        drain = cell_parameters.parse(
            {'source_cell': 'old', 'target_cells': 'new'}
        )
        for name in ('confirm', 'order'):
            self.assertEqual(f'``{getattr(drain, name)}``', rows[name])
        for name in ('include_stopped', 'unpin_az', 'close_source'):
            told = str(getattr(drain, name)).lower()
            self.assertEqual(told, rows[name])


class TestCommands(PageTestCase):
    def test_of_the_client(self) -> None:
        ran = 0
        for words in documented.typed(PAGE, 'openstack'):
            if words[0] == '--os-compute-api-version':
                del words[:2]
            if ' '.join(words).startswith(NOT_HERE):
                continue
            parser, rest = self.parser(words)
            parser.parse_args(rest)  # ends the process if it is wrong
            ran += 1
        self.assertGreater(ran, 10)

    def parser(self, words: list[str]) -> tuple[Any, list[str]]:
        """That of a command, and the words behind its name."""
        points = {
            point.name: point
            for group in GROUPS
            for point in importlib.metadata.entry_points(group=group)
        }
        numbers = range(len(words), 0, -1)
        known = (n for n in numbers if '_'.join(words[:n]) in points)
        number = next(known, 0)
        self.assertGreater(number, 0, f'no command: {words}')
        name = '_'.join(words[:number])
        command = points[name].load()(None, None)
        return command.get_parser(name), words[number:]


class TestReasons(PageTestCase):
    def test_codes(self) -> None:
        text = documented.section(self.text, 'Servers that stay, and why')
        self.assertIn('\n.. reasons-table:: cell_\n', text)
        codes = {code.value for code in Code if code.startswith('cell_')}
        rows = code_tables.reason_rows('cell_')
        self.assertEqual(
            {f'``{code}``' for code in codes}, {row[0] for row in rows}
        )


class TestOptions(PageTestCase):
    def test_defaults(self) -> None:
        """Those that are said behind an option's name."""
        conf = cfg.ConfigOpts()
        opts.register_opts(conf)
        conf([], default_config_files=[], default_config_dirs=[])
        found = re.findall(r'``(\w+)``\s\((\d+)(?: s)?\)', self.text)
        ours = {one: int(n) for one, n in found if one in conf.kronos}
        self.assertEqual(
            {
                name: int(conf.kronos[name])
                for name in (
                    'max_concurrent_cell_moves',
                    'cell_move_timeout',
                    'confirm_timeout',
                    'revert_timeout',
                    'cell_verify_seconds',
                )
            },
            ours,
        )
        query = re.search(r'cell_verify_query = (.+)', self.text)
        assert query is not None
        conf.set_override('cell_verify_query', query[1], opts.KRONOS)
