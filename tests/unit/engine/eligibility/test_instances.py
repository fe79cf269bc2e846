# SPDX-License-Identifier: Apache-2.0
"""The decision on locked, special and unmovable instances."""

from oslo_config import cfg
from oslotest import base

from kronos.conf import opts
from kronos.engine.eligibility import instances
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import Instance, Snapshot
from tests.builders import cells, policies

MIB = 2.0**20
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


def rule(snapshot: Snapshot, settings: Settings) -> instances.Rule:
    """Where 800 MiB/s are copied."""
    return instances.rule(snapshot, settings, lambda: 800.0)


class TestMovable(base.BaseTestCase):
    def test_stopped(self) -> None:
        """It goes to another cell, and cannot be live-migrated."""
        one = cells.stopped('a')
        snapshot = cells.cells([one])
        self.assertEqual([], rule(snapshot, cells.settings())(one))
        found = rule(snapshot, Settings())(one)
        self.assertIn(Code.INSTANCE_NOT_ACTIVE, [each.code for each in found])

    def test_all_of_them(self) -> None:
        one = cells.stopped('a', locked=True, ephemeral_gb=1)
        found = rule(cells.cells([one]), cells.settings())(one)
        self.assertEqual(
            [Code.INSTANCE_LOCKED, Code.CELL_LOSSY],
            [reason.code for reason in found],
        )

    def test_it_writes_faster_than_is_copied(self) -> None:
        """A live migration would not end; another cell is reached without."""
        for rate, codes in (
            (0.0, []),
            (799.9, []),
            (800.0, [Code.INSTANCE_DIRTY_RATE]),
        ):
            one = Instance('a', 'o1', dirty_rate=rate * MIB)
            snapshot = cells.cells([one])
            found = rule(snapshot, Settings())(one)
            self.assertEqual(codes, [each.code for each in found], rate)
            self.assertEqual([], rule(snapshot, cells.settings())(one))
        [reason] = found
        self.assertEqual(
            'its guest writes 800 MiB/s to memory, and a live migration '
            'copies 800 MiB/s, so it would not end',
            str(reason),
        )
