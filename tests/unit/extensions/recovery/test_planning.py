# SPDX-License-Identifier: Apache-2.0
"""What of a scope is started again, and where does it go?"""

from typing import Any

from oslotest import base

from kronos.engine.planning import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import PhaseSelection, PlanMode, Settings
from kronos.engine.types import (
    AggregateResult,
    PastRestart,
    ScopeWindow,
    ServerGroup,
    Snapshot,
    StopReason,
)
from kronos.extensions.recovery import outcome
from kronos.extensions.recovery.extension import RECOVERY
from kronos.extensions.recovery.failures import NAME, Failures
from kronos.extensions.recovery.options import RecoveryOptions
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
    settings = Settings()
    settings.set_options(
        RecoveryOptions(**{'restart_servers': True, **fields})
    )
    settings.set_mode(PlanMode.RECOVER, PhaseSelection(extension=RECOVERY))
    [found] = propose.propose(
        [snapshot], [policies.policy(threshold=0.9)], settings
    ).scopes
    return found


class RestartsTestCase(base.BaseTestCase):
    def places(self, found: AggregateResult) -> dict[str, str]:
        return {
            one.instance: one.destination for one in outcome.of(found).restarts
        }

    def test_only_where_asked_for(self) -> None:
        found = plan(cloud(v=OFF), restart_servers=False)
        self.assertEqual([], outcome.of(found).restarts)
        self.assertIn('v', found.stayed)

    def test_here(self) -> None:
        found = plan(cloud(v=OFF))
        self.assertEqual({'v': 'a'}, self.places(found))
        self.assertNotIn('v', found.stayed)
        self.assertEqual(
            'it failed (crash)', outcome.of(found).restarts[0].reason
        )

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

    def test_closed_window(self) -> None:
        """Nothing is repaired in it, unless the strategy is exempt."""
        for window, stopped in (
            (ScopeWindow(False, 'tonight'), StopReason.WINDOW),
            (ScopeWindow(False, fault='?'), StopReason.WINDOW_UNUSABLE),
            (ScopeWindow(True, most_moves=0), StopReason.WINDOW_TOO_SHORT),
            (ScopeWindow(True), None),
            (ScopeWindow(False, is_exempt=True), None),
            (ScopeWindow(False, fault='?', is_exempt=True), None),
        ):
            snapshot = cloud(w=OFF)
            snapshot.hosts['a'].faulty = 2.0
            snapshot.window = window
            found = plan(snapshot)
            if stopped is None:
                self.assertEqual({'w'}, {*self.places(found)}, window)
                self.assertEqual(['v'], [s.instance for s in found.steps])
                self.assertEqual(['a'], [c.host for c in found.closings])
                continue
            self.assertIs(stopped, found.stopped)
            self.assertEqual({}, self.places(found), window)
            self.assertEqual([], found.steps + found.closings)

    def test_its_host_is_down(self) -> None:
        snapshot = cloud(v=OFF)
        assert snapshot.services is not None
        snapshot.services['a'] = policies.up('a', state='down')
        found = plan(snapshot)
        self.assertEqual({}, self.places(found))
        self.assertIs(Code.HOST_DOWN, found.stayed['v'].code)

    def test_unknown_or_too_many(self) -> None:
        for change in (
            {'beside': {NAME: Failures('away')}},
            {'exclusions_unknown': 'away'},
            {'services': None},
            {'beside': {NAME: Failures(elsewhere=['y', 'z'])}},
        ):
            snapshot = cloud(v=OFF)
            vars(snapshot).update(change)
            self.assertEqual([], outcome.of(plan(snapshot)).restarts)

    def left_off(self, *restarts: PastRestart) -> dict[str, Any]:
        """By Kronos, which stopped it."""
        return {
            **OFF,
            'failure': '',
            'stopped_by': 'kronos',
            'restarts': list(restarts),
        }

    def test_three_tries_on_three_hosts(self) -> None:
        """Nova gives up to start it, wherever it is."""
        rows: list[PastRestart] = []
        host, hosts = 'a', []
        for number in range(3):
            there = host
            if rows:
                snapshot = cloud(v=self.left_off(*rows))
                snapshot.instances['v'].host = host
                found = plan(snapshot)
                there = self.places(found)['v']
            hosts.append(there)
            rows.append(
                PastRestart(
                    900.0 + number,
                    'FAILED',
                    True,
                    'req-1',
                    source=host,
                    destination=there,
                )
            )
            host = there
        self.assertEqual(['a', 'd', 'b'], hosts)

    def test_a_move_that_failed_goes_to_another_host(self) -> None:
        row = PastRestart(
            950.0, 'FAILED', True, 'req-1', source='a', destination='d'
        )
        found = plan(cloud(v=self.left_off(row)))
        self.assertEqual({'v': 'c'}, self.places(found))
        found = plan(cloud(v={**PAUSED, 'restarts': [row]}))
        self.assertEqual({'v': 'c'}, self.places(found))

    def test_rather_where_it_is_than_off(self) -> None:
        """What Kronos has stopped it also starts."""
        row = PastRestart(950.0, 'FAILED', True, 'req-1', source='a')
        snapshot = cloud(v=self.left_off(row))
        assert snapshot.services is not None
        for host in 'bcd':
            snapshot.services[host] = policies.up(host, state='down')
        found = plan(snapshot)
        self.assertEqual({'v': 'a'}, self.places(found))
        self.assertEqual('req-1', outcome.of(found).restarts[0].stopped)

    def test_each_avoids_its_own(self) -> None:
        """And knows of the room that the others take."""
        rows = {
            uuid: PastRestart(
                950.0, 'FAILED', True, 'r', source='a', destination=there
            )
            for uuid, there in (('v', 'd'), ('w', 'c'))
        }
        snapshot = cloud(
            **{uuid: self.left_off(row) for uuid, row in rows.items()}
        )
        found = self.places(plan(snapshot))
        self.assertNotIn(found['v'], ('a', 'd'))
        self.assertNotIn(found['w'], ('a', 'c'))
