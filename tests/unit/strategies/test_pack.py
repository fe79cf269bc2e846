# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_pack, as it declares itself."""

from oslotest import base

from kronos.engine import types
from kronos.strategies import pack
from tests.unit.strategies import declared
from tests.unit.strategies.outcome.test_status_messages import scope


class PackTestCase(base.BaseTestCase):
    def test_policies_file(self):
        """Its own, where there is one."""
        kronos = declared.kronos(policies_file='both.yaml')
        self.assertEqual('both.yaml', pack.Pack.policies_file(kronos))
        kronos = declared.kronos(
            policies_file='spread.yaml', pack_policies_file='pack.yaml'
        )
        self.assertEqual('pack.yaml', pack.Pack.policies_file(kronos))

    def test_an_audit_chooses_what_comes_first(self):
        found = declared.settings(
            pack.Pack, {'enforce_soft_affinity': True}, keep_hosts=2
        )
        self.assertTrue(found.rebalance and found.enforce_soft_affinity)
        self.assertFalse(found.evacuate or found.enforce_hard_affinity)
        self.assertEqual(2, found.keep_hosts)

    def test_outcome(self):
        one = scope(hosts_in_use_before=3, hosts_in_use_after=1)
        self.assertEqual('hosts in use 3 -> 1', pack.Pack.summary(one))
        self.assertEqual(
            2,
            pack.Pack.indicators(types.CycleReport([one]))['hosts_released'],
        )
