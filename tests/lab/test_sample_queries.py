# SPDX-License-Identifier: Apache-2.0
"""Do the samples' queries give the numbers they promise?

Prometheus' own promtool evaluates them on series written down beforehand, so
no lab need be up; it only has to be installed.
"""

import pathlib
import subprocess

import fixtures
import yaml
from oslotest import base

from kronos.cmd.checks import exporters as checks
from kronos.policies import loader
from tests.builders import exporters

SAMPLES = pathlib.Path(__file__).parents[2] / 'etc/kronos'
TINKOFF = 'policies.yaml'
DEBIAN = 'policies-debian-libvirt-exporter.yaml'
INOVEX = 'policies-inovex-libvirt-exporter.yaml'
CEILOMETER = 'policies-ceilometer.yaml'
NODE = 'policies-node-exporter.yaml'
PACK = 'policies-pack.yaml'
"""Asks of hosts and servers what policies.yaml asks."""


def hosts(*values):
    """Of cmp1, cmp2 and so on."""
    return {
        f'{{host="cmp{n}",instance="cmp{n}:9100"}}': value
        for n, value in enumerate(values, start=1)
    }


def by_label(label, *values, name='u{}'):
    """Of server 1, 2 and so on."""
    return {
        f'{{{label}="{name.format(n)}"}}': value
        for n, value in enumerate(values, start=1)
    }


def profiles(policy, label, by_time, **more):
    """What ``vm_profile_query`` should give.

    :param by_time: evaluation time to values of server 1, 2 and so on
    """
    return [
        (
            policy,
            'vm_profile_query',
            eval_time,
            by_label(label, *values, **more),
        )
        for eval_time, values in by_time.items()
    ]


OF_HOSTS = [
    ('cpu', 'imbalance_query', '4m', hosts(0.75, 0)),
    # less than a minute old, and not taken for a busy one
    ('cpu', 'imbalance_query', '10m', hosts(0.75, 0, 0.5)),
    ('cpu', 'host_capacity_query', '4m', hosts(4, 2)),
    ('memory', 'imbalance_query', '4m', hosts(0.75, 0)),
    ('memory', 'host_capacity_query', '4m', hosts(1000, 500)),
]
DIGITS = 1e-06
"""To which values are rounded: Prometheus sums in any order."""
BEGINS = {'4m': (1.5, 1), '5m': (1.5, 1)}
"""Cores of the servers; at 5m both sides of a migration have the second."""


class SampleTestCase(base.BaseTestCase):
    def promtool(self, sample, series, expected, **more):
        file = loader.load(str(SAMPLES / sample))
        policies = {policy.name: policy for policy in file.policies}
        return self.evaluate(
            series,
            [
                (
                    f'round({getattr(policies[name], query)}, {DIGITS})',
                    eval_time,
                    values,
                )
                for name, query, eval_time, values in expected
            ],
            **more,
        )

    def evaluate(self, series, expected, interval='15s'):
        rules = [
            {
                'expr': query,
                'eval_time': eval_time,
                'exp_samples': [
                    {'labels': labels, 'value': value}
                    for labels, value in values.items()
                ],
            }
            for query, eval_time, values in expected
        ]
        test = {
            'interval': interval,
            'input_series': series,
            'promql_expr_test': rules,
        }
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        written = path / 'test.yaml'
        written.write_text(yaml.safe_dump({'tests': [test]}))
        return subprocess.run(
            ['promtool', 'test', 'rules', str(written)],
            capture_output=True,
            text=True,
            timeout=60,
        )

    def assert_gives(self, sample, series, expected, **more):
        done = self.promtool(sample, series, expected, **more)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)


