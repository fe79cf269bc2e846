# SPDX-License-Identifier: Apache-2.0
"""Are the options of extensions found, and unlike all others?"""

from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.engine.settings import PlainSettings
from kronos.options import extensions
from kronos.options.row import rows
from tests.builders import packages


class TestUnusable(base.BaseTestCase):
    def fault(self, attribute: str) -> str:
        self.useFixture(
            packages.Package(
                'rack',
                """
                from dataclasses import dataclass
                from kronos.options import row

                @dataclass
                class Twice:
                    max_closed_hosts: int = row.option(1, 'Hosts.')

                class Plain: pass
                """,
                {'kronos.extensions.options': {'rack': attribute}},
            )
        )
        extensions._read.cache_clear()
        self.addCleanup(extensions._read.cache_clear)
        error = self.assertRaises(
            ConfigurationError, extensions.require_usable
        )
        return str(error)

    def test_none_of_kronos(self) -> None:
        extensions.require_usable()

    def test_no_class(self) -> None:
        self.assertIn('rack of the package rack cannot', self.fault('Other'))

    def test_no_dataclass(self) -> None:
        self.assertIn('rack: ', self.fault('Plain'))

    def test_an_option_of_another(self) -> None:
        text = 'Kronos or another extension has max_closed_hosts, too'
        self.assertIn(text, self.fault('Twice'))


class TestClasses(base.BaseTestCase):
    def test_of_own_extensions(self) -> None:
        rooms = {
            kind.__module__.split('.')[2] for kind in extensions.classes()
        }
        self.assertEqual({'cells', 'recovery'}, rooms)

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
