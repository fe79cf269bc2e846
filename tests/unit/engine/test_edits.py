# SPDX-License-Identifier: Apache-2.0
"""Is one thing changed, and the rest as it is?"""

import copy
import math

from oslotest import base

from kronos.engine import edits
from kronos.engine.settings import Settings
from kronos.engine.types import Health, PlanningInput, ServerGroup
from kronos.policies.models import LabelType
from tests.builders import scopes


class TestEdits(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        policies = [scopes.policy(name, threshold=0.1) for name in ('x', 'y')]
        snapshot = scopes.scope(
            policies,
            {'a': [0.8, 0.1], 'b': [0.3, 0.2]},
            [scopes.vm(uuid, 'a', [0.1, 0.1]) for uuid in 'uv'],
            groups=[ServerGroup(uuid, 'affinity', ['u']) for uuid in 'gh'],
        )
        self.case = PlanningInput(snapshot, policies, Settings())
        self.before = copy.deepcopy(self.case)
        self.addCleanup(self._is_as_it_was)

    def _is_as_it_was(self) -> None:
        self.assertEqual(self.before, self.case)

    def test_settings(self) -> None:
        case = edits.with_settings(self.case, check_disk=True)
        self.assertEqual(Settings(check_disk=True), case.settings)
        self.assertIs(self.case.snapshot, case.snapshot)

    def test_a_host(self) -> None:
        case = edits.with_host(self.case, 'a', cell='one')
        self.assertEqual('one', case.snapshot.hosts['a'].cell)
        self.assertIs(self.case.snapshot.hosts['b'], case.snapshot.hosts['b'])

    def test_an_instance(self) -> None:
        case = edits.with_instance(self.case, 'u', locked=True)
        self.assertTrue(case.snapshot.instances['u'].locked)
        self.assertFalse(case.snapshot.instances['v'].locked)

    def test_a_group(self) -> None:
        case = edits.without_group(self.case, 'g')
        self.assertEqual(['h'], [one.uuid for one in case.snapshot.groups])

    def test_a_policy(self) -> None:
        case = edits.with_policy(self.case, 'y', weight=3.0)
        self.assertEqual([1.0, 3.0], [one.weight for one in case.policies])

    def test_a_limit(self) -> None:
        """Just above the value, even where no policies file allows it."""
        case = edits.with_limit(self.case, 'x', 'threshold', 1.5)
        one, other = (policy.threshold for policy in case.policies)
        self.assertEqual((1.5 + edits.MARGIN, 0.1), (one, other))

    def test_a_sample(self) -> None:
        """Instead of those of the same label, or of no reading at all."""
        case = edits.with_sample(self.case, 'x', 'imbalance', 'a', 0.5)
        reading = case.snapshot.readings['x'].imbalance
        self.assertEqual(
            [('b', 0.3), ('a', 0.5)],
            [(one.label, one.value) for one in reading.samples],
        )
        case = edits.with_sample(self.case, 'y', 'capacity', 'b', 0.0)
        capacity = case.snapshot.readings['y'].capacity
        assert capacity is not None
        self.assertEqual(['b'], [one.label for one in capacity.samples])

    def test_profiles(self) -> None:
        """A sample that is there already stays."""
        case = edits.profiled(self.case, 'u')
        self.assertEqual(self.case, case)
        profile = self.case.snapshot.readings['x'].profile
        assert profile is not None
        profile.samples[0].value = math.inf
        self.before = copy.deepcopy(self.case)
        case = edits.profiled(self.case, 'u')
        profile = case.snapshot.readings['x'].profile
        assert profile is not None
        self.assertEqual(
            [('v', 0.1), ('u', 0.0)],
            [(one.label, one.value) for one in profile.samples],
        )

    def test_profiles_by_name(self) -> None:
        """A name that others have as well becomes one of its own."""
        label = LabelType.NOVA_DISPLAY_NAME
        self.case.policies[0].vm_profile_label_type = label
        for one in self.case.snapshot.instances.values():
            one.name = 'web'
        self.before = copy.deepcopy(self.case)
        case = edits.profiled(self.case, 'u')
        self.assertEqual('u', case.snapshot.instances['u'].name)
        self.assertEqual('web', case.snapshot.instances['v'].name)

    def test_policies_that_can_be_used(self) -> None:
        """Every host has one sample, the first usable one."""
        reading = self.case.snapshot.readings['x'].imbalance
        reading.health = Health.UNREACHABLE
        reading.samples[0].value = 37.0
        self.before = copy.deepcopy(self.case)
        reading = edits.usable(self.case).snapshot.readings['x'].imbalance
        self.assertIs(Health.HEALTHY, reading.health)
        self.assertEqual(
            [('a', 0.0), ('b', 0.3)],
            [(one.label, one.value) for one in reading.samples],
        )
