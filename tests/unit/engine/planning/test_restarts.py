# SPDX-License-Identifier: Apache-2.0
"""What of a scope is started again, and where does it go?"""

from typing import Any

from oslotest import base

from kronos.engine.planning import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import PhaseSelection, PlanMode, Settings
from kronos.engine.types import AggregateResult, ServerGroup, Snapshot
from tests.builders import policies

OFF: dict[str, Any] = {
    'status': 'SHUTOFF',
    'power_state': 4,
    'failure': 'crash',
    'failed_at': 990.0,
    'stopped_by': 'nova',
}
PAUSED = {**OFF, 'status': 'ACTIVE', 'guest': 'off', 'failure': 'io_error'}


def cloud(**instances: dict[str, Any]) -> Snapshot:
    """Four hosts; v and w on a, x on b, and d is empty."""
    places = {'v': 'a', 'w': 'a', 'x': 'b'}
    return policies.snapshot(
        {'cpu': {'a': 0.4, 'b': 0.2, 'c': 0.1, 'd': 0.0}},
        instances=[
            policies.instance(uuid, host, **instances.get(uuid, {}))
            for uuid, host in places.items()
        ],
    )


def plan(snapshot: Snapshot, **fields: Any) -> AggregateResult:
    settings = Settings(**{'restart_servers': True, **fields})
    settings.set_mode(PlanMode.RECOVER, PhaseSelection())
    [found] = propose.propose(
        [snapshot], [policies.policy(threshold=0.9)], settings
    ).scopes
    return found


class RestartsTestCase(base.BaseTestCase):
    def places(self, found: AggregateResult) -> dict[str, str]:
        return {one.instance: one.destination for one in found.restarts}

    def test_only_where_asked_for(self) -> None:
        found = plan(cloud(v=OFF), restart_servers=False)
        self.assertEqual([], found.restarts)
        self.assertIn('v', found.stayed)

    def test_here(self) -> None:
        found = plan(cloud(v=OFF))
        self.assertEqual({'v': 'a'}, self.places(found))
        self.assertNotIn('v', found.stayed)
        self.assertEqual('it failed (crash)', found.restarts[0].reason)

    def test_elsewhere(self) -> None:
        found = plan(cloud(v=PAUSED))
        self.assertEqual({'v': 'd'}, self.places(found))
        self.assertEqual([], found.steps)

    def test_the_rules_of_its_group_hold(self) -> None:
        snapshot = cloud(v=PAUSED)
        group = ServerGroup('g', 'affinity', ['v', 'x'])
        snapshot.groups = [group]
        self.assertEqual({'v': 'b'}, self.places(plan(snapshot)))

    def test_no_host_at_fault(self) -> None:
        """One that crashed on such a host leaves it, too."""
        snapshot = cloud(v=OFF, w=PAUSED)
        snapshot.hosts['a'].faulty = 2.0
        found = plan(snapshot)
        self.assertEqual({'v', 'w'}, set(self.places(found)))
        self.assertNotIn('a', self.places(found).values())
        snapshot = cloud(v=PAUSED)
        snapshot.hosts['d'].faulty = 2.0
        assert snapshot.services is not None
        snapshot.services['d'] = policies.up('d', status='disabled')
        self.assertEqual({'v': 'c'}, self.places(plan(snapshot)))

    def test_nowhere_to_go(self) -> None:
        snapshot = cloud(v=PAUSED)
        assert snapshot.services is not None
        for host in 'bcd':
            snapshot.services[host] = policies.up(host, state='down')
        found = plan(snapshot)
        self.assertEqual({}, self.places(found))
        self.assertIn('it cannot be restarted elsewhere: ', found.stayed['v'])

    def test_its_host_is_down(self) -> None:
        snapshot = cloud(v=OFF)
        assert snapshot.services is not None
        snapshot.services['a'] = policies.up('a', state='down')
        found = plan(snapshot)
        self.assertEqual({}, self.places(found))
        self.assertIs(Code.HOST_DOWN, found.stayed['v'].code)

    def test_unknown_or_too_many(self) -> None:
        for change in (
            {'failures_unknown': 'away'},
            {'exclusions_unknown': 'away'},
            {'services': None},
            {'faulty_elsewhere': ['y', 'z']},
        ):
            snapshot = cloud(v=OFF)
            vars(snapshot).update(change)
            self.assertEqual([], plan(snapshot).restarts)
