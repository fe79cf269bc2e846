# SPDX-License-Identifier: Apache-2.0
"""Why a plugin cannot be used, as a process with Watcher's code says."""

import pathlib
from importlib import metadata

import fixtures
from oslotest import base

from kronos.strategies import probe

GROUP = 'watcher_goals'


class ProbeTestCase(base.BaseTestCase):
    def entry_point(self, value, name='example_goal'):
        return metadata.EntryPoint(name, value, GROUP)

    def test_one_that_can_be_loaded(self):
        one = self.entry_point('kronos.strategies.goals:Balance')
        self.assertEqual('', probe.why_not(one))

    def test_one_that_cannot(self):
        """Whatever it raises is told with its class."""
        one = self.entry_point('kronos.strategies.nowhere:Balance')
        self.assertEqual(
            "ModuleNotFoundError: No module named 'kronos.strategies.nowhere'",
            probe.why_not(one),
        )
        one = self.entry_point('kronos.strategies.goals:Nothing')
        self.assertStartsWith(probe.why_not(one), 'AttributeError: ')

    def test_another_package_has_its_name(self):
        folder = self.useFixture(fixtures.TempDir()).path
        info = pathlib.Path(folder, 'other-1.0.dist-info')
        info.mkdir()
        (info / 'METADATA').write_text(
            'Metadata-Version: 2.1\nName: other\nVersion: 1.0\n'
        )
        (info / 'entry_points.txt').write_text(
            f'[{GROUP}]\nexample_goal = other.goals:Example\n'
        )
        self.useFixture(fixtures.PythonPathEntry(folder))
        one = self.entry_point('kronos.strategies.goals:Balance')
        self.assertEqual(
            'other has a plugin of this name, too', probe.why_not(one)
        )

    def assertStartsWith(self, text, start):  # noqa: N802
        self.assertEqual(start, text[: len(start)])
