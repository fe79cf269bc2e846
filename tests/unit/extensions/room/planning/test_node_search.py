# SPDX-License-Identifier: Apache-2.0
"""Is room made on NUMA nodes, by moves after which it is really there?"""

from typing import Any

from oslotest import base

from kronos.engine.planning import propose
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    Flavor,
    Snapshot,
    StopReason,
)
from kronos.extensions.room import room
from kronos.extensions.room.extension import MakeRoom
from kronos.extensions.room.planning import texts
from kronos.extensions.room.room import (
    HostSlots,
    Proof,
    RoomOutcome,
    RoomRequest,
)
from tests.builders import numa, policies, rooms

SPREAD = {
    'a1': ('a', [(0, 4)]),
    'a2': ('a', [(1, 4)]),
    'b1': ('b', [(0, 4)]),
    'b2': ('b', [(1, 6)]),
}
"""No node has 8 CPUs free."""


def plan(snapshot: Snapshot, **request: Any) -> AggregateResult:
    asked = Settings(allowed_extra_specs=['hw:*'])
    asked.extension = MakeRoom(RoomRequest(**request))
    asked.extension.prepare(asked)
    planned = propose.plan(
        [snapshot], [policies.policy('cpu')], asked, max_concurrent=2
    )
    (result,) = planned.report.scopes
    return result


def outcome_of(result: AggregateResult) -> RoomOutcome:
    outcome = room.outcome_of(result)
    assert outcome is not None
    return outcome


def scope(*servers: tuple[str, Any], **more: Any) -> Snapshot:
    return numa.scope(dict(servers) or SPREAD, **more)


