# SPDX-License-Identifier: Apache-2.0
"""Is every rule kept, with its reason, and do the masks say the same?"""

import random
from typing import Any

import numpy as np
from oslotest import base

from kronos.engine.arrays import Index
from kronos.engine.constraints import constraint_set
from kronos.engine.constraints.base import Constraint, HeadroomRule, HeldRule
from kronos.engine.constraints.constraint_set import Constraints
from kronos.engine.constraints.server_group import GroupRule
from kronos.engine.phase_rules import SoftGroups, rules_of
from kronos.engine.reasons import Code, Reason
from kronos.engine.scoring import scorecard
from kronos.engine.server_groups import why_not
from kronos.engine.settings import Settings, SoftRules
from kronos.engine.simulation.placement import Placement
from kronos.engine.types import (
    Event,
    Headroom,
    Instance,
    MigrationPhase,
    Origin,
    Outcome,
    ServerGroup,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Mode, Policy
from tests.builders import scopes


def built(
    snapshot: Snapshot, policies: list[Policy], settings: Settings
) -> tuple[Placement, Constraints] | None:
    card = scorecard.score(snapshot, policies, settings)
    if card.blocked is StopReason.TOO_FEW_HOSTS:
        return None
    now = Placement.of(snapshot, Index(snapshot))
    rules = rules_of(MigrationPhase.SPREAD, Mode.SPREAD, settings)
    now.constraints = constraint_set.build(
        snapshot,
        now.index,
        now.host_of,
        card.frozen_hosts,
        settings,
        soft_is_priced=rules.soft_groups is SoftGroups.PRICED,
    )
    return now, now.constraints


def group_rule(snapshot: Snapshot) -> GroupRule:
    """That of all groups of a scope, before any move."""
    now = Placement.of(snapshot, Index(snapshot))
    return GroupRule(snapshot, now.index, now.host_of)


class TestMasks(base.BaseTestCase):
    def _check(
        self, now: Placement, rules: list[Constraint | Constraints]
    ) -> None:
        hosts = range(len(now.index.hosts))
        instances = range(len(now.index.instances))
        for rule in rules:
            said = np.array(
                [
                    [not rule.why_not(one, host) for host in hosts]
                    for one in instances
                ],
                dtype=bool,
            ).reshape(len(instances), len(hosts))
            rows = rule.rows(np.arange(len(instances)))
            self.assertEqual(said.tolist(), rows.tolist())
            for host in hosts:
                self.assertEqual(
                    said[:, host].tolist(), rule.column(host).tolist()
                )

    def test_hosts_that_are_held(self) -> None:
        """A stuck migration binds moves, and no rebuild."""
        found = built(*scopes.chance(2))
        assert found is not None
        now, _ = found
        shape = len(now.index.instances), len(now.index.hosts)
        for refused in ({}, {1: Reason('held', Code.HOST_STUCK_INTO)}):
            rule = HeldRule(*shape, refused)
            self._check(now, [rule])
            self.assertEqual(refused.get(1), rule.why_not(0, 1))
            self.assertFalse(rule.binds_rebuilds)

    def test_masks_are_what_the_rules_say(self) -> None:
        """On scopes by lot, whatever moves were made and taken back."""
        for seed in range(24):
            rng = random.Random(seed)
            found = built(*scopes.chance(seed))
            if found is None:
                continue
            now, rules = found
            every: list[Constraint | Constraints] = [rules, *rules._rules]
            with self.subTest(seed=seed):
                self._check(now, every)
                for _ in range(3 if now.index.instances else 0):
                    one = rng.randrange(len(now.index.instances))
                    source = int(now.host_of[one])
                    others = set(range(len(now.index.hosts))) - {source}
                    destination = rng.choice(sorted(others))
                    with now.trial():
                        now.move(one, destination)
                        self._check(now, every)
                    self._check(now, every)
                    now.move(one, destination)
                    self._check(now, every)

    def test_a_new_rule_is_one_method(self) -> None:
        """O6: the masks of a rule that has none of its own."""

        class Even(Constraint):
            def why_not(self, instance: int, host: int) -> Reason | None:
                if (instance + host) % 2 == 0:
                    return None
                return Reason('odd', Code.NO_ROOM)

        rules = Constraints([Even(3, 2)])
        self.assertEqual(
            [[True, False], [False, True], [True, False]],
            rules.rows(np.arange(3)).tolist(),
        )
        self.assertEqual([False, True, False], rules.column(1).tolist())
        self.assertEqual([(1, 'odd')], rules.refusals(0))


class TestGroups(base.BaseTestCase):
    def test_policies(self) -> None:
        """E2-E6 and Nova's rule for a lone member of hard affinity."""
        table = [
            # policy, there, elsewhere, most, words of the reason
            ('anti-affinity', 0, 3, 1, ''),
            ('anti-affinity', 1, 0, 1, 'has 1 of at most 1 there'),
            ('anti-affinity', 1, 0, 2, ''),
            ('anti-affinity', 2, 0, 2, 'has 2 of at most 2 there'),
            ('soft-anti-affinity', 1, 0, 1, 'has 1 of at most 1 there'),
            ('soft-anti-affinity', 0, 5, 1, ''),
            ('soft-anti-affinity', 1, 0, 2, 'has 1 of at most 1 there'),
            ('affinity', 2, 0, 1, ''),
            ('affinity', 1, 1, 1, 'has 1 other members elsewhere'),
            ('affinity', 0, 2, 1, 'has 2 other members elsewhere'),
            ('affinity', 0, 0, 1, 'Nova asks for one'),
            ('soft-affinity', 0, 0, 1, ''),
            ('soft-affinity', 1, 0, 1, ''),
            ('soft-affinity', 1, 1, 1, 'has 1 other members elsewhere'),
            ('custom', 0, 0, 1, 'not known'),
        ]
        for policy, there, elsewhere, most, words in table:
            group = ServerGroup('g', policy, [], max_server_per_host=most)
            reason = why_not(group, there, elsewhere)
            with self.subTest(policy=policy, reason=reason):
                self.assertEqual(bool(words), bool(reason))
                self.assertIn(words, reason or '')

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
        """E5."""
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
        """H8: any host where another member is, and for this group alone."""
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


class TestSoftRules(base.BaseTestCase):
    def _rules(self, **more: Any) -> Constraints:
        policies = [scopes.policy('cpu')]
        snapshot = scopes.scope(
            policies,
            {'a': [0.3], 'b': [0.1], 'c': [0.0]},
            [scopes.vm(uuid, 'a', [0.1]) for uuid in 'uv']
            + [scopes.vm('w', 'b', [0.1])],
            groups=[
                ServerGroup('g', 'soft-anti-affinity', ['u', 'w']),
                ServerGroup('h', 'soft-affinity', ['u', 'v']),
                ServerGroup('i', 'anti-affinity', ['v', 'w']),
            ],
        )
        found = built(snapshot, policies, Settings(**more))
        assert found is not None
        return found[1]

    def test_veto(self) -> None:
        """E6."""
        rules = self._rules()
        every = np.arange(3)
        self.assertEqual(
            rules.rows(every).tolist(), rules.hard_rows(every).tolist()
        )
        self.assertFalse(rules.rows(every)[0].any())
        self.assertEqual(
            rules.column(1).tolist(), rules.hard_column(1).tolist()
        )
        self.assertEqual([[0] * 3] * 3, rules.soft_breaks_rows(every).tolist())
        self.assertEqual([0] * 3, rules.soft_breaks_column(1).tolist())

    def test_penalty(self) -> None:
        """How many soft rules each move breaks; a hard one stays a veto."""
        rules = self._rules(soft_rules=SoftRules.PENALTY)
        every = np.arange(3)
        self.assertFalse(rules.rows(every)[0].any())
        self.assertEqual(
            [[False, True, True], [False, False, True], [False, False, True]],
            rules.hard_rows(every).tolist(),
        )
        self.assertEqual([True, False, False], rules.hard_column(1).tolist())
        self.assertEqual([0, 2, 1], rules.soft_breaks_rows(every)[0].tolist())
        self.assertEqual([0, 1, 1], rules.soft_breaks_rows(every)[1].tolist())
        self.assertEqual([1, 0, 0], rules.soft_breaks_rows(every)[2].tolist())
        self.assertEqual([2, 1, 0], rules.soft_breaks_column(1).tolist())

    def test_what_is_repaired_is_not_weighed(self) -> None:
        """Else repair and spread would undo each other for ever."""
        rules = self._rules(
            soft_rules=SoftRules.PENALTY, enforce_soft_affinity=True
        )
        self.assertFalse(rules.weighs_soft_rules)
        self.assertFalse(rules.hard_rows(np.array([0])).any())


class TestHeadroom(base.BaseTestCase):
    def _rule(self, room: dict[str, Headroom] | None) -> HeadroomRule:
        snapshot = scopes.scope([], {'a': [], 'b': []}, [])
        snapshot.hosts['b'].headroom = room
        return HeadroomRule(
            [Instance('v', 'a', vcpus=2, memory_mb=1024, disk_gb=10)],
            list(snapshot.hosts.values()),
            ['VCPU', 'MEMORY_MB', 'DISK_GB'],
        )

    def test_reasons(self) -> None:
        full = {
            'VCPU': Headroom(16, 14),
            'MEMORY_MB': Headroom(4096, 3072),
            'DISK_GB': Headroom(100, 90),
        }
        table = [
            ({}, ''),
            ({'VCPU': Headroom(16, 15)}, 'needs 2 VCPU, 1 are free'),
            ({'MEMORY_MB': Headroom(4096, 3073)}, '1023 are free'),
            ({'DISK_GB': Headroom(100, 91)}, 'needs 10 DISK_GB, 9 are free'),
            ({'VCPU': Headroom(16, 20)}, 'needs 2 VCPU, 0 are free'),
        ]
        for more, words in table:
            reason = self._rule({**full, **more}).why_not(0, 1)
            with self.subTest(more=more, reason=reason):
                self.assertEqual(bool(words), bool(reason))
                self.assertIn(words, reason or '')
        del full['DISK_GB']
        self.assertIn('0 are free', self._rule(full).why_not(0, 1))

    def test_unknown_room_is_not_this_rules_matter(self) -> None:
        self.assertIsNone(self._rule(None).why_not(0, 1))

    def test_room_follows_the_plan(self) -> None:
        """What enters takes room at once; what leaves gives it."""
        rule = self._rule(
            {
                'VCPU': Headroom(16, 14),
                'MEMORY_MB': Headroom(4096, 0),
                'DISK_GB': Headroom(100, 0),
            }
        )
        rule.follow(0, 0, 1)
        self.assertIn('0 are free', rule.why_not(0, 1))
        rule.follow(0, 1, 0)
        self.assertIsNone(rule.why_not(0, 1))


class TestHosts(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.policies = [scopes.policy('cpu')]
        self.snapshot = scopes.scope(
            self.policies,
            {'a': [0.8], 'b': [0.2], 'c': [0.2]},
            [scopes.vm('v', 'a', [0.3])],
        )
        self.settings = Settings(min_host_coverage=0.0)

    def _reason(self) -> str | None:
        found = built(self.snapshot, self.policies, self.settings)
        assert found is not None
        return found[1].why_not(0, 1)

    def test_available(self) -> None:
        self.assertIsNone(self._reason())

    def test_services(self) -> None:
        """E11, E14."""
        services = self.snapshot.services or {}
        services['b'].status = 'disabled'
        services['b'].disabled_reason = 'new fan'
        self.assertIn('disabled (new fan)', self._reason())
        services['b'].status, services['b'].forced_down = 'enabled', True
        self.assertIn('forced down', self._reason())
        services['b'].forced_down, services['b'].state = False, None
        self.assertIn('cell is down', self._reason())
        del services['b']
        self.assertIn('no nova-compute service', self._reason())

    def test_unknown_services_close_every_host(self) -> None:
        """E12."""
        self.snapshot.services = None
        self.assertIn(
            'unknown',
            constraint_set.why_closed(self.snapshot, 'b', {}, self.settings),
        )

    def test_a_stale_service_row_closes_without_a_scorecard(self) -> None:
        (self.snapshot.services or {})['b'].state = 'down'
        self.assertIn(
            'nova-compute is down',
            constraint_set.why_closed(self.snapshot, 'b', {}, self.settings),
        )

    def test_closed(self) -> None:
        self.snapshot.hosts['b'].closed = 'available is false'
        self.assertIn('takes nothing: available is false', self._reason())

    def test_require_headroom(self) -> None:
        self.settings.require_headroom = True
        self.assertIn('Placement shows no inventory', self._reason())

    def test_pinned_zone(self) -> None:
        """A hard rule, whatever restrict_to_az says."""
        self.snapshot.instances['v'].pinned_availability_zone = 'az1'
        self.assertIn('an unknown one', self._reason())
        self.snapshot.hosts['b'].availability_zone = 'az2'
        self.assertIn('pinned to availability zone az1', self._reason())
        self.snapshot.hosts['b'].availability_zone = 'az1'
        self.assertIsNone(self._reason())

    def test_restrict_to_az(self) -> None:
        """F3, F4."""
        self.snapshot.hosts['a'].availability_zone = 'az1'
        (self.snapshot.services or {})['b'].zone = 'az2'
        self.assertIsNone(self._reason())
        self.settings.restrict_to_az = True
        self.assertIn('zone az2, not az1', self._reason())
        (self.snapshot.services or {})['b'].zone = 'az1'
        self.assertIsNone(self._reason())
