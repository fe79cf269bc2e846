# SPDX-License-Identifier: Apache-2.0
"""Does a server need the room and the quota of the flavor that it gets?"""

from oslotest import base

from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.extensions.cells.planning import flavors
from tests.builders import cells
from tests.builders.cells import server


class TestFlavors(base.BaseTestCase):
    def test_kept(self) -> None:
        """Without a map, by "same", and outside of a cell drain."""
        one = server('a')
        snapshot = cells.cells([one])
        for settings in (
            Settings(),
            cells.settings(),
            cells.settings(flavor_map={'small': 'same', '*': 'large'}),
        ):
            told = snapshot, settings
            self.assertEqual(one.demand, flavors.demand(one, *told))
            self.assertEqual({}, flavors.more_quota(one, *told))

    def test_changed(self) -> None:
        settings = cells.settings(flavor_map={'*': 'large'})
        one = server('a', vcpus=5)
        snapshot = cells.cells([one])
        self.assertEqual(
            {'VCPU': 4, 'MEMORY_MB': 4096, 'DISK_GB': 10},
            flavors.demand(one, snapshot, settings),
        )
        # Of what becomes smaller nothing is asked.
        self.assertEqual(
            {'ram': 3072}, flavors.more_quota(one, snapshot, settings)
        )

    def test_volume_backed(self) -> None:
        """Its root disk is no local one."""
        settings = cells.settings(flavor_map={'*': 'large'})
        one = server('a', is_volume_backed=True)
        snapshot = cells.cells([one])
        demand = flavors.demand(one, snapshot, settings)
        self.assertEqual(0, demand['DISK_GB'])

    def test_gone(self) -> None:
        """What nobody knows needs what it has: it stays anyway."""
        settings = cells.settings(flavor_map={'*': 'gone'})
        one = server('a')
        snapshot = cells.cells([one])
        self.assertEqual(one.demand, flavors.demand(one, snapshot, settings))


class TestQuotaReasons(base.BaseTestCase):
    def test_what_lacks(self) -> None:
        """What has no limit never does; what is overdrawn has nothing."""
        need = {'cores': 3, 'ram': 1024}
        for left, expected in (
            ({}, []),
            ({'cores': 3, 'ram': 1024}, []),
            ({'cores': 2}, [('cores', 1.0)]),
            ({'cores': -1, 'ram': 0}, [('cores', 4.0), ('ram', 1024.0)]),
        ):
            found = flavors.quota_reasons(need, left)
            self.assertEqual(
                expected, [(one.about, one.value) for one in found]
            )
        [reason] = flavors.quota_reasons({'cores': 1}, {'cores': -7})
        self.assertEqual(
            'its new flavor needs 1 more of the quota cores of its project, '
            '0 are left',
            reason,
        )
        self.assertIs(Code.QUOTA, reason.code)
