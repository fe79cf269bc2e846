# SPDX-License-Identifier: Apache-2.0
"""Broken server groups are repaired by as few moves as it takes."""

from typing import Any

from tests.lab import base
from tests.lab.base import Wanted
from tests.lab.test_spread import pile

CORES, MEMORY_MB = 0.5, 1500


class TestGroups(base.LabTestCase):
    """Of another project than that of Watcher's user."""

    def setUp(self) -> None:
        super().setUp()
        self.tenant = self.lab.cloud_of('tenant')

    def forced(
        self, name: str, policy: str, hosts: list[str], **more: Any
    ) -> dict[str, str]:
        """Members of a group where its policy does not allow them."""
        group = self.tenant.group(name, policy)
        made = self.tenant.boot_all(
            Wanted(f'{name}-{n}', host, CORES, MEMORY_MB, group=group, **more)
            for n, host in enumerate(hosts)
        )
        return {server['name']: server['id'] for server in made}

    def no_checks(self, hosts: list[str]) -> None:
        self.addCleanup(self.lab.check_groups, hosts, True)
        self.lab.check_groups(hosts, False)

    def repaired(self, moves: int) -> set[str]:
        """Let kronos_affinity make so many moves; the servers moved."""
        audit, plan, actions = self.audited(
            'aggregates=alpha', '', 'kronos_affinity'
        )
        self.assertEqual({'affinity'}, self.phases(actions))
        self.assertEqual(moves, len(actions))
        found = self.indicators(plan)
        self.assertEqual(1, found['violations_before'])
        self.assertEqual(0, found['violations_after'])
        self.assertIn('broken server groups 1 -> 0', audit['Status Message'])
        self.assertEqual('SUCCEEDED', self.carried_out(plan)['state'])
        return self.moved(actions)

    def test_hard_groups_are_repaired(self):
        """A pair by one move, a spread-out trio by two."""
        self.no_checks(['cmp1', 'cmp2', 'cmp3'])
        self.forced('apart', 'anti-affinity', ['cmp1', 'cmp1'])
        self.wait_for_metrics()
        [moved] = self.repaired(1)
        self.assertIn(moved, ('apart-0', 'apart-1'))
        where = self.cloud.placement()
        self.assertNotEqual(where['apart-0'], where['apart-1'])

        self.forced('near', 'affinity', ['cmp1', 'cmp2', 'cmp3'])
        self.wait_for_metrics()
        moved_now = self.repaired(2)
        self.assertLess(moved_now, {'near-0', 'near-1', 'near-2'})
        after = self.cloud.placement()
        self.assertEqual(1, len({after[f'near-{n}'] for n in range(3)}), after)
        self.assertNotEqual(after['apart-0'], after['apart-1'])

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