class TestPlan(base.BaseTestCase):
    def test_number(self) -> None:
        result = plan(scope(), flavors={'p8': 1})
        self.assertEqual([('a1', 'a', 'b')], rooms.moves(result))
        outcome = outcome_of(result)
        self.assertEqual(({'p8': 0}, {'p8': 1}), _slots(outcome))
        self.assertTrue(outcome.on_nodes)
        self.assertEqual(
            'room for 1 server of p8 after 1 migration, ' + texts.ON_NODES,
            result.reason,
        )
        self.assertIs(StopReason.DONE, result.stopped)

    def test_there_already(self) -> None:
        result = plan(scope(), flavors={'p4': 3})
        self.assertTrue(outcome_of(result).is_met)
        self.assertEqual([], result.steps)

    def test_not_possible(self) -> None:
        """The plan is empty, and the report has what is possible."""
        snapshot = scope()
        snapshot.groups = [rooms.apart('a1', 'b1'), rooms.apart('a2', 'b2')]
        result = plan(snapshot, flavors={'p8': 1})
        outcome = outcome_of(result)
        self.assertEqual([], result.steps)
        self.assertEqual({'p8': 0}, outcome.nearest)
        self.assertEqual(({'p8': 0}, {'p8': 0}), _slots(outcome))
        self.assertIn('no order of migrations was found', result.reason)
        self.assertIs(StopReason.STUCK, result.stopped)

    def test_proven_impossible(self) -> None:
        """14 CPUs are free, and a slot needs 8 of them."""
        result = plan(scope(), flavors={'p8': 3})
        outcome = outcome_of(result)
        self.assertIs(Proof.IMPOSSIBLE, outcome.proof)
        self.assertEqual({'p8': 1}, outcome.nearest)
        self.assertEqual(
            'no number of migrations makes room for 3 servers of p8; at most '
            '1 server of p8 can get room',
            result.reason,
        )
        self.assertIs(StopReason.STUCK, result.stopped)

    def test_jointly(self) -> None:
        """Alone each has room after fewer moves than both at once."""
        snapshot = scope(hosts='abc')
        both = {'p8': 2, 'p6': 1}
        for request, number in (({'p8': 2}, 0), ({'p6': 1}, 0), (both, 1)):
            result = plan(snapshot, flavors=request)
            self.assertEqual(number, len(result.steps), request)
        outcome = outcome_of(result)
        self.assertEqual(both, outcome.wanted)
        self.assertIn(
            'room for 2 servers of p8 and 1 server of p6 after 1 migration',
            result.reason,
        )

    def test_jointly_not_possible(self) -> None:
        result = plan(scope(hosts='abc'), flavors={'p8': 3, 'p6': 3})
        outcome = outcome_of(result)
        self.assertEqual([], result.steps)
        self.assertEqual(outcome.before, outcome.after)
        self.assertEqual(['p8', 'p6'], [*outcome.nearest])
        self.assertIn(', but one for ', result.reason)
        self.assertIs(StopReason.STUCK, result.stopped)

    def test_with_a_flavor_without_topology(self) -> None:
        """A server without one moves as well, and takes no nodes."""
        snapshot = numa.scope(SPREAD, pinned=False, hosts='abc')
        numa.forget(snapshot, 'a1', 'b1')
        needs = room.needs_of(snapshot)
        needs.flavors = {
            'plain': Flavor('plain', 'plain', 10, 1000),
            'p8': numa.flavor(8, numa_nodes='1'),
        }
        result = plan(snapshot, flavors={'plain': 1, 'p8': 2})
        self.assertEqual([('b1', 'b', 'c')], rooms.moves(result))

    def test_hosts_of_the_report(self) -> None:
        outcome = outcome_of(plan(scope(), flavors={'p8': 1}))
        self.assertEqual(
            {'p8': [HostSlots('a', 0, 1), HostSlots('b', 0, 0)]},
            outcome.by_host,
        )

    def test_most(self) -> None:
        result = plan(scope(), flavor='p8', max_migrations=1)
        self.assertEqual(1, len(result.steps))
        self.assertEqual(({'p8': 0}, {'p8': 1}), _slots(outcome_of(result)))
        self.assertIn('no number of migrations gives over 1', result.reason)

    def test_apart(self) -> None:
        snapshot = scope(hosts='abc')
        self.assertTrue(
            outcome_of(plan(snapshot, flavors={'p8': 2}, apart=False)).is_met
        )
        result = plan(snapshot, flavors={'p8': 2}, apart=True)
        self.assertEqual(1, len(result.steps))

    def test_who_stays(self) -> None:
        """Locked servers, and those on hosts whose nodes are not known."""
        snapshot = scope()
        snapshot.instances['a1'].locked = True
        result = plan(snapshot, flavors={'p8': 1})
        self.assertEqual([('a2', 'a', 'b')], rooms.moves(result))

    def test_no_proof_to_check(self) -> None:
        asked = Settings(allowed_extra_specs=['hw:*'])
        asked.extension = MakeRoom(RoomRequest({'p8': 1}), claims={})
        asked.extension.prepare(asked)
        planned = propose.plan(
            [scope()], [policies.policy('cpu')], asked, max_concurrent=2
        )
        (result,) = planned.report.scopes
        self.assertEqual(texts.NO_CERTIFICATE, result.reason)
        self.assertEqual([], result.steps)

    def test_server_groups(self) -> None:
        """A move that a group forbids is none of the plan."""
        snapshot = scope()
        snapshot.groups = [rooms.apart('a1', 'b1')]
        result = plan(snapshot, flavors={'p8': 1})
        self.assertEqual([('a2', 'a', 'b')], rooms.moves(result))

    def test_budget(self) -> None:
        """Two servers have to leave a node, and one may."""
        snapshot = scope(
            ('a1', ('a', [(0, 2)])),
            ('a2', ('a', [(0, 2)])),
            ('a3', ('a', [(1, 8)])),
            ('b1', ('b', [(0, 6)])),
            ('b2', ('b', [(1, 6)])),
        )
        request = {'flavors': {'p8': 1}}
        self.assertEqual(2, len(plan(snapshot, **request).steps))
        result = plan(snapshot, max_migrations=1, **request)
        self.assertEqual([], result.steps)


def _slots(outcome: RoomOutcome) -> tuple[dict[str, int], dict[str, int]]:
    return outcome.before, outcome.after
