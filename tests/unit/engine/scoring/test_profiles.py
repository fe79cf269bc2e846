# SPDX-License-Identifier: Apache-2.0
"""What each instance weighs."""

import copy
import math

from oslotest import base

from kronos.clients.prometheus import response
from kronos.engine.scoring import profiles, scorecard
from kronos.engine.settings import Settings
from kronos.engine.types import Sample
from tests.builders import policies as build


def profile(snapshot, *policies):
    policies = policies or (build.policy(),)
    settings = Settings(min_host_coverage=0.5)
    card = scorecard.score(snapshot, policies, settings)
    in_use = [one for one in policies if one.name in card.values]
    return profiles.profile(snapshot, in_use, card, settings)


def usages(found):
    return {uuid: one.usage for uuid, one in found.profiles.items()}


class TestSamples(base.BaseTestCase):
    def scope(self, samples, **fields):
        snapshot = build.snapshot(
            {'cpu': {'a': 0.5, 'b': 0.25}},
            instances=[
                build.instance('u1', 'a', name='web', **fields),
                build.instance('u2', 'b', name='db'),
            ],
        )
        snapshot.readings['cpu'].profile.samples = [
            Sample(label, value, stamp) for label, value, stamp in samples
        ]
        return snapshot

    def test_each_label_type(self):
        """Each finds the right server, and only by its own name."""
        every = [
            ('u1', 0.1, 1), ('dom-u1', 0.2, 1), ('web', 0.3, 1),
            ('u2', 0.4, 1), ('dom-u2', 0.5, 1), ('db', 0.6, 1),
        ]  # fmt: skip
        for kind, first, second in [
            ('nova_instance_uuid', 0.1, 0.4),
            ('nova_internal_name', 0.2, 0.5),
            ('nova_display_name', 0.3, 0.6),
        ]:
            found = profile(
                self.scope(every), build.policy(vm_profile_label_type=kind)
            )
            self.assertEqual(
                {'u1': {'cpu': first}, 'u2': {'cpu': second}}, usages(found)
            )
            self.assertEqual(({}, []), (found.skipped, found.warnings))

    def test_newest_sample_wins(self):
        """The newest sample; of equally new ones the larger, in any order."""
        cases = [
            ([('dom-u1', 0.9, 1), ('dom-u1', 0.1, 2)], 0.1),
            ([('dom-u1', 0.3, 2), ('dom-u1', 0.1, 2)], 0.3),
            ([('dom-u1', math.nan, 3), ('dom-u1', 0.1, 2)], 0.1),
        ]
        for samples, value in cases:
            for order in (samples, samples[::-1]):
                found = profile(self.scope(order))
                self.assertEqual({'cpu': value}, found.profiles['u1'].usage)

    def test_what_is_no_usage_is_missing(self):
        for value in (math.nan, math.inf, -math.inf, -0.5):
            found = profile(
                self.scope([('dom-u1', value, 1), ('dom-u2', 0.1, 1)])
            )
            self.assertEqual(['u2'], list(found.profiles))
            self.assertEqual(
                {
                    'u1': 'policy cpu has no usable sample for it; '
                    'vm_profile_fallback is skip'
                },
                found.skipped,
            )

    def test_rounding_below_zero_is_zero(self):
        found = profile(self.scope([('dom-u1', -1e-12, 1)]))
        self.assertEqual({'u1': {'cpu': 0.0}}, usages(found))

    def test_foreign_series_and_nameless_instances(self):
        found = profile(
            self.scope(
                [('dom-x', 0.5, 1), ('', 0.7, 1), ('dom-u2', 0.1, 1)],
                internal_name='',
            )
        )
        self.assertEqual({'u2': {'cpu': 0.1}}, usages(found))

    def test_shared_display_name_is_nobodys(self):
        snapshot = self.scope([('web', 0.5, 1), ('db', 0.1, 1)])
        snapshot.instances['u3'] = build.instance('u3', 'b', name='web')
        policy = build.policy(vm_profile_label_type='nova_display_name')
        found = profile(snapshot, policy)
        reason = (
            'policy cpu cannot distinguish it from another instance: both '
            'have the '
            "display_name 'web', and no label host distinguishes them; "
            'vm_profile_fallback is '
        )
        self.assertEqual(
            dict.fromkeys(['u1', 'u3'], reason + 'skip'), found.skipped
        )
        self.assertEqual({'u2': {'cpu': 0.1}}, usages(found))
        policy = build.policy(
            vm_profile_label_type='nova_display_name',
            vm_profile_fallback='host_average',
        )
        found = profile(snapshot, policy)
        self.assertEqual({'u1', 'u2', 'u3'}, set(found.profiles))
        self.assertEqual(
            [f'web ({one}): {reason}host_average' for one in ('u1', 'u3')],
            found.warnings,
        )

    def of_hosts(self, **hosts):
        """Samples of servers named web, each with its host."""
        samples = [
            Sample('web', value, 1, f'{{host="{host}", name="web"}}')
            for host, value in hosts.items()
        ]
        return [*samples, Sample('db', 0.1, 1)]

    def test_shared_name_and_a_host(self):
        """Who copies a name cannot keep its bearer from being moved."""
        policy = build.policy(vm_profile_label_type='nova_display_name')
        snapshot = self.scope([])
        snapshot.instances['u3'] = build.instance('u3', 'b', name='web')
        snapshot.readings['cpu'].profile.samples = self.of_hosts(a=0.2, b=0.4)
        found = profile(snapshot, policy)
        self.assertEqual(
            {'u1': {'cpu': 0.2}, 'u2': {'cpu': 0.1}, 'u3': {'cpu': 0.4}},
            usages(found),
        )
        snapshot.instances['u3'].host = 'a'
        found = profile(snapshot, policy)
        self.assertEqual({'u1', 'u3'}, set(found.skipped))

    def test_name_of_another_scope(self):
        """A query covers the cloud, and what is there is not ours."""
        for kind, field in (
            ('nova_display_name', 'display_names_elsewhere'),
            ('nova_internal_name', 'internal_names_elsewhere'),
        ):
            policy = build.policy(vm_profile_label_type=kind)
            snapshot = self.scope([], internal_name='web')
            setattr(snapshot, field, {'web'})
            samples = self.of_hosts(a=0.2, elsewhere=0.4)
            snapshot.readings['cpu'].profile.samples = samples
            found = usages(profile(snapshot, policy))
            self.assertEqual({'cpu': 0.2}, found['u1'])
            samples.pop(0)
            self.assertNotIn('u1', usages(profile(snapshot, policy)))
            samples[0].series = ''
            found = profile(snapshot, policy)
            self.assertIn('cannot distinguish it', found.skipped['u1'])

    def test_no_host_by_a_name_that_looks_like_one(self):
        """What a tenant writes is a value, and never another label."""
        name = 'x", host="a'
        policy = build.policy(vm_profile_label_type='nova_display_name')
        snapshot = self.scope([])
        for one in snapshot.instances.values():
            one.name = name
        snapshot.readings['cpu'].profile.samples = [
            Sample(
                name,
                0.9,
                1,
                response.text_of({'a': name, 'host': 'b'}),
            )
        ]
        self.assertEqual(
            {'u2': {'cpu': 0.9}}, usages(profile(snapshot, policy))
        )

    def test_no_profile_reading(self):
        snapshot = self.scope([])
        snapshot.readings['cpu'].profile = None
        self.assertEqual({'u1', 'u2'}, set(profile(snapshot).skipped))


