# SPDX-License-Identifier: Apache-2.0
"""Which reasons can be lifted, and what is changed for that?"""

import copy
import dataclasses

from oslotest import base

from kronos.engine import edits
from kronos.engine.constraints import constraint_set
from kronos.engine.eligibility.instances import PIN
from kronos.engine.explain import relaxations
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import (
    EarlierMove,
    Event,
    Origin,
    Outcome,
    PlanningInput,
    Seeds,
)
from kronos.extensions.cells.cell_drain import CellDrain
from kronos.extensions.cells.extension import Cells
from kronos.extensions.recovery.extension import RECOVERY
from tests.builders import scopes

FOR_GOOD = frozenset(
    {
        Code.PLANNED,
        Code.ALREADY_THERE,
        Code.SCOPE_TOO_FEW_HOSTS,
        Code.SCOPE_BALANCED,
        Code.SCOPE_STUCK,
        Code.SCOPE_PACKED,
        Code.INSTANCE_RECOVERY_OFF,
        Code.INSTANCE_STOPPED,
        Code.INSTANCE_RUNS,
        Code.INSTANCE_GUEST_UNKNOWN,
        Code.INSTANCE_FAILURE_OLD,
        Code.INSTANCE_RESTARTED,
        Code.SCOPE_DONE,
        Code.SOFT_PENALTY,
        Code.NO_GAIN,
        Code.NEXT_AUDIT,
        Code.BETTER_DESTINATION,
        Code.BETTER_MOVE,
        Code.NEXT_AUDIT,
        Code.BUDGET_USED,
        Code.NOT_ASKED,
        Code.REPAIRS_NOTHING,
        Code.GROUP_WAITS,
        Code.PACK_NO_TARGET,
        Code.PACK_KEEP_HOSTS,
        Code.PACK_AWAITED,
        Code.PACK_RECEIVES,
        Code.PACK_NOT_WHOLE,
        Code.PACK_HEADROOM_HOSTS,
        Code.NO_DESTINATION,
        Code.NOT_RELIEVED,
        Code.GROUP_NOT_REPAIRED,
    }
)
"""Codes of what no rule forbids, or nothing lifts."""
PAIR = edits.Pair('v', 'a', 'b')


