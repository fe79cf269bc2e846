# SPDX-License-Identifier: Apache-2.0
"""What is asked of Nova before a server is started again?"""

from keystoneauth1 import noauth

from kronos.engine.settings import Settings
from kronos.engine.types import Instance, PastRestart
from kronos.extensions.recovery.failures import NAME, Failures
from kronos.extensions.recovery.options import RecoveryOptions
from kronos.extensions.recovery.readings import recoveries
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud
from tests.unit.actions.live import base

ON = Settings(beside=[RecoveryOptions(restart_servers=True)])


class RecoveriesTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.one = Instance(base.UUID, 'h1', failure='crash')
        self.gathered = CloudInventory(
            Cloud({}, {}, []), {}, [self.one], beside={NAME: Failures()}
        )

    def note(self, past=(), settings=ON):
        recoveries.note(
            self.client, self.gathered, {base.UUID: list(past)}, settings
        )
        return self.one

    def test_nobody_restarts(self):
        self.note(settings=Settings())
        self.assertEqual([], self.cloud.calls)

    def test_one_that_is_well(self):
        self.one.failure = ''
        self.note()
        self.assertEqual([], self.cloud.calls)

    def test_its_guest(self):
        self.assertEqual('running', self.note().guest)
        self.instance.guest = 'paused'
        self.assertEqual('off', self.note().guest)

    def test_nova_is_away(self):
        self.cloud.down.add(('GET', '/nova/v2.1/servers'))
        self.assertEqual('', self.note().guest)

    def test_who_stopped_it(self):
        self.one.status = 'SHUTOFF'
        self.assertEqual('', self.note().stopped_by)
        self.instance.stops = [('req-1', '')]
        self.assertEqual('nova', self.note().stopped_by)
        self.instance.stops = [('req-2', 'joe'), ('req-1', '')]
        self.assertEqual('user', self.note().stopped_by)
        past = PastRestart(1.0, 'FAILED', True, 'req-2')
        self.assertEqual('kronos', self.note([past]).stopped_by)
        self.assertEqual([past], self.one.restarts)

    def test_one_that_was_left_half_done(self):
        self.one.failure, self.one.status = '', 'SHUTOFF'
        self.instance.stops = [('req-2', 'watcher')]
        past = PastRestart(1.0, 'FAILED', True, 'req-2')
        self.assertEqual('kronos', self.note([past]).stopped_by)

    def test_who_resizes_it(self):
        """By the newest request, and by no time."""
        self.one.failure, self.one.status = '', 'VERIFY_RESIZE'
        past = PastRestart(1.0, 'FAILED', True, 'req-2', 'req-3')
        self.instance.asked = [('migrate', 'req-3')]
        self.assertEqual('kronos', self.note([past]).stopped_by)
        self.instance.asked.insert(0, ('start', 'req-4'))
        self.assertEqual('kronos', self.note([past]).stopped_by)
        for theirs in ('resize', 'migrate'):
            self.instance.asked.insert(0, (theirs, 'req-5'))
            self.assertEqual('user', self.note([past]).stopped_by)
        without = PastRestart(1.0, 'FAILED', True, 'req-2')
        self.assertEqual('user', self.note([without]).stopped_by)

    def user_is(self, name):
        """Of Kronos."""
        auth = noauth.NoAuth()
        auth.get_user_id = lambda session, **more: name
        self.client.api.wire.adapter.session.auth = auth
        self.client.api._user = None

    def test_an_applier_that_died_before_it_knew(self):
        """Nova was about to be asked; its newest request tells."""
        self.one.failure = ''
        asked = PastRestart(1.0, 'ONGOING', True, '?', '?')
        for status, field in (
            ('SHUTOFF', 'stop'),
            ('VERIFY_RESIZE', 'migrate'),
        ):
            self.one.status = status
            self.instance.stops = [('req-2', 'watcher'), ('req-1', 'joe')]
            self.instance.asked = [('migrate', 'req-2'), ('resize', 'req-1')]
            self.user_is('watcher')
            self.assertEqual('kronos', self.note([asked]).stopped_by)
            self.assertEqual('req-2', getattr(self.one.restarts[0], field))
            self.user_is('')
            self.assertEqual('user', self.note([asked]).stopped_by)
            self.user_is('watcher')
            self.instance.stops.insert(0, ('req-3', 'joe'))
            self.instance.asked.insert(0, ('resize', 'req-3'))
            self.assertEqual('user', self.note([asked]).stopped_by)
            self.assertEqual('', getattr(self.one.restarts[0], field))
        # What is in a recording does not change the row that was read.
        self.assertEqual('?', asked.stop)

    def test_an_earlier_one_is_known_already(self):
        """Nova was never asked for the later one."""
        self.one.failure, self.one.status = '', 'SHUTOFF'
        self.instance.stops = [('req-2', 'watcher')]
        self.user_is('watcher')
        past = [
            PastRestart(1.0, 'SUCCEEDED', True, 'req-2'),
            PastRestart(2.0, 'ONGOING', True, '?'),
        ]
        self.note(past)
        self.assertEqual('', self.one.restarts[1].stop)
