# SPDX-License-Identifier: Apache-2.0
"""An extension of another package plans, explains, records and replays."""

import dataclasses
import pathlib
import sys

import fixtures
from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.engine.explain.answers import PlanAnswers
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import CycleInput
from kronos.recordings import load, replay
from kronos.recordings.anonymize import anonymizer
from kronos.reports import document
from tests.builders import recordings
from tests.unit.examples.extension import Rack, RackPhase, RackStop

ENTRY = '[kronos.extensions]\nrack = tests.unit.examples.extension:Rack\n'


class TestExtension(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.place = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.settings = Settings(
            evacuate=True, rebalance=False, extension=Rack(['a1'])
        )
        self.recording = dataclasses.replace(
            recordings.small(), settings=self.settings
        )

    def install(self):
        """What pip would make of a package with this entry point."""
        where = self.place / 'site' / 'rack-1.dist-info'
        where.mkdir(parents=True)
        (where / 'METADATA').write_text('Name: rack\nVersion: 1\n')
        (where / 'entry_points.txt').write_text(ENTRY)
        path = fixtures.MonkeyPatch('sys.path', [str(where.parent), *sys.path])
        self.useFixture(path)

    def replayed(self, recording):
        return replay.replay(recording, replay.ReplayOptions())

    def test_it_plans(self):
        found = self.replayed(self.recording)
        self.assertTrue(found.report.steps)
        for step in found.report.steps:
            self.assertIs(RackPhase.RACK, step.phase)
            self.assertEqual('a1', step.source)
        rows = document.document(found.report)['scopes'][0]['steps']
        self.assertEqual({'leaves its rack'}, {row['why'] for row in rows})
        self.assertEqual({'rack'}, {row['phase'] for row in rows})

    def test_it_explains(self):
        found = self.replayed(self.recording)
        inputs = CycleInput(found.snapshots, found.policies, found.settings)
        answers = PlanAnswers(inputs, found.report, lambda _: None)
        [step] = [one for one in found.report.steps if one.instance == 'u0']
        row = answers.instance(0, 'u0', None)
        [move] = row['moves']
        self.assertEqual(
            ('rack', step.destination), (move['phase'], move['destination'])
        )
        codes = {
            one['destination']: one['code'] for one in row['destinations']
        }
        self.assertEqual(Code.PLANNED.value, codes[step.destination])

    def test_it_stops_for_a_reason_of_its_own(self):
        self.recording.settings.extension = Rack(['a1'], power=False)
        plan = self.replayed(self.recording)
        [scope, *_] = plan.report.scopes
        self.assertIs(RackStop.NO_POWER, scope.stopped)
        row = document.document(plan.report)['scopes'][0]
        self.assertEqual(
            ('no_power', 'rack_no_power'), (row['stopped'], row['reason_code'])
        )
        inputs = CycleInput(plan.snapshots, plan.policies, plan.settings)
        answers = PlanAnswers(inputs, plan.report, lambda _: None)
        [uuid, *_] = scope.instances
        codes = {
            destination['code']
            for destination in answers.instance(0, uuid, None)['destinations']
        }
        self.assertIn('rack_no_power', codes)

    def test_it_is_recorded_and_replayed(self):
        self.install()
        path = str(self.place / 'recording')
        load.write(path, self.recording)
        found = load.read(path)
        self.assertEqual(self.settings.extension, found.settings.extension)
        self.assertEqual(
            self.replayed(self.recording).report.steps,
            self.replayed(found).report.steps,
        )

    def test_it_is_not_installed(self):
        path = str(self.place / 'recording')
        load.write(path, self.recording)
        found = self.assertRaises(ConfigurationError, load.read, path)
        self.assertIn('there is no extension "rack"', str(found))

    def test_no_name_of_a_cloud_is_told(self):
        """An anonymous recording forgets what was asked of it."""
        found = anonymizer.anonymized(self.recording)
        self.assertEqual(Rack(), found.settings.extension)
