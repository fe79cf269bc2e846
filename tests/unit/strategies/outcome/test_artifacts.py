# SPDX-License-Identifier: Apache-2.0
"""Is a report that cannot be made no matter to its audit?"""

import json
import os
import pathlib
import types
from unittest import mock

import fixtures
from oslotest import base

from kronos.engine.settings import PlanMode, Settings
from kronos.engine.types import CycleReport
from kronos.recordings import load
from kronos.reports.html import page
from kronos.strategies import audit, parameters
from kronos.strategies.outcome import artifacts
from kronos.watcher_db import publishing
from tests.builders import recordings

UUID = '0d1e3f4a-0000-4000-8000-000000000001'


class KeepTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.folder = self.useFixture(fixtures.TempDir()).path
        self.kronos = types.SimpleNamespace(
            report_dir=self.folder, report_keep=9, report_html=False
        )

    def keep(self, **asked):
        artifacts.keep(
            audit.AuditResult(
                CycleReport([]),
                [],
                [],
                Settings(),
                publishing.Basis(frozenset()),
            ),
            audit.AuditRequest(
                'policies.yaml',
                PlanMode.SPREAD,
                parameters.parse({}, []),
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
        self.keep(aggregates='alpha')
        (name,) = os.listdir(self.folder)
        found = json.loads(pathlib.Path(self.folder, name).read_text())
        self.assertEqual({'aggregates': 'alpha'}, found['audit']['parameters'])

    def test_no_page_unless_asked_for(self):
        self.keep()
        self.assertEqual(1, len(os.listdir(self.folder)))

    def test_with_its_page(self):
        self.kronos.report_html = True
        self.keep()
        name, report = sorted(os.listdir(self.folder))
        self.assertEqual(report.replace('.json', '.html'), name)
        text = pathlib.Path(self.folder, name).read_text()
        self.assertIn('<title>Kronos: audit even</title>', text)
        self.assertIn(UUID, text)

    def test_the_page_fails(self):
        """The report is there all the same, and the audit goes on."""
        self.kronos.report_html = True
        with mock.patch.object(page, 'render', side_effect=KeyError('steps')):
            self.keep()
        (name,) = os.listdir(self.folder)
        self.assertTrue(name.endswith('.json'))
        self.assertIn('the page of its report is lost', self.log.output)

    def test_no_report_and_so_no_page(self):
        self.kronos.report_html = True
        self.kronos.report_dir = f'{self.folder}/missing'
        self.keep()
        self.assertIn('could not be written to report_dir', self.log.output)
        self.assertNotIn('page', self.log.output)

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


class RecorderTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.folder = self.useFixture(fixtures.TempDir()).path
        self.kronos = types.SimpleNamespace(
            record_dir=self.folder, record_keep=2, record_max_age=30
        )

    def record(self, recording):
        recorder = artifacts.recorder(
            types.SimpleNamespace(uuid=UUID), 'kronos_pack', self.kronos
        )
        recorder(recording)

    def test_kept(self):
        """What the audit planned by can be read again."""
        self.record(recordings.small())
        (name,) = os.listdir(self.folder)
        found = load.read(os.path.join(self.folder, name))
        self.assertEqual('kronos_pack', found.strategy)
        self.assertIn('kronos-watcher', found.made_by)

    def test_nothing_that_goes_wrong_leaves(self):
        self.kronos.record_dir = f'{self.folder}/missing'
        self.record(recordings.small())
        self.assertIn('missing', self.log.output)
        self.record(object)
        self.assertIn(f'Audit {UUID}: its recording is lost', self.log.output)
