# SPDX-License-Identifier: Apache-2.0
"""Does each kind of name have a type of its own?"""

import typing

from oslotest import base

from kronos.common.names import name_marks
from kronos.common.names.name_marks import Name


class TestTypes(base.BaseTestCase):
    def test_one_of_each_kind(self) -> None:
        """All of them are strings."""
        found = [
            typing.get_args(value)
            for value in vars(name_marks).values()
            if typing.get_origin(value) is typing.Annotated
        ]
        self.assertEqual([(str, name) for name in Name], found)
