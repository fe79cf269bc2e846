# SPDX-License-Identifier: Apache-2.0
"""Are the options of extensions found, and unlike all others?"""

from oslotest import base

from kronos.engine.settings import PlainSettings
from kronos.extensions import registry
from kronos.options import extensions
from kronos.options.row import rows


class TestClasses(base.BaseTestCase):
    def test_of_own_extensions(self) -> None:
        rooms = {
            kind.__module__.split('.')[2] for kind in extensions.classes()
        }
        self.assertLessEqual(rooms, {*registry.OWN})

    def test_no_option_and_no_field_is_there_twice(self) -> None:
        """They share a group, and the keys of recordings and reports."""
        every = [
            row
            for kind in (PlainSettings, *extensions.classes())
            for row in rows(kind)
        ]
        for values in (
            [row.name for row in every],
            [row.field for row in every],
        ):
            self.assertEqual(sorted({*values}), sorted(values))