class TestSampleQueries(SampleTestCase):
    def test_each_sample_is_tried(self):
        tried = {TINKOFF, DEBIAN, INOVEX, CEILOMETER, NODE}
        shipped = {path.name for path in SAMPLES.glob('policies*.yaml')}
        self.assertEqual(tried | {PACK}, shipped)

    def test_tinkoff(self):
        # its average follows the server; the destination's rate begins anew,
        # which is little of a long window
        cores = {**BEGINS, '5m30s': (1.5, 1), '9m': (1.5, 0.875)}
        used = {'4m': (400, 200), '5m': (400, 200), '9m': (400, 100)}
        domain = 'instance-0000000{}'
        self.assert_gives(
            TINKOFF,
            exporters.nodes() + exporters.tinkoff(),
            OF_HOSTS
            + profiles('cpu', 'uuid', cores)
            + profiles('memory', 'domain', used, name=domain),
        )

    def test_debian(self):
        # of the source's rate is left a bit more than the destination's
        cores = {**BEGINS, '6m': (1.5, 0.854167), '9m': (1.5, 0.890625)}
        given = {'4m': (400, 200), '5m': (400, 200), '9m': (400, 200)}
        self.assert_gives(
            DEBIAN,
            exporters.nodes() + exporters.debian(),
            OF_HOSTS
            + profiles('cpu', 'uuid', cores)
            + profiles('memory', 'uuid', given),
        )

    def test_inovex(self):
        """Of server 3, which is off, it tells no memory."""
        cores = {
            '4m': (1.5, 1, 0),
            '5m': (1.5, 1, 0),
            '5m30s': (1.5, 1, 0),
            '9m': (1.5, 0.875, 0),
        }
        used = {'4m': (400, 200), '5m': (400, 200), '9m': (400, 100)}
        self.assert_gives(
            INOVEX,
            exporters.nodes() + exporters.inovex(),
            OF_HOSTS
            + profiles('cpu', 'instance_id', cores)
            + profiles('memory', 'instance_id', used),
        )

    def test_no_exporter_of_servers(self):
        """What a server takes is left to the fallback."""
        nothing = {'4m': ()}
        self.assert_gives(
            NODE,
            exporters.nodes() + exporters.tinkoff(),
            OF_HOSTS
            + profiles('cpu', 'uuid', nothing)
            + profiles('memory', 'uuid', nothing),
        )

    def test_a_wrong_number_is_noticed(self):
        wrong = [('cpu', 'host_capacity_query', '4m', hosts(4, 3))]
        done = self.promtool(TINKOFF, exporters.nodes(), wrong)
        self.assertEqual(1, done.returncode)
        self.assertIn('got: ', done.stdout + done.stderr)


class TestCeilometer(SampleTestCase):
    def check(self, by_agents, cores, mebibytes):
        hour = exporters.Ceilometer.HOUR
        bytes_of = {
            eval_time: [value * 2**20 for value in values]
            for eval_time, values in mebibytes.items()
        }
        self.assert_gives(
            CEILOMETER,
            exporters.nodes(hour, hour - 4)
            + exporters.Ceilometer(by_agents).series(),
            [
                ('cpu', 'imbalance_query', '29m', hosts(0.75, 0)),
                ('cpu', 'imbalance_query', '60m', hosts(0.75, 0, 0.5)),
                ('cpu', 'host_capacity_query', '29m', hosts(4, 2)),
                ('memory', 'imbalance_query', '29m', hosts(0.75, 0)),
                ('memory', 'host_capacity_query', '29m', hosts(1000, 500)),
                *profiles('cpu', 'resource', cores),
                *profiles('memory', 'resource', bytes_of),
            ],
            interval='30s',
        )

    def test_by_agents(self):
        """At 34m both hosts tell of server 2.

        A rate of the first 15 minutes is too small, in the average, too.
        """
        self.check(
            True,
            {
                '29m': (1.2, 0.8),
                '34m': (1.25, 0.833333),
                '60m': (1.5, 0.871545),
            },
            {'29m': (400, 200), '34m': (400, 200), '55m': (400, 100)},
        )

    def test_by_sg_core(self):
        """The memory at 29m and 34m has been forgotten there."""
        self.check(
            False,
            {
                '28m': (1.2, 0.8),
                '33m': (1.25, 0.833333),
                '60m': (1.5, 0.8717),
            },
            {'29m': (400, 200), '34m': (400, 200), '55m': (400, 100)},
        )


class TestSeen(SampleTestCase):
    """By which series kronos-test-config knows each exporter."""

    def test_each_by_its_own(self):
        ceilometer = exporters.Ceilometer
        for sample, series, targets in [
            (TINKOFF, exporters.tinkoff(), {'cmp1:9177': 2}),
            (DEBIAN, exporters.debian(), {'cmp1:9177': 2}),
            (INOVEX, exporters.inovex(), {'cmp1:9177': 3}),
            (CEILOMETER, ceilometer(True).series(), {'cmp1:9101': 2}),
            (CEILOMETER, ceilometer(False).series(), {'sg-core:3000': 2}),
            (NODE, [], {}),
        ]:
            with self.subTest(sample):
                seen = {sample: targets}
                seen[NODE] = {'cmp1:9100': 1, 'cmp2:9100': 1}
                done = self.evaluate(
                    exporters.nodes() + series,
                    [
                        (one.query, '1m', self.by_target(seen, one.sample))
                        for one in (checks.NODE, *checks.OF_SERVERS)
                    ],
                )
                self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def by_target(self, seen, sample):
        return {
            f'{{instance="{target}"}}': number
            for target, number in seen.get(sample, {}).items()
        }
