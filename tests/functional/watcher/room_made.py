# SPDX-License-Identifier: Apache-2.0
"""Audits that make room on the small cloud, and what fits there then."""

import os

import fixtures

from kronos.recordings import load
from kronos.recordings.replay import ReplayOptions, replay
from tests.functional.watcher import base


class RoomTestCase(base.KronosTestCase):
    """Room is made for servers of ``LARGE``, of which none fits at first."""

    LARGE = ''

    def fitting(self):
        """How many servers of it fit, by the cloud's own account."""
        raise NotImplementedError

    def make_room(self, force=False, **parameters):
        return self.create_audit(
            goal='kronos_room',
            strategy='kronos_make_room',
            parameters={'aggregates': 'alpha'} | parameters,
            force=force,
        )

    def planned(self, message):
        """The plan for one server, which a replay makes, too.

        :param message: a part of the audit's
        """
        records = self.useFixture(fixtures.TempDir()).path
        self.set('kronos', record_dir=records)
        self.assertEqual(0, self.fitting())
        audit = self.make_room(flavors={self.LARGE: 1})
        text = self.message(audit)
        self.assertEqual('SUCCEEDED', audit['state'], text)
        self.assertIn(f'slots of {self.LARGE}: 0 -> 1, 1 wanted', text)
        self.assertIn(message, text)
        plan = self.plan(audit)
        (path,) = os.listdir(records)
        report = replay(
            load.read(os.path.join(records, path)), ReplayOptions()
        ).report
        self.assertEqual(
            [
                row.input_parameters['resource_id']
                for row in self.actions(plan)
            ],
            [step.instance for step in report.steps],
        )
        return plan

    def carry_out(self, plan):
        """The server fits then, and the next audit has nothing to do."""
        plan = self.start(plan)
        self.assertEqual('SUCCEEDED', plan['state'])
        self.assertEqual(1, self.fitting())
        audit = self.make_room(flavors={self.LARGE: 1}, force=True)
        self.assertIn('already has room', self.message(audit))
        self.assertEqual([], self.actions(self.plan(audit)))
