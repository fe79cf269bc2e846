# SPDX-License-Identifier: Apache-2.0
"""May members be beside each other, as of the moves made so far?"""

import numpy as np
from oslotest import base

from kronos.engine import edits
from kronos.engine.arrays import Index
from kronos.engine.constraints.server_group import (
    HardServerGroups,
    ServerGroupConstraint,
    SoftServerGroups,
)
from kronos.engine.settings import Settings
from kronos.engine.simulation.placement import Placement
from kronos.engine.types import Event, Origin, Outcome, ServerGroup, Snapshot
from tests.builders import constraints, scopes


def group_rule(snapshot: Snapshot) -> ServerGroupConstraint:
    """That of all groups of a scope, before any move."""
    now = Placement.of(snapshot, Index(snapshot))
    return HardServerGroups(snapshot, now.index, now.host_of, snapshot.groups)


class TestServerGroups(base.BaseTestCase):
    def test_an_instance_is_not_in_its_own_way(self) -> None:
        snapshot = scopes.scope(
            [],
            {'a': [], 'b': []},
            [scopes.vm('v', 'a', []), scopes.vm('w', 'b', [])],
            groups=[ServerGroup('g', 'anti-affinity', ['v', 'w'])],
        )
        rule = group_rule(snapshot)
        self.assertIsNone(rule.why_not(0, 0))
        self.assertIn('1 of at most 1', rule.why_not(0, 1))

    def test_members_outside_the_scope_are_ignored(self) -> None:
        """Where they are is not known here."""
        snapshot = scopes.scope(
            [],
            {'a': [], 'b': []},
            [scopes.vm('v', 'a', [])],
            groups=[ServerGroup('g', 'soft-affinity', ['v', 'elsewhere'])],
        )
        rule = group_rule(snapshot)
        self.assertIsNone(rule.why_not(0, 1))

    def test_who_is_under_way_counts_at_both_ends(self) -> None:
        """Once, however many tell of it; and from outside the scope, too."""
        for members in (['v', 'w'], ['v', 'not-in-this-scope']):
            snapshot = scopes.scope(
                [],
                {'a': [], 'b': [], 'c': []},
                [scopes.vm('v', 'a', []), scopes.vm('w', 'b', [])],
                groups=[
                    ServerGroup(
                        'g', 'anti-affinity', members, max_server_per_host=2
                    )
                ],
            )
            for origin in Origin:
                snapshot.events.append(
                    Event(members[1], 'b', 'c', Outcome.UNDER_WAY, 1.0, origin)
                )
            rule = group_rule(snapshot)
            self.assertIsNone(rule.why_not(0, 2))
            snapshot.groups[0].max_server_per_host = 1
            rule = group_rule(snapshot)
            self.assertIn('has 1 of at most 1 there', rule.why_not(0, 2))
            self.assertEqual(members[1] == 'w', bool(rule.why_not(0, 1)))
            snapshot.events[0].outcome = Outcome.MOVED
            snapshot.events[1].outcome = Outcome.FAILED
            rule = group_rule(snapshot)
            self.assertIsNone(rule.why_not(0, 2))

    def test_a_group_under_repair(self) -> None:
        """Any host where another member is, and for this group alone."""
        names = ['u', 'v', 'w']
        snapshot = scopes.scope(
            [],
            {'a': [], 'b': [], 'c': [], 'd': []},
            [
                scopes.vm(uuid, host, [])
                for uuid, host in zip(names, 'abc', strict=True)
            ],
            groups=[ServerGroup('g', 'affinity', names)],
        )
        rule = group_rule(snapshot)
        one = np.array([0])
        self.assertEqual([[False] * 4], rule.rows(one).tolist())
        rule.repairing = 'h'
        self.assertEqual([[False] * 4], rule.rows(one).tolist())
        rule.repairing = 'g'
        self.assertEqual([[False, True, True, False]], rule.rows(one).tolist())
        self.assertEqual([True, False, True], rule.column(1).tolist())

    def test_each_is_about_its_own(self) -> None:
        """The soft ones bind no rebuild; unknown ones are hard."""
        kinds = ('affinity', 'soft-affinity', 'anti-affinity', 'custom')
        snapshot = scopes.scope(
            [],
            {'a': [], 'b': []},
            [scopes.vm(uuid, 'a', []) for uuid in 'uv'],
            groups=[ServerGroup(kind, kind, ['u', 'v']) for kind in kinds],
        )
        given = constraints.given(snapshot)
        hard = HardServerGroups.build(given)
        soft = SoftServerGroups.build(given)
        assert hard is not None and soft is not None
        self.assertTrue(hard.binds_rebuilds)
        self.assertFalse(soft.binds_rebuilds)
        self.assertEqual(
            ['affinity', 'custom'],
            [reason.about for reason in hard.reasons(0, 1)],
        )
        self.assertEqual(
            ['soft-affinity'],
            [reason.about for reason in soft.reasons(0, 1)],
        )
        for reason in (*hard.reasons(0, 1), *soft.reasons(0, 1)):
            kind = type(soft if reason.about.startswith('soft') else hard)
            self.assertIn(reason.code, kind.codes)
            case = constraints.relaxed(
                kind, snapshot, Settings(), reason, edits.Pair('u', 'a', 'b')
            )
            left = {one.uuid for one in case.snapshot.groups}
            self.assertEqual({*kinds} - {reason.about}, left)

    def test_a_scope_without_groups(self) -> None:
        given = constraints.given(
            scopes.scope([], {'a': [], 'b': []}, [scopes.vm('v', 'a', [])])
        )
        self.assertIsNone(HardServerGroups.build(given))
        self.assertIsNone(SoftServerGroups.build(given))
