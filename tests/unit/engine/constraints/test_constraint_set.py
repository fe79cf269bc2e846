# SPDX-License-Identifier: Apache-2.0
"""Is every constraint kept, and do the masks say what the reasons say?"""

import random
from typing import Any

import numpy as np
from oslotest import base

from kronos.engine.constraints import constraint_set
from kronos.engine.constraints.base import Constraint
from kronos.engine.constraints.constraint_set import ConstraintSet
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings, SoftRules
from kronos.engine.simulation.placement import Placement
from kronos.engine.types import ServerGroup
from tests.builders import constraints, scopes


class TestMasks(base.BaseTestCase):
    def _check(
        self, now: Placement, rules: list[Constraint | ConstraintSet]
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

    def test_masks_are_what_the_rules_say(self) -> None:
        """On scopes by lot, whatever moves were made and taken back."""
        for seed in range(24):
            rng = random.Random(seed)
            found = constraints.built(*scopes.chance(seed))
            if found is None:
                continue
            now, rules = found
            every: list[Constraint | ConstraintSet] = [
                rules,
                *rules._constraints,
            ]
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


class TestSoftRules(base.BaseTestCase):
    def _rules(self, **more: Any) -> ConstraintSet:
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
        found = constraints.built(snapshot, policies, Settings(**more))
        assert found is not None
        return found[1]

    def test_veto(self) -> None:
        """A soft rule is as strict as a hard one, unless it has a price."""
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


class TestSet(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        policies = [scopes.policy('cpu')]
        self.snapshot = scopes.scope(
            policies,
            {'a': [0.3], 'b': [0.1], 'c': [0.0]},
            [
                scopes.vm(uuid, host, [0.0])
                for uuid, host in zip('uvw', 'abc', strict=True)
            ],
            groups=[ServerGroup('g', 'affinity', ['u', 'v', 'w'])],
        )
        self.settings = Settings()
        found = constraints.built(self.snapshot, policies, self.settings)
        assert found is not None
        self.set = found[1]

    def test_the_first_reason_is_by_their_order(self) -> None:
        self.snapshot.instances['u'].pinned_availability_zone = 'az1'
        self.snapshot.hosts['b'].closed = 'for the test'
        given = constraints.given(self.snapshot)
        codes = [one.code for one in constraint_set.build(given).reasons(0, 1)]
        self.assertEqual([Code.HOST_CLOSED, Code.ZONE_PINNED], codes[:2])

    def test_what_has_no_subject_forbids_nothing(self) -> None:
        """Neither would it be built if it were asked."""
        self.snapshot.groups = []
        given = constraints.given(self.snapshot)
        without = [
            each
            for each in constraint_set.CONSTRAINTS
            if not each.subject(given)
        ]
        self.assertEqual(6, len(without))
        for constraint in without:
            self.assertIsNone(constraint.build(given))

    def test_a_repair_ends(self) -> None:
        """With what is inside, even if that fails."""
        refused = self.set.why_not(0, 1)
        assert refused is not None
        self.assertIs(Code.GROUP_TOGETHER, refused.code)

        def fail() -> None:
            with self.set.repairing('g'):
                self.assertIsNone(self.set.why_not(0, 1))
                raise KeyError

        self.assertRaises(KeyError, fail)
        self.assertEqual(refused, self.set.why_not(0, 1))

    def test_lost_hosts_come_back(self) -> None:
        """Inside, their members may be rebuilt where the last one is."""
        refused = self.set.why_not(0, 2)
        with self.set.without_hosts([0, 1]) as binding:
            self.assertIsNone(binding.why_not(0, 2))
        self.assertIsNotNone(refused)
        self.assertEqual(refused, self.set.why_not(0, 2))

    def test_who_gives_a_code(self) -> None:
        """One class each; both kinds of server groups lift theirs alike."""
        for kind in constraint_set.CONSTRAINTS:
            for code in kind.codes:
                found = constraint_set.constraint_of(code)
                assert found is not None
                self.assertIs(kind.relax, found.relax)
        self.assertIsNone(constraint_set.constraint_of(Code.NO_GAIN))
