# SPDX-License-Identifier: Apache-2.0
"""The commands of nova-manage that the documentation shows are Nova's."""

import inspect
import re

from nova.cmd import manage
from oslotest import base

from tests import documented

PAGE = 'cells.rst'


class TestCommands(base.BaseTestCase):
    def test_each(self) -> None:
        found = documented.typed(PAGE, 'nova-manage')
        self.assertGreater(len(found), 6)
        for category, action, *words in found:
            method = getattr(manage.CATEGORIES[category], action)
            known = {name for names, _ in method.args for name in names}
            given = {one for one in words if one.startswith('--')}
            self.assertLessEqual(given, known, (category, action))
            needed = {
                names[0] for names, more in method.args if more.get('required')
            }
            if given:
                self.assertLessEqual(needed, given, (category, action))

    def test_ends_of_delete_cell(self) -> None:
        text = documented.page(PAGE)
        told = documented.section(text, 'Take a cell out of service')
        source = inspect.getsource(manage.CellV2Commands.delete_cell)
        self.assertEqual(
            {*re.findall(r'return (\d)\n', source)},
            {*re.findall(r'\* - (\d)\n', told)},
        )
