# SPDX-License-Identifier: Apache-2.0
"""Is it known whether a scope could lose its fullest hosts?"""

from oslotest import base

from kronos.engine.planning.search.bin_packing import BinPacking
from kronos.engine.planning.search.packing import lost_hosts
from kronos.engine.settings import Settings
from tests.builders import packing
from tests.unit.engine.planning.test_pack import CPU, scope, three, vm


class TestLostHosts(base.BaseTestCase):
    def test_none_are_to_be_lost(self) -> None:
        found = packing.packing(three(), [CPU], Settings()).scope
        packed = BinPacking(found.simulation)
        self.assertIsNone(lost_hosts.why_not_safe(found, packed, 0))

    def test_what_would_have_no_place(self) -> None:
        vms = [vm('a', 'h1', [0.5]), vm('b', 'h2', [0.4])]
        snapshot = scope(vms, {'h1': [0.5], 'h2': [0.4]})
        found = packing.packing(snapshot, [CPU], Settings()).scope
        packed = BinPacking(found.simulation)
        self.assertEqual(
            'if the fullest remaining host fails (headroom_hosts is '
            '1), instance a of h1 has no destination',
            lost_hosts.why_not_safe(found, packed, 1),
        )

    def test_all_has_a_place(self) -> None:
        found = packing.packing(three(), [CPU], Settings()).scope
        packed = BinPacking(found.simulation)
        self.assertIsNone(lost_hosts.why_not_safe(found, packed, 1))
        self.assertIsNotNone(lost_hosts.why_not_safe(found, packed, 3))
