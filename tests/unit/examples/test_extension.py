# SPDX-License-Identifier: Apache-2.0
"""An extension of another package plans, explains, records and replays."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys

import fixtures
from oslotest import base

from kronos.cmd import replay as replay_command
from kronos.cmd.replays import replay_tables
from kronos.common.exceptions import ConfigurationError
from kronos.engine.explain.answers import PlanAnswers
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import CycleInput
from kronos.recordings import load, replay
from kronos.recordings.anonymize import anonymizer
from kronos.reports import document
from kronos.reports.html import view
from tests.builders import recordings
from tests.unit.examples.extension import (
    Rack,
    RackDrain,
    RackPhase,
    RackStop,
    RackWork,
)

ENTRIES = """\
[kronos.extensions]
rack = tests.unit.examples.extension:Rack
[kronos.extensions.reports]
rack = tests.unit.examples.extension:RackReport
"""
OPTIONS = """\
[kronos.extensions.options]
rack = tests.unit.examples.extension_options:RackOptions
"""
OF_OPTIONS = """
import json, sys
from oslo_config import cfg
from kronos.conf import opts
planning = [n for n in sys.modules if n.startswith(('kronos.engine', 'numpy'))]
conf = cfg.ConfigOpts()
opts.register_opts(conf)
conf([])
conf.set_override('rack_words', ['blue'], 'kronos')
from kronos.recordings import load
from kronos.recordings.anonymize import anonymizer
from kronos.reports import document
from kronos.snapshots import settings_from_conf
from tests.builders import recordings
from tests.unit.examples.extension_options import RackOptions
recording = recordings.small()
recording.settings = settings_from_conf.settings_of(conf.kronos)
load.write(sys.argv[1], recording)
load.write(sys.argv[2], anonymizer.anonymized(recording))
recorded, anonymous = (
    vars(load.read(path).settings.options(RackOptions))
    for path in sys.argv[1:]
)
reported = document.settings(recording.settings)
print(json.dumps([planning, recorded, anonymous, reported['rack_watts']]))
"""


class TestExtension(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.place = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.settings = Settings(
            evacuate=True, rebalance=False, extension=Rack(RackDrain(['a1']))
        )
        self.recording = dataclasses.replace(
            recordings.small(), settings=self.settings
        )

    def install(self, entries=ENTRIES):
        """What pip would make of a package with these entry points."""
        where = self.place / 'site' / 'rack-1.dist-info'
        where.mkdir(parents=True)
        (where / 'METADATA').write_text('Name: rack\nVersion: 1\n')
        (where / 'entry_points.txt').write_text(entries)
        path = fixtures.MonkeyPatch('sys.path', [str(where.parent), *sys.path])
        self.useFixture(path)

    def replayed(self, recording, **options):
        return replay.replay(recording, replay.ReplayOptions(**options))

    def written(self, recording):
        """The same from its files."""
        path = str(self.place / 'recording')
        load.write(path, recording)
        return load.read(path)

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
        self.recording.settings.extension = Rack(
            RackDrain(['a1']), power=False
        )
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
        found = self.written(self.recording)
        self.assertEqual(self.settings.extension, found.settings.extension)
        self.assertEqual(
            self.replayed(self.recording).report.steps,
            self.replayed(found).report.steps,
        )

    def test_what_it_keeps_beside_a_snapshot(self):
        """It plans by that, in the file and back."""
        self.install()
        self.recording.gathered.beside['rack'] = RackWork(['a1'])
        found = self.written(self.recording)
        self.assertEqual(self.recording.gathered, found.gathered)
        for snapshot in found.snapshots():
            self.assertEqual(RackWork(['a1']), snapshot.beside['rack'])
        self.assertEqual([], self.replayed(found).report.steps)

    def test_it_has_options(self):
        """A process reads them that has loaded nothing that plans."""
        self.install(OPTIONS)
        answer = subprocess.run(
            [
                *(sys.executable, '-c', OF_OPTIONS),
                *(str(self.place / name) for name in ('full', 'anonymous')),
            ],
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            check=True,
            timeout=60,
        )
        options = {'rack_watts': 500.0, 'rack_hosts': []}
        self.assertEqual(
            [
                [],
                {**options, 'rack_words': ['blue']},
                {**options, 'rack_words': ['']},
                500.0,
            ],
            json.loads(answer.stdout),
        )

    def test_it_is_not_installed(self):
        found = self.assertRaises(
            ConfigurationError, self.written, self.recording
        )
        self.assertIn('there is no extension "rack"', str(found))

    def test_what_is_asked_is_wrong(self):
        self.install()
        self.recording.settings.extension = Rack({'host': ['a1']})
        found = self.assertRaises(
            ConfigurationError, self.written, self.recording
        )
        self.assertIn('extension rack.', str(found))

    def test_no_name_of_a_cloud_is_told(self):
        """An anonymous recording has new names, and the same plan."""
        self.install()
        self.recording.gathered.beside['rack'] = RackWork(['a2'])
        found = self.written(anonymizer.anonymized(self.recording))
        [host] = found.settings.extension.asked.hosts
        [other] = found.gathered.beside['rack'].hosts
        self.assertLess({host, other}, found.gathered.cloud.hosts.keys())
        self.assertFalse({'a1', 'a2'} & {host, other})
        steps = self.replayed(found).report.steps
        self.assertEqual({host}, {step.source for step in steps})

    def test_plain_values_are_forgotten(self):
        """What names there may be in them nobody knows."""
        self.recording.settings.extension = Rack(['a1'])
        found = anonymizer.anonymized(self.recording)
        self.assertEqual(Rack(), found.settings.extension)

    def test_a_command_asks_for_it(self):
        """By the word of its name, with parameters."""
        self.install()
        parser = replay_command.argument_parser()
        parsed = parser.parse_args(
            ['x', '--mode', 'rack', '--parameter', 'hosts=["a2"]']
        )
        found = self.replayed(
            recordings.small(),
            mode=parsed.mode,
            parameters=dict(parsed.parameter),
        )
        self.assertTrue(found.report.steps)
        self.assertEqual({'a2'}, {step.source for step in found.report.steps})

    def test_a_report_has_its_keys_and_lines(self):
        self.install()
        found = self.replayed(self.recording).report
        number = len(found.steps)
        rows = document.document(found)['scopes']
        self.assertEqual(
            [number], [row['rack'] for row in rows if row['rack']]
        )
        text = replay_tables.table(found.scopes[0])
        self.assertIn(f'{number} servers leave their rack.', text)
        self.assertEqual('drain of a rack', view.phase('rack'))
