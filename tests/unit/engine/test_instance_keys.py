# SPDX-License-Identifier: Apache-2.0
"""Does each type of label have its field of an instance?"""

import re

from oslotest import base

from kronos.engine import instance_keys
from kronos.engine.types import Instance, Snapshot
from kronos.policies.models import LabelType
from tests import places

COMPARED = re.compile(r'\b(is|is not|==|!=|in) LabelType\.|LabelType\.\w+: ')
"""A type that falls through, or is missing in a table, unseen by mypy."""


class TestKeys(base.BaseTestCase):
    def test_of_each_type(self) -> None:
        instance = Instance('u', 'h', name='web', internal_name='instance-1')
        self.assertEqual(
            {
                'nova_instance_uuid': 'u',
                'nova_internal_name': 'instance-1',
                'nova_display_name': 'web',
            },
            {
                kind.value: getattr(instance, instance_keys.key_of(kind))
                for kind in LabelType
            },
        )

    def test_those_of_others(self) -> None:
        snapshot = Snapshot(
            *('s', {}, {}, {}),
            display_names_elsewhere={'web'},
            internal_names_elsewhere={'instance-1'},
        )
        self.assertEqual(
            [{'instance-1'}, set(), {'web'}],
            [instance_keys.elsewhere(snapshot, kind) for kind in LabelType],
        )

    def test_whoever_decides_by_it_names_all_types(self) -> None:
        """By ``match`` and ``assert_never``, which mypy looks at."""
        deciding = [
            path
            for path in (places.TOP / 'kronos').rglob('*.py')
            if 'case LabelType.' in path.read_text()
        ]
        self.assertIn('instance_keys.py', {path.name for path in deciding})
        for path in deciding:
            self.assertIn('assert_never(', path.read_text(), path)
        for path in (places.TOP / 'kronos').rglob('*.py'):
            self.assertNotRegex(path.read_text(), COMPARED, path)