class TestRelaxations(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        policies = [scopes.policy('cpu', threshold=0.1)]
        vms = [scopes.vm(uuid, 'a', [0.1]) for uuid in 'uv']
        snapshot = scopes.scope(policies, {'a': [0.8], 'b': [0.3]}, vms)
        self.case = PlanningInput(snapshot, policies, Settings())

    def _relaxed(
        self, code: Code, about: str = '', value: float = 0.0
    ) -> PlanningInput:
        """Without a reason; the given case stays as it is."""
        before = copy.deepcopy(self.case)
        reason = Reason('for the test', code, about, value)
        case = relaxations.relax(self.case, reason, PAIR)
        self.assertEqual(before, self.case)
        return case

    def test_which_can_be_lifted(self) -> None:
        for code in Code:
            lifted = any(
                relaxations.can_lift(code, extension)
                for extension in (RECOVERY, Cells(CellDrain('old', ['new'])))
            )
            self.assertEqual(code not in FOR_GOOD, lifted, code)

    def test_what_cannot(self) -> None:
        for code in FOR_GOOD:
            self.assertRaises(KeyError, self._relaxed, code)

    def test_an_instance(self) -> None:
        table = (
            (Code.INSTANCE_UNMOVABLE, 'unmovable', 'asked for', ''),
            (Code.INSTANCE_ALLOCATIONS, 'misallocated_on', ['h2'], None),
            (Code.INSTANCE_LOCKED, 'locked', True, False),
            (Code.INSTANCE_NOT_ACTIVE, 'status', 'PAUSED', 'ACTIVE'),
            (Code.INSTANCE_BUSY, 'task_state', 'rebuilding', None),
            (Code.INSTANCE_NOT_RUNNING, 'power_state', 4, 1),
        )
        for code, field, bad, good in table:
            for one in self.case.snapshot.instances.values():
                setattr(one, field, bad)
            found = self._relaxed(code).snapshot.instances
            with self.subTest(code=code):
                self.assertEqual(bad, getattr(found['u'], field))
                self.assertEqual(good, getattr(found['v'], field))

    def test_a_pin(self) -> None:
        """The tag or the metadata, whichever the reason is about."""
        one = self.case.snapshot.instances['v']
        one.tags = [PIN, 'other']
        one.metadata = {PIN: 'true', 'other': '1'}
        found = self._relaxed(Code.INSTANCE_PINNED, 'tags')
        instance = found.snapshot.instances['v']
        self.assertEqual(['other'], instance.tags)
        self.assertEqual(one.metadata, instance.metadata)
        found = self._relaxed(Code.INSTANCE_PINNED, 'metadata')
        instance = found.snapshot.instances['v']
        self.assertEqual({'other': '1'}, instance.metadata)
        self.assertEqual(one.tags, instance.tags)

    def test_settings(self) -> None:
        table = (
            (Code.SCOPE_COOLDOWN, 'cooldown_seconds'),
            (Code.INSTANCE_COOLDOWN, 'instance_cooldown_seconds'),
            (Code.INSTANCE_QUARANTINE, 'quarantine_seconds'),
            (Code.RETURN_GUARD, 'return_guard_seconds'),
            (Code.INSTANCE_YOUNG, 'min_age_seconds'),
        )
        for code, field in table:
            self.case.settings = Settings(**{field: 60.0})
            found = self._relaxed(code)
            self.assertEqual(Settings(**{field: 0.0}), found.settings)
        self.case.settings = Settings(allowed_extra_specs=['hw:*'])
        found = self._relaxed(Code.INSTANCE_EXTRA_SPEC, 'pci:alias')
        allowed = found.settings.allowed_extra_specs
        self.assertEqual(['hw:*', 'pci:alias'], allowed)

    def test_a_quarantine_that_was_made_up(self) -> None:
        self.case.snapshot.seeds = Seeds({'agg': 9.0}, {'v': 9.0}, {'v': -1})
        found = self._relaxed(Code.INSTANCE_QUARANTINE)
        self.assertEqual(Seeds({'agg': 9.0}, {'v': 9.0}), found.snapshot.seeds)

    def test_events(self) -> None:
        """Its own, or those of others that hold its host."""
        events = [
            Event(uuid, host, 'b', Outcome.UNDER_WAY, 0.0, Origin.NOVA)
            for uuid, host in (('v', 'a'), ('u', 'a'), ('u', 'c'))
        ]
        snapshot = self.case.snapshot
        snapshot.events, snapshot.taken_at = events, 1e6
        found = self._relaxed(Code.INSTANCE_ON_ITS_WAY)
        self.assertEqual(events[1:], found.snapshot.events)
        found = self._relaxed(Code.HOST_STUCK_OUT)
        self.assertEqual([events[0], events[2]], found.snapshot.events)
        snapshot.taken_at = 1.0
        found = self._relaxed(Code.HOST_STUCK_OUT)
        self.assertEqual(events, found.snapshot.events)

    def test_an_earlier_plan(self) -> None:
        """It is where that leaves it, if it was on none of the hosts."""
        snapshot = self.case.snapshot
        instance = dataclasses.replace(snapshot.instances.pop('v'), host='z')
        others = EarlierMove('s', snapshot.instances['u'], 'a', 'b', {})
        own = EarlierMove('s', instance, 'z', 'a', {})
        self.case.earlier = [own, others]
        found = self._relaxed(Code.INSTANCE_PLANNED_BEFORE)
        self.assertEqual([others], found.earlier)
        self.assertEqual('a', found.snapshot.instances['v'].host)

    def test_a_threshold(self) -> None:
        [policy] = self._relaxed(Code.WORSENS_POLICY, 'cpu', 0.4).policies
        self.assertGreater(policy.threshold, 0.4)
        self.assertAlmostEqual(0.4, policy.threshold, places=5)

    def test_a_profile(self) -> None:
        profile = self.case.snapshot.readings['cpu'].profile
        assert profile is not None
        del profile.samples[1]
        found = self._relaxed(Code.INSTANCE_NO_PROFILE)
        whole = found.snapshot.readings['cpu'].profile
        assert whole is not None
        self.assertEqual(['u', 'v'], [one.label for one in whole.samples])

    def test_the_policies(self) -> None:
        self.case.policies = [scopes.policy('cpu', weight=0.0)]
        [policy] = self._relaxed(Code.SCOPE_NO_POLICY).policies
        self.assertEqual(1.0, policy.weight)

    def test_the_rest_is_of_constraints(self) -> None:
        """Each says itself what lifts it."""
        found = self._relaxed(Code.ZONE_CROSSED)
        self.assertFalse(found.settings.restrict_to_az)
        for code in Code:
            kind = constraint_set.constraint_of(code)
            if kind is not None and kind.can_relax:
                self.assertTrue(relaxations.can_lift(code), code)
