# SPDX-License-Identifier: Apache-2.0
"""Are entry points read once, and anew where packages are elsewhere?"""

from importlib import metadata
from unittest import mock

from oslotest import base

from kronos.common.plugins import entry_points
from tests.builders import packages


class TestOfGroup(base.BaseTestCase):
    def test_read_once(self) -> None:
        entry_points.of_group('kronos.extensions')
        with mock.patch.object(metadata, 'entry_points') as read:
            points = entry_points.of_group('kronos.extensions')
        self.assertEqual([], read.mock_calls)
        self.assertLessEqual({'cells', 'recovery'}, points.names)

    def test_of_a_package_that_came_later(self) -> None:
        self.assertEqual(set(), entry_points.of_group('kronos.test').names)
        self.useFixture(
            packages.Package(
                'late', 'class Late: pass', {'kronos.test': {'late': 'Late'}}
            )
        )
        self.assertEqual({'late'}, entry_points.of_group('kronos.test').names)
