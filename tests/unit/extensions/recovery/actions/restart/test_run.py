# SPDX-License-Identifier: Apache-2.0
"""Is a server started again that should be, and no other?"""

import dataclasses

from kronos.actions.core.parameters import MigrationTask
from kronos.clients.nova.server_power import ServerPower
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.extensions.recovery.actions.restart import preflight, run
from tests.fakes.small_cloud import cloud
from tests.unit.actions.live import base

ACTION = ('POST', f'/nova/v2.1/servers/{base.UUID}/action')


class RestartTestCase(base.MoveTestCase):
    """A server whose guest has crashed, and its restart."""

    def setUp(self):
        super().setUp()
        self.cloud.crash(base.UUID)
        self.failures = {base.UUID: 100.0}
        self.acts = []
        self.cancelled = False
        self.settings = preflight.RestartSettings(
            MigrationTask(base.UUID, 'h1', 'h1', 'evacuate', 'alpha'),
            failed_at=100.0,
            timeout=50.0,
        )

    def elsewhere(self):
        self.settings = dataclasses.replace(
            self.settings,
            task=MigrationTask(base.UUID, 'h1', 'h2', 'evacuate', 'alpha'),
        )

    def restart(self):
        return run.RestartRun(
            self.settings,
            preflight.RestartContext(
                nova=self.client,
                power=ServerPower(self.client.api),
                placement=self.placement,
                failures=lambda: self.failures,
                acts=self.acts.append,
                is_cancelled=lambda: self.cancelled,
                tell=lambda text: None,
                clock=self.clock,
                sleep=self.clock.sleep,
            ),
        )


class ServerRestartTestCase(RestartTestCase):
    def refused(self, fault):
        error = self.assertRaises(
            exceptions.KronosException, self.restart().carry_out
        )
        self.assertIs(fault, faults.of_error(error), error)
        return str(error)

    def test_here(self):
        self.assertEqual('', self.restart().carry_out())
        self.assertEqual(['start'], self.instance.steps)
        self.assertEqual([''], self.acts)

    def test_elsewhere(self):
        self.elsewhere()
        self.assertEqual('', self.restart().carry_out())
        self.assertEqual(['migrate', 'confirm', 'start'], self.instance.steps)
        self.assertEqual('h2', self.instance.host)

    def test_a_guest_that_is_paused_is_stopped_first(self):
        self.instance.status = 'ACTIVE'
        self.restart().carry_out()
        self.assertEqual(['stop', 'start'], self.instance.steps)
        self.assertEqual(self.instance.stops[0][0], self.acts[-1])

    def test_nothing_is_begun(self):
        for fault, change in (
            (Fault.INSTANCE_LOCKED, {'locked': True}),
            (Fault.INSTANCE_ELSEWHERE, {'host': 'h3'}),
            (Fault.INSTANCE_STOPPED, {'stops': []}),
            (Fault.INSTANCE_STOPPED, {'stops': [('req-1', 'joe')]}),
            (Fault.INSTANCE_NOT_ACTIVE, {'status': 'ERROR'}),
            (Fault.INSTANCE_RUNS, {'status': 'ACTIVE', 'guest': 'running'}),
            (Fault.INSTANCE_RECOVERY_OFF,
             {'metadata': {'kronos:recover': 'false'}}),
            (Fault.INSTANCE_BUSY, {'task_state': 'powering-on'}),
        ):  # fmt: skip
            before = dict(vars(self.instance))
            vars(self.instance).update(change)
            self.refused(fault)
            vars(self.instance).update(before)
        self.assertEqual([], self.instance.steps + self.acts)

    def test_it_is_well(self):
        for found in ({}, {base.UUID: 99.0}):
            self.failures = found
            self.refused(Fault.INSTANCE_WELL)

    def test_its_host_is_down(self):
        self.cloud.services['h1']['state'] = 'down'
        self.refused(Fault.SOURCE_NOT_UP)

    def test_its_host_is_closed(self):
        """What is there may be started there."""
        self.cloud.services['h1']['status'] = 'disabled'
        self.assertEqual('', self.restart().carry_out())

    def test_no_destination(self):
        self.elsewhere()
        self.cloud.services['h2']['status'] = 'disabled'
        self.refused(Fault.DESTINATION_NOT_UP)
        self.cloud.services['h2']['status'] = 'enabled'
        self.cloud.capacities = {'h2': (0, 0)}
        self.refused(Fault.DESTINATION_FULL)
        self.assertEqual([], self.instance.steps)

    def test_nova_gives_up(self):
        self.instance.refuses = {'start': 'no libvirt'}
        text = self.refused(Fault.RESTART_FAILED)
        self.assertIn('it is not started: no libvirt', text)

    def test_it_takes_too_long(self):
        self.cloud._end_step = lambda one: None
        self.refused(Fault.RESTART_TOO_SLOW)

    def test_the_answer_got_lost(self):
        self.cloud.lost[ACTION] = [cloud.RESET]
        self.assertEqual('', self.restart().carry_out())
        self.assertEqual(['start'], self.instance.steps)

    def test_cancelled_before_it_begins(self):
        self.cancelled = True
        self.refused(Fault.PLAN_CANCELLED)
        self.assertEqual([], self.instance.steps)

    def test_what_it_has_stopped_it_starts(self):
        self.instance.status = 'ACTIVE'

        def cancel(server, name):
            self.cancelled = True

        self.cloud.on_step = cancel
        self.restart().carry_out()
        self.assertEqual('ACTIVE', self.instance.status)

    def test_what_a_restart_before_has_left(self):
        self.instance.stops = [('req-1', 'watcher')]
        self.refused(Fault.INSTANCE_STOPPED)
        self.settings = dataclasses.replace(self.settings, stopped='req-1')
        self.failures = {}
        self.assertEqual('', self.restart().carry_out())
        self.instance.status, self.instance.guest = 'VERIFY_RESIZE', 'off'
        self.restart().carry_out()
        self.assertEqual(['start', 'confirm', 'start'], self.instance.steps)

    def test_its_guest_does_not_run(self):
        def die(server, name):
            server.guest = 'shutdown'

        self.cloud.on_step = die
        self.assertIn(
            'its guest does not run', self.refused(Fault.RESTART_FAILED)
        )
