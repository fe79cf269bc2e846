# SPDX-License-Identifier: Apache-2.0
"""Do the sample's queries give the numbers they promise?

Prometheus' own promtool evaluates them on series written down here, so no
lab need be up; it only has to be installed.
"""

import pathlib
import subprocess

import fixtures
import yaml
from oslotest import base

from kronos.policies import loader

SAMPLE = pathlib.Path(__file__).parents[2] / 'etc/kronos/policies.yaml'
MOVED = 20
"""Scrape (of 15 s each) at which instance 2 goes from cmp1 to cmp2."""
BORN = 36
"""Scrape at which cmp3 comes up, 9 minutes after the others."""

CPU = 'libvirt_domain_info_cpu_time_seconds_total'
META = 'libvirt_domain_info_meta'
RSS = 'libvirt_domain_memory_stats_rss_bytes'


def node(name, host, values, labels=''):
    text = f'{name}{{job="node",instance="{host}:9100"{labels}}}'
    return {'series': text, 'values': values}


def guest(name, host, number, values):
    domain = f'instance-{number:08x}'
    labels = f'job="libvirt",instance="{host}:9177",domain="{domain}"'
    if name == META:
        labels += f',uuid="u{number}",instance_name="web",flavor="small"'
    return {'series': f'{name}{{{labels}}}', 'values': values}


def series():
    """cmp1: 4 cores, 75 % busy; cmp2: 2 cores that seem more than idle.

    And cmp3, whose core is 50 % busy from its first moment.
    """
    found = [
        node(
            'node_cpu_seconds_total',
            'cmp3',
            f'_x{BORN} 0+{step}x9',
            f',cpu="0",mode="{mode}"',
        )
        for mode, step in (('idle', 7.5), ('user', 7.5))
    ]
    for host, cores, idle, total, available in [
        ('cmp1', 4, 3.75, 1000, 250),
        ('cmp2', 2, 15.3, 500, 500),
    ]:
        for cpu in range(cores):
            for mode, step in [('idle', idle), ('user', max(0, 15 - idle))]:
                labels = f',cpu="{cpu}",mode="{mode}"'
                found.append(
                    node(
                        'node_cpu_seconds_total',
                        host,
                        f'1000+{step:g}x40',
                        labels,
                    )
                )
        for name, size in [('MemTotal', total), ('MemAvailable', available)]:
            found.append(node(f'node_memory_{name}_bytes', host, f'{size}x40'))
    # the uuids differ although the display names do not
    for name, one, before, after in [
        (CPU, '0+22.5x40', f'0+15x{MOVED}', f'0+15x{MOVED}'),
        (META, '1x40', f'1x{MOVED}', f'1x{MOVED}'),
        (RSS, '400x40', f'200x{MOVED}', f'100x{MOVED}'),
    ]:
        found += [
            guest(name, 'cmp1', 1, one),
            guest(name, 'cmp1', 2, f'{before} stale'),
            guest(name, 'cmp2', 2, f'_x{MOVED} {after}'),
        ]
    return found


def hosts(*values):
    """Of cmp1, cmp2 and so on."""
    return {
        f'{{host="cmp{n}",instance="cmp{n}:9100"}}': value
        for n, value in enumerate(values, start=1)
    }


def cpu(first, second):
    return {'{uuid="u1"}': first, '{uuid="u2"}': second}


def memory(first, second):
    return {
        '{domain="instance-00000001"}': first,
        '{domain="instance-00000002"}': second,
    }


EXPECTED = [
    ('cpu', 'imbalance_query', '4m', hosts(0.75, 0)),
    # less than a minute old, and not taken for a busy one
    ('cpu', 'imbalance_query', '10m', hosts(0.75, 0, 0.5)),
    ('cpu', 'host_capacity_query', '4m', hosts(4, 2)),
    ('cpu', 'vm_profile_query', '4m', cpu(1.5, 1)),
    # moved at 5m: the source's rate is gone at once, the destination's
    # grows until the window has passed
    ('cpu', 'vm_profile_query', '5m30s', cpu(1.5, 0.25)),
    ('cpu', 'vm_profile_query', '9m', cpu(1.5, 1)),
    ('memory', 'imbalance_query', '4m', hosts(0.75, 0)),
    ('memory', 'host_capacity_query', '4m', hosts(1000, 500)),
    ('memory', 'vm_profile_query', '4m', memory(400, 200)),
    ('memory', 'vm_profile_query', '9m', memory(400, 100)),
]


class TestSampleQueries(base.BaseTestCase):
    def promtool(self, expected):
        policies = {p.name: p for p in loader.load(str(SAMPLE)).policies}
        checks = [
            {
                'expr': getattr(policies[name], query),
                'eval_time': at,
                'exp_samples': [
                    {'labels': labels, 'value': value}
                    for labels, value in values.items()
                ],
            }
            for name, query, at, values in expected
        ]
        test = {
            'interval': '15s',
            'input_series': series(),
            'promql_expr_test': checks,
        }
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        file = path / 'test.yaml'
        file.write_text(yaml.safe_dump({'tests': [test]}))
        return subprocess.run(
            ['promtool', 'test', 'rules', str(file)],
            capture_output=True,
            text=True,
            timeout=60,
        )

    def test_numbers(self):
        done = self.promtool(EXPECTED)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_a_wrong_number_is_noticed(self):
        wrong = [('cpu', 'host_capacity_query', '4m', hosts(4, 3))]
        done = self.promtool(wrong)
        self.assertEqual(1, done.returncode)
        self.assertIn('got: ', done.stdout + done.stderr)
