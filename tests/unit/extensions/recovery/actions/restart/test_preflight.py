# SPDX-License-Identifier: Apache-2.0
"""Is what may pass waited for, before a restart does anything?"""

import dataclasses

from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.extensions.recovery.actions.restart import preflight
from tests.unit.actions.live import base
from tests.unit.extensions.recovery.actions.restart import test_run

SERVER = ('GET', f'/nova/v2.1/servers/{base.UUID}')


class PreflightTestCase(test_run.RestartTestCase):
    def setUp(self):
        super().setUp()
        self.began = self.clock()

    def set(self, **settings):
        self.settings = dataclasses.replace(self.settings, **settings)

    def check(self):
        restart = self.restart()
        return preflight.RestartPreflight(
            self.settings, restart._context
        ).check()

    def refused(self, fault):
        error = self.assertRaises(exceptions.KronosException, self.check)
        self.assertIs(fault, faults.of_error(error), error)
        return str(error)

    @property
    def passed(self):
        return self.clock() - self.began

    def away(self, seconds):
        self.cloud.down.add(SERVER)
        self.clock.at(self.began + seconds, self.cloud.down.clear)


class TestWaits(PreflightTestCase):
    def test_the_server_as_it_is(self):
        self.assertEqual('SHUTOFF', self.check().status)
        self.assertEqual(0, self.passed)

    def test_nova_is_away_for_a_while(self):
        self.away(50)
        self.check()
        self.assertGreaterEqual(self.passed, 50)

    def test_nova_is_away_for_longer(self):
        self.away(900)
        self.refused(Fault.NOVA_ERROR)
        self.assertLess(self.passed, 90)

    def test_one_that_a_restart_has_left_off(self):
        """It is waited for as long as for a step."""
        self.instance.stops = [('req-1', 'watcher')]
        self.set(stopped='req-1', timeout=300.0)
        self.away(250)
        self.check()

    def test_a_task(self):
        self.instance.task_state = 'powering-on'
        self.clock.at(
            self.began + 20, lambda: setattr(self.instance, 'task_state', None)
        )
        self.check()
        self.assertEqual(20, self.passed)


class TestResized(PreflightTestCase):
    def setUp(self):
        super().setUp()
        self.instance.status = 'VERIFY_RESIZE'

    def test_by_an_earlier_restart(self):
        self.instance.asked = [('start', 'req-4'), ('migrate', 'req-3')]
        self.set(stopped='req-3')
        self.assertEqual('VERIFY_RESIZE', self.check().status)

    def test_by_somebody_else(self):
        for asked, ours in (
            ([('resize', 'req-4'), ('migrate', 'req-3')], 'req-3'),
            ([('migrate', 'req-4'), ('migrate', 'req-3')], 'req-3'),
            ([('migrate', 'req-3')], ''),
        ):
            self.instance.asked = asked
            self.set(stopped=ours)
            self.assertIn(
                'in VERIFY_RESIZE by somebody else',
                self.refused(Fault.INSTANCE_NOT_ACTIVE),
            )
