# SPDX-License-Identifier: Apache-2.0
"""A guest that writes faster than is copied stays, and the audit says why."""

import pathlib

import fixtures

from kronos.recordings import load
from kronos.recordings.replay import ReplayOptions, replay
from tests.functional.watcher import base

ASKED = """
dirty_rate_query: dirty
dirty_rate_label: uuid
dirty_rate_label_type: nova_instance_uuid
"""


class TestDirtyRates(base.KronosTestCase):
    START_APPLIER = False

    def setUp(self):
        super().setUp()
        self.recordings = self.useFixture(fixtures.TempDir()).path
        self.set('kronos', record_dir=self.recordings)
        self.write_policies(base.POLICIES + ASKED)

    def moved(self):
        """The servers that an audit moves, and its scope as it is replayed."""
        actions = self.actions(self.plan(self.create_audit()))
        moved = {one.input_parameters['resource_id'] for one in actions}
        last = max(pathlib.Path(self.recordings).iterdir())
        [scope] = replay(load.read(str(last)), ReplayOptions()).report.scopes
        self.assertEqual(moved, {step.instance for step in scope.steps})
        return moved, scope

    def test_who_stays(self):
        moved, scope = self.moved()
        self.assertIn('dirty_rate_query: none of its 0', scope.warnings[0])
        calm = {step.instance: step.seconds for step in scope.steps}
        quick, slow = sorted(moved)[:2]
        # Of 800 MiB/s by the default.
        self.cloud.dirty = {quick: 900 * 2.0**20, slow: 400 * 2.0**20}
        again, scope = self.moved()
        self.assertNotIn(quick, again)
        self.assertEqual('instance_dirty_rate', scope.unmovable[quick].code)
        self.assertIn('writes 900 MiB/s', str(scope.unmovable[quick]))
        self.assertEqual([], scope.warnings)
        self.assertIn(slow, again)
        [seconds] = [s.seconds for s in scope.steps if s.instance == slow]
        self.assertGreater(seconds, calm[slow])
