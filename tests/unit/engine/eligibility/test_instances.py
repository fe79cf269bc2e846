# SPDX-License-Identifier: Apache-2.0
"""The decision on locked, special and unmovable instances."""

from oslo_config import cfg
from oslotest import base

from kronos.conf import opts
from kronos.engine.eligibility import instances
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from tests.builders import policies

ALLOWED = ['quota:*', 'hw:cpu_policy=shared', 'hw:cpu_cores']


def why(settings=None, **fields):
    settings = settings or Settings(allowed_extra_specs=ALLOWED)
    one = policies.instance('u1', 'a', **fields)
    return next(iter(instances.reasons(one, settings)), None)


class TestReasons(base.BaseTestCase):
    def test_plain_instance_is_movable(self):
        self.assertIsNone(why())
        self.assertIsNone(why(metadata={'pin': 'x'}, tags=['kronos']))

    def test_each_obstacle(self):
        for fields, reason in [
            ({'unmovable': 'movable: false'}, 'movable: false'),
            ({'locked': True}, 'it is locked'),
            (
                {'metadata': {'kronos:pin': 'false'}},
                'it has the metadata key kronos:pin',
            ),
            ({'tags': ['a', 'kronos:pin']}, 'it has the tag kronos:pin'),
            ({'status': 'PAUSED'}, 'its status is PAUSED, not ACTIVE'),
            ({'status': 'ERROR'}, 'its status is ERROR, not ACTIVE'),
            (
                {'task_state': 'migrating'},
                'Nova is busy with it (task state migrating)',
            ),
            (
                {'power_state': 4},
                'its power state is 4 (shut down), not running (1)',
            ),
            (
                {'power_state': 3},
                'its power state is 3 (paused), not running (1): QEMU pauses '
                'a guest whose disk fails',
            ),
            (
                {'extra_specs': {'pci_passthrough:alias': 'gpu:1'}},
                "its flavor's extra spec pci_passthrough:alias=gpu:1 is not "
                'in allowed_extra_specs',
            ),
        ]:
            self.assertEqual(reason, why(**fields))

    def test_rules_of_extra_specs(self):
        """facts: a key, a key=value, or a prefix that ends in "*"."""
        for key, value, allowed in [
            ('quota:cpu_shares', '10', True),
            ('quota', '10', False),
            ('hw:cpu_policy', 'shared', True),
            ('hw:cpu_policy', 'dedicated', False),
            ('hw:cpu_cores', '4', True),
            ('hw:cpu_cores_x', '4', False),
            ('x:quota:a', '1', False),
        ]:
            reason = why(extra_specs={'quota:x': '1', key: value})
            self.assertEqual(allowed, reason is None, (key, value, reason))

    def test_nothing_is_allowed_by_an_empty_list(self):
        self.assertIn(
            'quota:a=1', why(Settings(), extra_specs={'quota:a': '1'})
        )

    def test_vtpm(self):
        """Only one of the flavor's own security "host" may move."""
        asked = {'hw:tpm_version': '2.0', 'hw:tpm_model': 'tpm-crb'}
        for security, told in (
            (None, 'not set, not host'),
            ('user', 'user, not host'),
            ('deployment', 'deployment, not host'),
            ('host', None),
        ):
            specs = dict(asked)
            if security:
                specs['hw:tpm_secret_security'] = security
            for allowed in ([], ['hw:tpm_*']):
                found = instances.reasons(
                    policies.instance('u1', 'a', extra_specs=specs),
                    Settings(allowed_extra_specs=allowed),
                )
                self.assertEqual(
                    [Code.INSTANCE_VTPM] if told else [],
                    [one.code for one in found],
                )
                if told:
                    self.assertIn(
                        'it has a vTPM, and hw:tpm_secret_security of its '
                        f'flavor is {told}',
                        found[0],
                    )

    def test_without_a_vtpm(self):
        """A spec of TPMs alone is one like any other."""
        specs = {'hw:tpm_secret_security': 'host'}
        self.assertIn('is not in allowed', why(extra_specs=specs))

    def test_defaults_keep_devices_and_pinned_memory(self):
        conf = cfg.ConfigOpts()
        opts.register_opts(conf)
        conf([], default_config_files=[])
        settings = Settings(
            allowed_extra_specs=conf.kronos.allowed_extra_specs
        )
        for key, value in [
            ('pci_passthrough:alias', 'a:1'),
            ('resources:VGPU', '1'),
            ('accel:device_profile', 'fpga'),
            ('trait:CUSTOM_X', 'required'),
            ('hw:mem_page_size', '1GB'),
            ('hw:cpu_policy', 'dedicated'),
            ('hw:numa_nodes', '2'),
            ('hw:mem_encryption', 'true'),
            ('hw:tpm_version', '2.0'),
            ('hw:pmem', '6GB'),
        ]:
            self.assertIsNotNone(why(settings, extra_specs={key: value}))
        plain = {
            'hw_rng:allowed': 'true',
            'quota:vif_inbound_average': '1',
            'hw:cpu_sockets': '2',
            'hw:cpu_policy': 'shared',
        }
        self.assertIsNone(why(settings, extra_specs=plain))
