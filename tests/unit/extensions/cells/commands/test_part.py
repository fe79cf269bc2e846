# SPDX-License-Identifier: Apache-2.0
"""Do commands show what emptying a cell depends on, where they are asked?"""

import argparse

from oslotest import base

from kronos.cmd.checks.cloud import Apis
from kronos.cmd.checks.findings import Findings
from kronos.extensions.cells.commands.part import CellCommands

NEED = {
    'what': 'microversion 2.56',
    'value': 'no',
    'where': 'Nova',
    'is_good': False,
}
HOST = {
    'host': 'o1',
    'cells': ['old'],
    'told_by': ['aggregate a'],
    'zone': '',
    'takes_servers': True,
}


class TestCellCommands(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.part = CellCommands()

    def parsed(self, *arguments: str) -> argparse.Namespace:
        parser = argparse.ArgumentParser()
        self.part.add_arguments(parser)
        return parser.parse_args(arguments)

    def test_files_without_cells(self) -> None:
        for option in ('--cell-config', '--nova-policy'):
            fault = self.part.misuse(self.parsed(option, __file__))
            self.assertIn('require --cells', fault)
            parsed = self.parsed('--cells', option, __file__)
            self.assertEqual('', self.part.misuse(parsed))

    def test_nothing_is_checked_unasked(self) -> None:
        found = self.part.check(self.parsed(), None, None, Apis(), Findings())
        self.assertEqual({}, found)

    def test_tables(self) -> None:
        self.assertEqual([], self.part.tables({}, None))
        row = {'source': 'metadata', 'hosts': [HOST], 'needs': [NEED]}
        hosts, needs = self.part.tables({'cells': row}, None)
        self.assertIn('by cell_source = metadata', hosts)
        self.assertIn('o1', hosts)
        self.assertRegex(needs, r'microversion 2.56 +no +Nova +no')
