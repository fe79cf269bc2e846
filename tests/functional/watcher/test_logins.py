# SPDX-License-Identifier: Apache-2.0
"""Do audits and actions get over a Keystone that answers something else?

By Watcher's own session, with the generic plugin that operators have.
"""

import threading

from keystoneauth1 import loading
from oslo_config import cfg

from tests.fakes import loopback_keystone
from tests.functional.watcher import base

CONF = cfg.CONF
GROUP = 'watcher_clients_auth'
MOMENT = 1.0
"""Seconds for which Keystone is not well while a server moves."""


class LoginTestCase(base.KronosTestCase):
    CAST_AS_CALL = False

    def setUp(self):
        self.options = loading.get_auth_plugin_conf_options('password')
        # Last of all: they are required, and can only go after a reset.
        self.addCleanup(CONF.unregister_opts, self.options, GROUP)
        super().setUp()
        self.set('kronos', migration_timeout=30, queue_timeout=30)

    def planned(self):
        audit = self.create_audit(
            parameters={'aggregates': 'alpha', 'max_migrations': 1}
        )
        self.assertEqual('SUCCEEDED', audit['state'], self.message(audit))
        return self.plan(audit)

    def _lead_to_cloud(self):
        self.keystone = self.useFixture(
            loopback_keystone.Keystone(
                {
                    'compute': self.cloud.nova_url,
                    'placement': self.cloud.placement_url,
                }
            )
        )
        CONF.register_opts(self.options, GROUP)
        self.set(GROUP, auth_type='password', timeout=1, **self.keystone.auth)


class TestAudits(LoginTestCase):
    START_APPLIER = False

    def be(self, mood):
        self.keystone.be(mood)
        self.set(GROUP, timeout=loopback_keystone.limit_of(mood))

    def test_each_mood(self):
        for mood in loopback_keystone.MOODS:
            with self.subTest(mood):
                self.be(mood)
                audit = self.create_audit()
                text = self.message(audit)
                self.assertEqual('FAILED', audit['state'], text)
                self.assertEqual(1, len(text.splitlines()))
                self.assertIn('Keystone', text)
                self.be('')
                self.planned()


class TestActions(LoginTestCase):
    """Keystone is not well during a move, which is followed to its end."""

    def test_401(self):
        self.check_move('401')

    def test_html(self):
        self.check_move('HTML')

    def test_silence(self):
        self.check_move('silence')

    def check_move(self, mood):
        plan = self.planned()
        (action,) = self.actions(plan)
        server = self.cloud.servers[action.input_parameters['resource_id']]
        server.script = ('accepted', *['running'] * 5, 'completed')
        asked = []
        timer = threading.Timer(
            MOMENT, lambda: asked.extend(self.keystone.be(''))
        )

        def upset(migration):
            self.cloud.on_look = lambda migration: None
            self.keystone.be(mood)
            # So that a new token is needed.
            self.cloud.answers['GET', '/nova/v2.1/servers'] = [401]
            timer.start()

        self.cloud.on_look = upset
        self.start(plan)
        timer.join()
        self.assertNotEqual([], asked)
        (action,) = self.actions(plan)
        self.assertEqual('SUCCEEDED', action.state, action.status_message)
        self.assertEqual(
            action.input_parameters['destination_node'], server.host
        )
        self.assertEqual(1, len(self.cloud.migrations))