class TestFallback(base.BaseTestCase):
    """Three cases of an instance without a series."""

    def scope(self, **fields):
        return build.snapshot(
            {'cpu': {'a': 0.6, 'b': 0.2}, 'mem': {'a': 0.5, 'b': 0.5}},
            instances=[
                build.instance('u1', 'a', vcpus=1),
                build.instance('u2', 'a', vcpus=2),
                build.instance('u3', 'a', vcpus=3),
                build.instance('u4', 'b', vcpus=0),
            ],
            usages={'cpu': {'dom-u2': 0.35}},
            **fields,
        )

    def profile(self, fallback, snapshot=None, **fields):
        policy = build.policy(vm_profile_fallback=fallback, **fields)
        return profile(snapshot or self.scope(), policy)

    def assert_usages(self, want, found):
        self.assertEqual(set(want), set(found.profiles))
        for uuid, value in want.items():
            self.assertAlmostEqual(value, found.profiles[uuid].usage['cpu'])

    def test_skip(self):
        found = self.profile('skip')
        self.assert_usages({'u2': 0.35}, found)
        self.assertEqual(['u1', 'u3', 'u4'], sorted(found.skipped))

    def test_flavor_vcpu_ratio(self):
        """Host score x vcpus / total vcpus on the host."""
        found = self.profile('flavor_vcpu_ratio')
        self.assert_usages({'u1': 0.1, 'u2': 0.35, 'u3': 0.3}, found)
        self.assertEqual(
            {
                'u4': 'policy cpu has no usable sample for it; '
                'vm_profile_fallback is flavor_vcpu_ratio'
            },
            found.skipped,
        )

    def test_host_average(self):
        """An equal share of the host score."""
        found = self.profile('host_average')
        self.assert_usages(
            {'u1': 0.2, 'u2': 0.35, 'u3': 0.2, 'u4': 0.2}, found
        )

    def test_in_the_unit_of_the_capacity(self):
        """So that usage / capacity(host) is the share of the score."""
        for fallback, want in [
            ('flavor_vcpu_ratio', {'u1': 3.2, 'u2': 0.35, 'u3': 9.6}),
            ('host_average', {'u1': 6.4, 'u2': 0.35, 'u3': 6.4, 'u4': 12.8}),
        ]:
            snapshot = self.scope()
            snapshot.readings['cpu'].host_capacity = build.reading(
                {'a': 32, 'b': 64}
            )
            found = self.profile(
                fallback, snapshot, host_capacity_query='cores'
            )
            self.assert_usages(want, found)
            self.assertEqual({'cpu': {'a': 32, 'b': 64}}, found.capacities)

    def test_no_capacity_means_one(self):
        self.assertEqual({}, self.profile('skip').capacities)

    def test_skip_drops_from_the_whole_profile(self):
        """Data in one of two policies is not enough."""
        snapshot = self.scope()
        snapshot.readings['mem'].profile = build.reading(
            {'dom-u1': 0.1, 'dom-u2': 0.2}
        )
        found = profile(
            snapshot,
            build.policy('cpu', 0.5, vm_profile_fallback='host_average'),
            build.policy('mem', 0.5),
        )
        self.assertEqual(
            {
                'u1': {'cpu': 0.6 / 3, 'mem': 0.1},
                'u2': {'cpu': 0.35, 'mem': 0.2},
            },
            usages(found),
        )
        self.assertEqual(
            dict.fromkeys(
                ['u3', 'u4'],
                'policy mem has no usable sample for it; vm_profile_fallback '
                'is skip',
            ),
            found.skipped,
        )

    def test_a_skipped_policy_drops_nobody(self):
        """The profile is of the policies in use."""
        snapshot = self.scope()
        snapshot.readings['mem'].imbalance = build.reading({})
        found = profile(
            snapshot,
            build.policy('cpu', 0.5, vm_profile_fallback='host_average'),
            build.policy('mem', 0.5),
        )
        self.assertEqual(4, len(found.profiles))
        self.assertEqual({'cpu'}, set(found.profiles['u1'].usage))


class TestScope(base.BaseTestCase):
    def test_instances_on_frozen_hosts_have_no_profile(self):
        snapshot = build.snapshot(
            {'cpu': {'a': 0.5, 'b': 0.5, 'c': 0.5}},
            instances=[
                build.instance('u1', 'a'),
                build.instance('u2', 'c'),
            ],
            usages={'cpu': {'dom-u1': 0.1, 'dom-u2': 0.2}},
        )
        snapshot.services['c'].state = 'down'
        before = copy.deepcopy(snapshot)
        found = profile(snapshot)
        self.assertEqual({'u1': {'cpu': 0.1}}, usages(found))
        self.assertEqual({}, found.skipped)
        self.assertEqual(before, snapshot)

    def test_a_policy_without_values_is_our_mistake(self):
        snapshot = build.snapshot({'cpu': {'a': 0.5, 'b': 0.5}})
        card = scorecard.score(snapshot, [build.policy()], Settings())
        other = build.policy('mem')
        snapshot.readings['mem'] = snapshot.readings['cpu']
        self.assertRaises(
            KeyError, profiles.profile, snapshot, [other], card, Settings()
        )
