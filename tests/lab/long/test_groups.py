# SPDX-License-Identifier: Apache-2.0
"""Broken server groups that nothing repairs are told."""

from tests.lab import groups
from tests.lab.test_spread import pile


class TestGroups(groups.GroupsTestCase):
    def test_what_cannot_be_repaired_is_told(self):
        """The rest of the plan goes on."""
        self.no_checks(['cmp1'])
        uuids = self.forced('stuck', 'anti-affinity', ['cmp1', 'cmp1'])
        for uuid in uuids.values():
            self.openstack(f'server lock {uuid}')
        self.boot(pile('cmp1', 6))

        audit, plan, actions = self.audited(
            'aggregates=alpha enforce_hard_affinity=true max_migrations=20'
        )

        warnings = self.report(audit)['warnings']
        self.assertIn('stuck', ' '.join(warnings), warnings)
        self.assertIn('broken server groups 1 -> 1', audit['Status Message'])
        self.assertEqual({'spread'}, self.phases(actions))
        self.assertFalse(self.moved(actions) & set(uuids))
        self.assertEqual('SUCCEEDED', self.carried_out(plan)['state'])
