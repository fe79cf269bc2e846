# SPDX-License-Identifier: Apache-2.0
"""Does nothing go to a host that stuck migrations hold?"""

from oslotest import base

from kronos.engine import edits
from kronos.engine.constraints.stuck_destination import StuckDestination
from kronos.engine.eligibility.cooldown import remember
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Event, Origin, Outcome, Snapshot
from tests.builders import constraints, scopes

NOW = 1_000_000.0


class TestStuckDestination(base.BaseTestCase):
    def test_hosts_that_are_held(self) -> None:
        """A stuck migration binds moves, and no rebuild."""
        found = constraints.built(*scopes.chance(2))
        assert found is not None
        now, _ = found
        shape = len(now.index.instances), len(now.index.hosts)
        for refused in ({}, {1: Reason('held', Code.HOST_STUCK_INTO)}):
            rule = StuckDestination(*shape, refused)
            said = constraints.said(rule, shape).tolist()
            for mask in constraints.masked(rule, shape):
                self.assertEqual(said, mask.tolist())
            self.assertEqual(refused.get(1), rule.why_not(0, 1))
            self.assertFalse(rule.binds_rebuilds)

    def _scope(self) -> Snapshot:
        """Two migrations into b are stuck; one of them out of a."""
        snapshot = scopes.scope(
            [],
            {'a': [], 'b': [], 'c': []},
            [scopes.vm(uuid, 'a', []) for uuid in 'uv']
            + [scopes.vm('w', 'c', [])],
        )
        snapshot.taken_at = NOW
        snapshot.events = [
            Event(uuid, source, 'b', Outcome.UNDER_WAY, 0.0, Origin.NOVA)
            for uuid, source in (('u', 'a'), ('w', 'c'))
        ]
        return snapshot

    def _built(self, snapshot: Snapshot) -> StuckDestination | None:
        cooldowns = remember(snapshot, Settings())
        return StuckDestination.build(
            constraints.given(snapshot, cooldowns=cooldowns)
        )

    def test_relaxation(self) -> None:
        """That which holds the source, too, is a reason of its own."""
        snapshot = self._scope()
        constraint = self._built(snapshot)
        assert constraint is not None
        reason = constraint.why_not(1, 1)
        assert reason is not None
        self.assertIn(reason.code, StuckDestination.codes)
        self.assertIsNone(constraint.why_not(1, 2))
        pair = edits.Pair('v', 'a', 'b')
        case = constraints.relaxed(
            StuckDestination, snapshot, Settings(), reason, pair
        )
        self.assertEqual(snapshot.events[:1], case.snapshot.events)
        self.assertIsNone(self._built(case.snapshot))

    def test_its_own_migration_is_another_reason(self) -> None:
        snapshot = self._scope()
        constraint = self._built(snapshot)
        assert constraint is not None
        reason = constraint.why_not(2, 1)
        assert reason is not None
        pair = edits.Pair('w', 'c', 'b')
        case = constraints.relaxed(
            StuckDestination, snapshot, Settings(), reason, pair
        )
        self.assertEqual(snapshot.events[1:], case.snapshot.events)

    def test_nothing_is_held(self) -> None:
        snapshot = self._scope()
        snapshot.events = []
        self.assertIsNone(self._built(snapshot))
