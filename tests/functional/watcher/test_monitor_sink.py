# SPDX-License-Identifier: Apache-2.0
"""The sink of the instance monitor, with a Watcher that is real.

Its user has a role of its own, and the sample of policies.
"""

import threading
import time
import wsgiref.simple_server

import fixtures
import yaml
from oslo_config import cfg
from oslo_policy import policy as oslo_policy
from watcher import objects
from watcher.api import app
from watcher.common import policies, policy

from kronos.monitor.sinks.base import Outcome
from kronos.monitor.sinks.watcher import Watcher
from tests import places
from tests.functional.watcher import base
from tests.unit.monitor.sinks import services

SAMPLE = places.TOP / 'deploy' / 'monitor' / 'watcher-policy.yaml'
ROLE = 'kronos_trigger'
NAME = 'recover'
MAY = {'webhook:trigger', 'audit:get'}


class Silent(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


class MonitorSinkTestCase(base.KronosTestCase):
    def setUp(self):
        super().setUp()
        self.roles = ['reader', ROLE]
        self.ahead = 0.0
        policy_file = cfg.CONF.oslo_policy.policy_file
        with open(policy_file, 'w') as file:
            file.write(SAMPLE.read_text())
        policy._ENFORCER = None
        self.addCleanup(policy.init().clear)
        api = app.VersionSelectorApplication()

        def asked(environ, start_response):
            # As Keystone's middleware does it.
            environ['HTTP_X_ROLES'] = ','.join(self.roles)
            environ['HTTP_X_USER_ID'] = environ['HTTP_X_PROJECT_ID'] = 'u'
            environ['HTTP_X_AUTH_TOKEN'] = 'token'
            return api(environ, start_response)

        server = wsgiref.simple_server.make_server(
            '127.0.0.1', 0, asked, handler_class=Silent
        )
        self.addCleanup(server.server_close)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        self.url = f'http://127.0.0.1:{server.server_port}'

    def sink(self, **more):
        options = services.options(
            'watcher',
            self.url,
            auth_type='none',
            endpoint=self.url,
            audit=NAME,
            **more,
        )
        made = Watcher(
            'watcher', options, lambda: time.monotonic() + self.ahead
        )
        self.addCleanup(made.close)
        made.begin()
        return made

    def event_audit(self):
        response = self.admin_api.post(
            '/audits',
            {
                'name': NAME,
                'audit_type': 'EVENT',
                'goal': 'kronos_balance',
                'strategy': 'kronos_spread',
                'parameters': {'aggregates': 'alpha'},
            },
        )
        self.assertEqual(201, response.status_code, response.text)
        return response.json()

    def until(self, condition):
        deadline = time.monotonic() + 120
        while not (found := condition()):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        return found

    def delivered(self, sink):
        """Trigger until an audit began; nothing else may happen."""

        def is_done():
            result = sink.trigger()
            told = (Outcome.PENDING, Outcome.DELIVERED)
            self.assertIn(result.outcome, told, result.text)
            return result.outcome is Outcome.DELIVERED

        self.until(is_done)


class TestTriggers(MonitorSinkTestCase):
    def test_five_incidents_one_after_the_other(self):
        audit = self.event_audit()
        sink = self.sink()
        for number in range(1, 6):
            sink.begin()
            self.ahead += 60.0
            self.delivered(sink)
            self.until(lambda number=number: len(self.plans(audit)) == number)
            self.wait_for('audits', audit['uuid'])

    def test_one_while_a_plan_runs(self):
        """Watcher takes it, and passes it over; it is not lost."""
        first = self.create_audit()
        plan = objects.ActionPlan.get_by_uuid(
            self.context, self.plan(first)['uuid'], eager=True
        )
        plan.state = 'ONGOING'
        plan.save()
        audit = self.event_audit()
        sink = self.sink()
        for _ in range(3):
            self.assertIs(Outcome.PENDING, sink.trigger().outcome)
            self.ahead += 61.0
        self.assertEqual([], self.plans(audit))
        plan.state = 'SUCCEEDED'
        plan.save()
        self.delivered(sink)
        self.until(lambda: self.plans(audit))

    def test_what_it_is_told_of_an_audit_that_failed(self):
        audit = objects.Audit.get_by_uuid(
            self.context, self.event_audit()['uuid'], eager=True
        )
        audit.state = 'FAILED'
        audit.save()
        for confirm in (True, False):
            result = self.sink(confirm=confirm).trigger()
            self.assertIs(Outcome.AWAY, result.outcome)
            self.assertIn('FAILED', result.text)
            self.assertIn('create another one with that name', result.text)

    def test_one_that_runs(self):
        audit = objects.Audit.get_by_uuid(
            self.context, self.event_audit()['uuid'], eager=True
        )
        audit.state = 'ONGOING'
        audit.save()
        for confirm in (True, False):
            result = self.sink(confirm=confirm).trigger()
            self.assertIs(Outcome.PENDING, result.outcome, result.text)


class TestRights(MonitorSinkTestCase):
    def test_check(self):
        self.assertIn('there is no audit', self.sink().check('h'))
        audit = self.event_audit()
        self.assertEqual('', self.sink().check('h'))
        self.assertEqual('', self.sink(confirm=False).check('h'))
        self.assertEqual([], self.plans(audit))
        self.roles = ['reader']
        self.assertIn('policy audit:get', self.sink().check('h'))
        told = self.sink(confirm=False).check('h')
        self.assertIn('policy webhook:trigger', told)

    def test_nothing_else(self):
        """Of all that Watcher has rules for."""
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
        folder = self.useFixture(fixtures.TempDir()).path
        path = f'{folder}/policy.yaml'
        with open(path, 'w') as file:
            file.write(SAMPLE.read_text())
        enforcer = oslo_policy.Enforcer(conf, policy_file=path)
        enforcer.register_defaults(policies.list_rules())
        enforcer.load_rules()
        rules = [
            rule.name for rule in policies.list_rules() if ':' in rule.name
        ]
        self.assertGreater(len(rules), 20)
        may = {
            name
            for name in rules
            if enforcer.enforce(name, {}, {'roles': [ROLE, 'reader']})
        }
        self.assertEqual(MAY, may)
        self.assertEqual(MAY, {*yaml.safe_load(SAMPLE.read_text())})
