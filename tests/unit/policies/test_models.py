# SPDX-License-Identifier: Apache-2.0
"""The fields of the policies file, by themselves."""

import pydantic
from oslotest import base

from kronos.policies import models

LEAST = {
    'name': 'cpu',
    'mode': 'spread',
    'weight': 1.0,
    'imbalance_query': 'a',
    'vm_profile_query': 'b',
}


def policy(**fields):
    return models.Policy.model_validate({**LEAST, **fields})


def policies(*rows):
    return models.PolicyFile.model_validate(
        {'policies': [{**LEAST, **row} for row in rows]}
    )


class TestPolicy(base.BaseTestCase):
    def test_defaults(self):
        """What a policy is that says no more than it must."""
        self.assertEqual(
            {
                **LEAST,
                'enabled': True,
                'host_label': 'host',
                'vm_profile_label': 'instance_name',
                'vm_profile_label_type': 'nova_internal_name',
                'vm_profile_fallback': 'skip',
                'host_capacity_query': None,
                'threshold': 0.15,
                'capacity_query': None,
                'capacity_threshold': 0.80,
                'relief_threshold': 0.85,
                'metrics_window': None,
                'max_migrations_per_cycle': 3,
            },
            policy().model_dump(),
        )

    def test_accepted(self):
        for field, values in {
            'name': ['cpu', 'a-b_c', '9', 'x' * 200],
            'weight': [0, 1, 0.0, 1.0, 0.3],
            'threshold': [0, 1, 0.15],
            'capacity_threshold': [0, 1],
            'max_migrations_per_cycle': [1, 100],
            'enabled': [True, False],
            'vm_profile_label_type': list(models.LabelType),
            'vm_profile_fallback': [
                'skip', 'flavor_vcpu_ratio', 'host_average',
            ],
            'host_capacity_query': [None, 'count(x)'],
            'host_label': ['instance'],
        }.items():  # fmt: skip
            for value in values:
                result = getattr(policy(**{field: value}), field)
                self.assertEqual(value, result)

    def test_refused(self):
        """Each beyond its limits; nothing is coerced."""
        nan, inf = float('nan'), float('inf')
        for field, values in {
            'name': ['CPU', 'a b', '', '-a', '_a', 'ü', 'cpu\n', 7, None],
            'mode': ['balance', 'SPREAD', '', None, 1],
            'weight': [-0.1, 1.1, nan, inf, '0.3', True, None],
            'threshold': [-0.1, 1.1, nan, '0.15'],
            'capacity_threshold': [-0.1, 1.1, nan],
            'max_migrations_per_cycle': [0, 1001, 3.0, '3', True, None],
            'enabled': ['yes', 1, None],
            'imbalance_query': ['', ' \n ', None, 5],
            'vm_profile_query': ['', None],
            'host_capacity_query': ['', 5],
            'host_label': ['', ' ', None],
            'vm_profile_label': ['', None],
            'vm_profile_label_type': ['uuid', None],
            'vm_profile_fallback': ['average', None],
            'aggregates': [['a']],
        }.items():
            for value in values:
                error = self.assertRaises(
                    pydantic.ValidationError, policy, **{field: value}
                )
                (detail,) = error.errors()
                self.assertEqual((field,), detail['loc'], (field, value))

    def test_required(self):
        for field in LEAST:
            row = {name: LEAST[name] for name in LEAST if name != field}
            error = self.assertRaises(
                pydantic.ValidationError, models.Policy.model_validate, row
            )
            self.assertEqual((field,), error.errors()[0]['loc'])

    def test_queries_are_stripped(self):
        self.assertEqual('x', policy(imbalance_query=' x\n').imbalance_query)

    def test_pack_needs_a_capacity_query(self):
        """Spread takes it too."""
        error = self.assertRaises(
            pydantic.ValidationError, policy, mode='pack'
        )
        self.assertEqual(('capacity_query',), error.errors()[0]['loc'])
        for mode in models.Mode:
            valid = policy(mode=mode, capacity_query='q')
            self.assertEqual((mode, 'q'), (valid.mode, valid.capacity_query))

    def test_every_field_has_its_rule(self):
        """The text of error messages and of the documentation."""
        for model in (models.Policy, models.PolicyFile):
            for name, field in model.model_fields.items():
                self.assertTrue(field.description, name)


class TestPolicyFile(base.BaseTestCase):
    def test_weights(self):
        """Over the enabled ones, within 1e-6."""
        for weights in [(0.3, 0.7), (0.5, 0.4999995), (0.1,) * 10, (1, 0)]:
            policies(
                *[
                    {'name': f'p{i}', 'weight': w}
                    for i, w in enumerate(weights)
                ]
            )
        result = policies({}, {'name': 'b', 'weight': 0.9, 'enabled': False})
        self.assertEqual(['cpu'], [enabled.name for enabled in result.enabled])
        self.assertEqual(models.Mode.SPREAD, result.mode)

    def test_refused(self):
        for rows, reason in [
            (
                [{'weight': 0.99}],
                'weight: the weights of the enabled policies sum to 0.99, '
                'they must sum to 1',
            ),
            (
                [{'weight': 0.999998}],
                'weight: the weights of the enabled policies sum to '
                '0.999998, they must sum to 1',
            ),
            (
                [
                    {'weight': 0.5},
                    {'name': 'b', 'weight': 0.5, 'enabled': False},
                ],
                'weight: the weights of the enabled policies sum to 0.5, '
                'they must sum to 1',
            ),
            (
                [{'enabled': False}],
                'enabled: at least one policy must be enabled',
            ),
            (
                [{'weight': 0.5}, {'weight': 0.5}],
                'name: cpu is used more than once (policies 1 and 2), names '
                'must be unique',
            ),
            (
                [
                    {'weight': 0.5},
                    {
                        'name': 'b',
                        'weight': 0.6,
                        'mode': 'pack',
                        'capacity_query': 'q',
                    },
                ],
                'mode: all policies must have the same mode; weight: the '
                'weights of the enabled policies sum to 1.1, they must sum '
                'to 1',
            ),
        ]:
            error = self.assertRaises(
                pydantic.ValidationError, policies, *rows
            )
            (detail,) = error.errors()
            self.assertEqual(f'Value error, {reason}', detail['msg'])

    def test_at_least_one(self):
        self.assertRaises(pydantic.ValidationError, policies)


class TestConflicts(base.BaseTestCase):
    def test_what_cannot_be_judged_is_not(self):
        for rows in [
            [{}],
            [{'weight': '0.3'}],
            [{'weight': True}],
            [{'weight': float('nan')}],
            [{'weight': 7}],
            [{'weight': 0.3, 'enabled': 'no'}],
            [
                {'name': [], 'mode': [], 'weight': 0.5},
                {'name': [], 'weight': 0.5},
            ],
            [],
        ]:
            self.assertEqual([], models.conflicts(rows), rows)
