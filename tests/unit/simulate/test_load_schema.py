# SPDX-License-Identifier: Apache-2.0
"""Is only a sound description of a load taken?"""

import dataclasses
from typing import Any

from oslotest import base

from kronos.simulate import load_schema
from tests.builders import loads


class TestFaults(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.meta = loads.load([[1.0, 1.0]] * 3, [0, 1], [4.0, 4.0]).meta

    def fault(self, **changed: Any) -> str:
        return load_schema.fault_of(dataclasses.replace(self.meta, **changed))

    def test_none(self) -> None:
        self.assertEqual('', self.fault())

    def test_version(self) -> None:
        self.assertIn('must be load/1', self.fault(format_version='load/2'))

    def test_twice(self) -> None:
        rows = self.meta.instances
        self.assertIn('hosts: a name', self.fault(hosts=['h', 'h']))
        self.assertIn('[1].uuid', self.fault(instances=[rows[0], rows[0]]))

    def test_nothing(self) -> None:
        self.assertIn('at least one', self.fault(hosts=[]))
        self.assertIn('at least one', self.fault(policies={}))
