# SPDX-License-Identifier: Apache-2.0
"""The shipped files and the documentation are right."""

import re

import yaml
from oslotest import base

from kronos.policies import loader
from kronos.policies.models import LabelType, Mode, Policy
from tests import places

ROOT = places.TOP
SAMPLE = ROOT / 'etc/kronos/policies.yaml'
PACK = ROOT / 'etc/kronos/policies-pack.yaml'


class TestSample(base.BaseTestCase):
    def test_sample_validates(self):
        found = loader.load(str(SAMPLE))
        self.assertEqual(['cpu', 'memory'], [p.name for p in found.enabled])
        loader.require_mode(found, found.mode, str(SAMPLE))

    def test_pack_sample_validates(self):
        """Of one mode, and each with a capacity of its own."""
        found = loader.load(str(PACK))
        self.assertEqual(['cpu', 'memory'], [p.name for p in found.enabled])
        loader.require_mode(found, Mode.PACK, str(PACK))
        for policy in found.policies:
            self.assertIn('[1h:1m]', policy.capacity_query)

    def test_samples_ask_the_same(self):
        """Both modes see one cloud."""
        spread, pack = (loader.load(str(one)) for one in (SAMPLE, PACK))
        for one, other in zip(spread.policies, pack.policies, strict=True):
            for field in Policy.model_fields:
                if field in ('mode', 'capacity_query', 'capacity_threshold'):
                    continue
                with self.subTest(policy=one.name, field=field):
                    self.assertEqual(
                        getattr(one, field), getattr(other, field)
                    )

    def test_labels_of_the_queries_are_those_of_the_fields(self):
        policies = loader.load(str(SAMPLE)).policies
        policies += loader.load(str(PACK)).policies
        for policy in policies:
            queries = [policy.imbalance_query, policy.host_capacity_query]
            if policy.mode is Mode.PACK:
                queries.append(policy.capacity_query)
            for query in queries:
                self.assertIn(f'"{policy.host_label}", "$1"', query)
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
