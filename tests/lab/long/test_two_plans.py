# SPDX-License-Identifier: Apache-2.0
"""Two appliers carry out two plans at once, within every limit."""

from typing import Any, ClassVar

from tests.lab import base, moves, sampling
from tests.lab.appliers import TwoAppliersTestCase

BUSY, CALM = 0.9, 0.1
HERE = {
    'cmp1': ('evacuated', 4, CALM),
    'cmp3': ('spread', 8, BUSY),
}
IN_SCOPE = 3


class TestTwoAppliers(TwoAppliersTestCase):
    options: ClassVar = {
        'drain_may_exceed_threshold': True,
        'max_concurrent_migrations': IN_SCOPE,
    }

    def test_two_plans(self):
        """What one of them does, the other one counts.

        So do both with a migration made by hand.
        """
        together = self.cloud.group('apart', 'anti-affinity')
        wanted = [
            base.Wanted(f'{name}-{n}', host, cores, 400, flavor='lab.small')
            for host, (name, number, cores) in HERE.items()
            for n in range(number)
        ]
        members = [
            base.Wanted(
                f'apart-{host}', host, CALM, 400, 'lab.small', together
            )
            for host in ('cmp1', 'cmp2', 'cmp3')
        ]
        uuids = self.boot([*wanted, *members])
        plans = [
            self.audited('aggregates=alpha max_migrations=8', '--force')[1],
            self.audited(
                'aggregates=alpha hosts=cmp1', '--force', 'kronos_evacuate'
            )[1],
        ]
        goals = self.goals(plans)
        uuids['hand'] = self.cloud.boot('hand', 'cmp2', cpu=CALM)['id']
        self.cloud.set_migrations({'default': moves.HELD})
        group = [uuids[one.name] for one in members]
        with sampling.Sampler(base.ALPHA, group) as sampler:
            self.by_hand(uuids['hand'], 'cmp9')
            for plan in plans:
                self.start(plan)
            self.wait(
                lambda: sampler.most['all'] >= IN_SCOPE,
                'as many moves at a time as may be',
            )
            self.cloud.set_migrations(
                {'default': {'seconds': 3}, 'hand': moves.HELD}
            )
            self.wait(
                lambda: len(self.migrations(status='completed')) >= 4,
                'some moves beside the one by hand',
            )
            self.cloud.set_migrations({'default': {'seconds': 3}})
            for plan in plans:
                self.carried_out(self.executed(plan))
        self.assertEqual(IN_SCOPE, sampler.most['all'])
        self.assertEqual(sampling.OUT_OF_HOST, sampler.most['out'])
        self.assertLessEqual(sampler.most['into'], sampling.INTO_HOST)
        self.assertEqual(set(), sampler.together)
        self.assertEqual(2, len({self.applier(plan) for plan in plans}))
        self.assertEqual(len(goals), len(self.orders()))
        placed = {one.name: one.host for one in (*wanted, *members)}
        self.assert_at_rest({**placed, **goals, 'hand': 'cmp9'})

    def goals(self, plans: list[dict[str, Any]]) -> dict[str, str]:
        """Where the plans take which servers; each is in one of them."""
        told = [
            row['input_parameters']
            for plan in plans
            for row in self.actions(plan)
        ]
        found = {one['resource_name']: one['destination_node'] for one in told}
        self.assertEqual(len(told), len(found))
        for plan in plans:
            self.assertGreater(len(self.actions(plan)), 3)
        return found

    def by_hand(self, uuid: str, host: str) -> None:
        self.openstack(
            '--os-compute-api-version 2.30 server migrate --live-migration '
            f'--host {host} {uuid}'
        )
        self.wait(
            lambda: self.migrations(instance_uuid=uuid, status='running'),
            'the migration by hand',
        )

    def applier(self, plan: dict[str, Any]) -> str:
        url = f'/v1/action_plans/{plan["uuid"]}'
        return str(self.cloud.watcher(url)['hostname'])
