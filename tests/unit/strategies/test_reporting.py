# SPDX-License-Identifier: Apache-2.0
"""Is a report that cannot be made no matter to its audit (N12)?"""

import json
import os
import pathlib
import types

import fixtures
from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.types import CycleReport
from kronos.strategies import cycle, parameters, reporting

UUID = '0d1e3f4a-0000-4000-8000-000000000001'


class KeepTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.folder = self.useFixture(fixtures.TempDir()).path
        self.kronos = types.SimpleNamespace(
            report_dir=self.folder, report_keep=9
        )

    def keep(self, **asked):
        reporting.keep(
            cycle.Cycle(CycleReport([]), [], Settings()),
            cycle.Order(
                'policies.yaml',
                None,
                parameters.parse({}, []),
                lambda *_: None,
            ),
            types.SimpleNamespace(
                uuid=UUID,
                name='even',
                audit_type='ONESHOT',
                parameters=asked,
                scope=[],
            ),
            'kronos_spread',
            self.kronos,
        )

    def test_kept(self):
        """N12."""
        self.keep(aggregates='alpha')
        (name,) = os.listdir(self.folder)
        found = json.loads(pathlib.Path(self.folder, name).read_text())
        self.assertEqual({'aggregates': 'alpha'}, found['audit']['parameters'])

    def test_what_is_no_json(self):
        self.keep(aggregates=object())
        self.assertEqual([], os.listdir(self.folder))
        self.assertIn(f'Audit {UUID}: its report is lost', self.log.output)
        self.assertIn('TypeError', self.log.output)

    def test_an_option_that_cannot_be_read(self):
        del self.kronos.report_keep
        self.keep()
        self.assertEqual([], os.listdir(self.folder))
        self.assertIn('its report is lost', self.log.output)

    def test_nowhere(self):
        self.kronos.report_dir = None
        self.keep(aggregates=object())
        self.assertEqual('', self.log.output)
