# SPDX-License-Identifier: Apache-2.0
"""Is every scenario of the lab run, and by one worker only?"""

import pathlib
import re

import yaml
from oslotest import base

LAB = pathlib.Path(__file__).resolve().parents[2] / 'lab'


class WorkersTestCase(base.BaseTestCase):
    def test_each_scenario_has_one_worker(self):
        workers = yaml.safe_load((LAB / 'workers.yaml').read_text())
        for file in LAB.glob('test_*.py'):
            name = f'tests.lab.{file.stem}.TestCase.test'
            mine = [
                number
                for number, one in enumerate(workers)
                for pattern in one['worker']
                if re.search(pattern, name)
            ]
            self.assertEqual(1, len(mine), name)
