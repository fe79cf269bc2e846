# SPDX-License-Identifier: Apache-2.0
"""Watcher's API, decision engine and applier in process, on a small cloud.

Nothing of Kronos is patched: it is loaded through its entry points and finds
the cloud through Watcher's configuration.
"""

import fixtures
import pecan
import requests
from oslo_config import cfg
from pecan import configuration
from watcher import objects

from tests import watcher_tests
from tests.fakes.small_cloud import cloud
from tests.functional.watcher import catalog, database

if watcher_tests.IS_HARNESS_THERE:
    from watcher.tests.functional import base
else:
    from tests.functional.watcher import before_17 as base

CONF = cfg.CONF
PATIENCE_SECONDS = 240
OVER = ('SUCCEEDED', 'FAILED', 'CANCELLED')

POLICIES = """
policies:
- name: cpu
  mode: spread
  weight: 0.5
  imbalance_query: cpu_host
  vm_profile_query: cpu_instance
- name: memory
  mode: spread
  weight: 0.5
  imbalance_query: memory_host
  vm_profile_query: memory_instance
"""


def uuid(number):
    return f'{number:08d}-1111-1111-1111-111111111111'


def servers(host, first, count, **fields):
    return [
        cloud.Server(uuid(n), host, f'vm{n}', **fields)
        for n in range(first, first + count)
    ]


class KronosTestCase(base.WatcherFunctionalTestCase):
    """Four hosts in alpha, all servers on the first two; one host outside.

    ``CLOUD`` makes another cloud.
    """

    @staticmethod
    def CLOUD():  # noqa: N802
        return cloud.Cloud(
            ['h1', 'h2', 'h3', 'h4', 'h5'],
            {'alpha': ['h1', 'h2', 'h3', 'h4']},
            servers('h1', 1, 6) + servers('h2', 11, 2),
        )

    def setUp(self):
        # Watcher's unit tests leave pecan without any settings.
        pecan.set_config(configuration.DEFAULT, overwrite=True)
        super().setUp()
        self.writers = self.useFixture(database.WritersFirst())
        self.cloud = self.useFixture(self.CLOUD())
        folder = self.useFixture(fixtures.TempDir()).path
        self.policies_file = f'{folder}/policies.yaml'
        self.write_policies(POLICIES)
        self._lead_to_cloud()
        self.set(
            'kronos',
            policies_file=self.policies_file,
            cooldown=0,
            migration_poll_interval=0.1,
            retry_backoff=0.1,
        )
        self.set(
            'kronos_prometheus',
            url=self.cloud.prometheus_url,
            max_retries=0,
        )

    def _lead_to_cloud(self):
        endpoints = {
            'nova': self.cloud.nova_url,
            'placement': self.cloud.placement_url,
        }
        if all(group in CONF for group in endpoints):
            self.set('watcher_clients_auth', auth_type='none')
            for group, url in endpoints.items():
                self.set(group, endpoint_override=url)
        else:  # before Watcher 17
            endpoints['compute'] = endpoints.pop('nova')
            self.useFixture(catalog.Keystone(endpoints))

    def set(self, group, **options):
        for name, value in options.items():
            CONF.set_override(name, value, group)
            self.addCleanup(CONF.clear_override, name, group)

    def write_policies(self, text):
        with open(self.policies_file, 'w') as file:
            file.write(text)

    def create_audit(self, **fields):
        """Create an audit and wait until its first run is over."""
        return self.wait_for('audits', self.begin_audit(**fields)['uuid'])

    def begin_audit(self, **fields):
        """Create an audit, and wait for nothing."""
        body = {
            'audit_type': 'ONESHOT',
            'goal': 'kronos_balance',
            'strategy': 'kronos_spread',
            'parameters': {'aggregates': 'alpha'},
            **fields,
        }
        response = self.admin_api.post('/audits', body)
        self.assertEqual(201, response.status_code, response.text)
        return response.json()

    def wait_for(self, kind, which, states=OVER):
        """Wait for a condition; the limit only ends a hanging test."""
        self.writers.wait_for(kind, which, states, PATIENCE_SECONDS)
        row = self.admin_api.get(f'/{kind}/{which}').json()
        if row['state'] not in states:
            self.fail(f'{kind} {which} stays {row["state"]}')
        return row

    def message(self, audit):
        """What ``openstack optimize audit show`` prints."""
        headers = self.admin_api._headers()
        headers['OpenStack-API-Version'] = 'infra-optim 1.5'
        response = requests.get(
            f'{self.admin_api.base_url}/audits/{audit["uuid"]}',
            headers=headers,
            timeout=60,
        )
        return response.json()['status_message']

    def plans(self, audit):
        rows = self.admin_api.get(f'/action_plans?audit_uuid={audit["uuid"]}')
        return [
            self.admin_api.get(f'/action_plans/{row["uuid"]}').json()
            for row in rows.json()['action_plans']
        ]

    def plan(self, audit):
        (plan,) = self.plans(audit)
        return plan

    def actions(self, plan):
        """The actions in the order of the plan."""
        found = objects.Action.list(
            self.context, filters={'action_plan_uuid': plan['uuid']}
        )
        return sorted(
            found, key=lambda a: a.input_parameters.get('sequence', 0)
        )

    def start(self, plan):
        response = self.admin_api.patch(
            f'/action_plans/{plan["uuid"]}',
            [{'op': 'replace', 'path': '/state', 'value': 'PENDING'}],
        )
        self.assertEqual(200, response.status_code, response.text)
        return self.wait_for('action_plans', plan['uuid'])
