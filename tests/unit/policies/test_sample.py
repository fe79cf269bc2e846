# SPDX-License-Identifier: Apache-2.0
"""The shipped files and the documentation are right."""

import re

import yaml
from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.settings import Settings
from kronos.policies import loader, windows
from kronos.policies.models import Fallback, LabelType, Mode, Policy
from kronos.recordings.anonymize import vocabulary
from tests import places
from tests.builders import scopes
from tests.builders.scopes import vm

ROOT = places.TOP
SAMPLES = ROOT / 'etc/kronos'
SAMPLE = SAMPLES / 'policies.yaml'
PACK = SAMPLES / 'policies-pack.yaml'
NODE = SAMPLES / 'policies-node-exporter.yaml'
ALL = sorted(SAMPLES.glob('policies*.yaml'))
WORD = re.compile(r'"[^"]*"|\b[A-Za-z_]+')
"""Of a query; what is in quotes counts as one."""
WINDOW = re.compile(r'\[\d+m')
OF_PACK = (
    'mode',
    'capacity_query',
    'capacity_threshold',
    'relief_threshold',
    'max_migrations_per_cycle',
)


class TestSample(base.BaseTestCase):
    def test_samples_validate(self):
        """Each for the strategy that its first line names."""
        for path in ALL:
            with self.subTest(path.name):
                result = loader.load(str(path))
                self.assertEqual(
                    ['cpu', 'memory'], [p.name for p in result.enabled]
                )
                first = path.read_text().splitlines()[0]
                mode = Mode.PACK if path == PACK else Mode.SPREAD
                loader.require_mode(result, mode, str(path))
                self.assertIn(f'strategy kronos_{mode}', first)

    def test_pack_sample_has_capacities(self):
        cpu, memory = loader.load(str(PACK)).policies
        self.assertEqual(cpu.imbalance_query, cpu.capacity_query)
        self.assertIn('[1h:1m]', memory.capacity_query)
        for policy in (cpu, memory):
            self.assertLess(policy.capacity_threshold, policy.relief_limit)

    def test_windows(self):
        """Those of hosts and servers are one, of a server's own series."""
        for path in ALL:
            cpu = loader.load(str(path)).policies[0]
            window = windows.of_query(cpu.imbalance_query)
            self.assertEqual(900.0 if path == PACK else 2700.0, window.seconds)
            if path != NODE:
                self.assertEqual(
                    window, windows.of_query(cpu.vm_profile_query)
                )
                self.assertIn('avg_over_time', cpu.vm_profile_query)

    def test_samples_ask_the_same(self):
        """Both modes see one cloud."""
        spread, pack = (loader.load(str(path)) for path in (SAMPLE, PACK))
        for policy, other in zip(spread.policies, pack.policies, strict=True):
            for field in Policy.model_fields:
                if field in OF_PACK:
                    continue
                with self.subTest(policy=policy.name, field=field):
                    self.assertEqual(
                        *(
                            WINDOW.sub('[', str(getattr(each, field)))
                            for each in (policy, other)
                        )
                    )

    def test_samples_ask_the_same_of_hosts(self):
        """But for the window: node_exporter is the same everywhere."""
        expected = loader.load(str(SAMPLE)).policies
        for path in ALL:
            for policy, want in zip(
                loader.load(str(path)).policies, expected, strict=True
            ):
                for field in ('imbalance_query', 'host_capacity_query'):
                    with self.subTest(path.name, field=field):
                        self.assertEqual(
                            WINDOW.sub('[', getattr(want, field)),
                            WINDOW.sub('[', getattr(policy, field)),
                        )

    def test_labels_of_the_queries_are_those_of_the_fields(self):
        for path in ALL:
            for policy in loader.load(str(path)).policies:
                queries = [policy.imbalance_query, policy.host_capacity_query]
                if policy.mode is Mode.PACK:
                    queries.append(policy.capacity_query)
                for query in queries:
                    self.assertIn(f'"{policy.host_label}", "$1"', query)
                if path != NODE:
                    by = f'by ({policy.vm_profile_label})'
                    self.assertIn(by, policy.vm_profile_query)

    def test_shows_both_ways_to_name_an_instance(self):
        types = {
            policy.vm_profile_label_type
            for policy in loader.load(str(SAMPLE)).policies
        }
        self.assertEqual(
            {LabelType.NOVA_INSTANCE_UUID, LabelType.NOVA_INTERNAL_NAME}, types
        )

    def test_names_stay_in_recordings_that_name_nobody(self):
        """Else such a recording does not show what was measured."""
        for path in ALL:
            for policy in loader.load(str(path)).policies:
                words = WORD.findall(policy.vm_profile_query)
                names = {word for word in words if not word.startswith('"')}
                self.assertEqual(set(), names - vocabulary.IDENTIFIERS)

    def test_without_an_exporter_of_servers(self):
        """By the flavors some are moved, and few at a time."""
        policies = loader.load(str(NODE)).policies
        servers = [vm(f's{n}', 'a', [], vcpus=1) for n in range(16)]
        snapshot = scopes.scope(
            policies,
            {'a': [0.9, 0.8], 'b': [0.1, 0.1]},
            [],
            capacities={'a': [16, 64e9], 'b': [16, 64e9]},
        )
        snapshot.instances = {
            instance.uuid: instance for instance, _ in servers
        }
        report = propose([snapshot], policies, Settings())
        steps = report.scopes[0].steps
        self.assertEqual(3, len(steps))
        self.assertEqual(
            {('a', 'b')}, {(s.source, s.destination) for s in steps}
        )
        for policy in policies:
            self.assertIs(
                Fallback.FLAVOR_VCPU_RATIO, policy.vm_profile_fallback
            )


class TestDocumentation(base.BaseTestCase):
    text = (ROOT / 'doc/source/policies.rst').read_text()

    def rows(self):
        """The cells of the table of fields, row by row."""
        table = self.text.split('.. list-table:: Fields of a policy')[1]
        table = re.split(r'\n(?=\S)', table)[0]
        cells = re.findall(r'^   ([*] -|  -) (.*)$', table, re.MULTILINE)
        rows = []
        for mark, cell in cells:
            if mark == '* -':
                rows.append([])
            rows[-1].append(cell)
        return rows

    def test_every_field_is_there_with_its_default(self):
        rows = {row[0].strip('`'): row[2] for row in self.rows()[1:]}
        self.assertEqual(list(Policy.model_fields), list(rows))
        for name, field in Policy.model_fields.items():
            if field.is_required():
                want = 'required'
            elif field.default is None:
                want = 'none'
            else:
                want = f'``{str(field.default).lower()}``'
            self.assertEqual(want, rows[name], name)

    def test_examples_are_policies(self):
        blocks = re.findall(
            r'^\.\. code-block:: yaml\n\n((?:   .*\n|\n)+)',
            self.text,
            re.MULTILINE,
        )
        self.assertNotEqual([], blocks)
        for block in blocks:
            for row in yaml.safe_load(block)['policies']:
                Policy.model_validate(row)
