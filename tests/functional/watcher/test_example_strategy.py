# SPDX-License-Identifier: Apache-2.0
"""Strategies of other packages, as the documentation shows them."""

import os
import pathlib
import shutil
import tomllib
from unittest import mock

import fixtures
from stevedore import extension

from kronos.recordings import load, replay
from tests import places
from tests.functional.watcher import base

NIGHT = places.TOP / 'doc' / 'source' / 'extending' / 'strategy'
METADATA = 'Metadata-Version: 2.1\nName: example\nVersion: 1.0\n'
QUIET = {
    'watcher_strategies': 'kronos_quiet = tests.unit.examples.strategy:Quiet'
}


class Installed(fixtures.Fixture):
    """A package that has lines in its entry points, and nothing else.

    :param lines: by group
    """

    def __init__(self, lines):
        super().__init__()
        self._lines = lines

    def _setUp(self):
        folder = self.useFixture(fixtures.TempDir()).path
        info = pathlib.Path(folder, 'example-1.0.dist-info')
        info.mkdir()
        (info / 'METADATA').write_text(METADATA)
        (info / 'entry_points.txt').write_text(
            ''.join(
                f'[{group}]\n{line}\n' for group, line in self._lines.items()
            )
        )
        self.useFixture(fixtures.PythonPathEntry(folder))
        # What stevedore found before it, it would find again.
        self.useFixture(
            fixtures.MonkeyPatch(
                'stevedore.extension.ExtensionManager.ENTRY_POINT_CACHE', {}
            )
        )
        assert extension.ExtensionManager.ENTRY_POINT_CACHE == {}


def lines_of_night():
    """The entry points of the package that the guide has."""
    text = (NIGHT / 'pyproject.toml').read_text()
    found = tomllib.loads(text)['project']['entry-points']
    return {
        group: '\n'.join(f'{name} = {where}' for name, where in rows.items())
        for group, rows in found.items()
    }


class ExampleTestCase(base.KronosTestCase):
    START_APPLIER = False

    def setUp(self):
        self.useFixture(Installed(QUIET))
        super().setUp()
        self.records = self.useFixture(fixtures.TempDir()).path
        self.set('kronos', record_dir=self.records)

    def test_an_audit_and_its_replay(self):
        shutil.copy(self.policies_file, f'{self.policies_file}.quiet')
        pathlib.Path(self.policies_file).write_text('not for this one')
        audit = self.create_audit(strategy='kronos_quiet')
        message = self.message(audit)
        self.assertEqual('SUCCEEDED', audit['state'], message)
        self.assertIn('3 migrations, combined imbalance', message)
        told = [
            one.input_parameters['resource_id']
            for one in self.actions(self.plan(audit))
        ]
        (name,) = os.listdir(self.records)
        recording = load.read(os.path.join(self.records, name))
        self.assertEqual('kronos_quiet', recording.strategy)
        plan = replay.replay(recording, replay.ReplayOptions())
        self.assertEqual(told, [step.instance for step in plan.report.steps])

    def test_watcher_shows_it(self):
        found = self.admin_api.get('/strategies/kronos_quiet').json()
        self.assertEqual('Kronos: quiet', found['display_name'])
        self.assertEqual('kronos_balance', found['goal_name'])
        self.assertEqual(
            {
                'aggregates',
                'include_unassigned_hosts',
                'max_migrations',
                'restrict_to_az',
            },
            {*found['parameters_spec']['properties']},
        )


class NightTestCase(base.KronosTestCase):
    START_APPLIER = False

    def setUp(self):
        self.useFixture(fixtures.PythonPathEntry(str(NIGHT)))
        self.useFixture(Installed(lines_of_night()))
        super().setUp()

    def test_an_audit_by_night_and_by_day(self):
        """Each by the policies of its own file."""
        import kronos_night

        shutil.copy(self.policies_file, f'{self.policies_file}.night')
        pathlib.Path(self.policies_file).write_text('not for the night')
        with mock.patch.object(kronos_night, 'BEGINS', 0):
            audit = self.create_audit(strategy='kronos_night')
            self.assertIn('3 migrations, combined', self.message(audit))
        for hour, name in ((5, '.night'), (6, ''), (21, ''), (22, '.night')):
            with mock.patch.object(kronos_night, 'datetime') as clock:
                clock.datetime.now.return_value.hour = hour
                found = kronos_night.Night.policies_file(base.CONF.kronos)
            self.assertEqual(f'{self.policies_file}{name}', found)
