# SPDX-License-Identifier: Apache-2.0
"""A cloud whose Watcher has plans of Kronos, and a user of it."""

import datetime
import json
from typing import Any

from oslotest import base

from kronos.clients import watcher
from tests import openstack_client
from tests.fakes import keystone, watcher_api

NOW = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
PASSWORD = 's3cret'
TOLD = (
    'Action failed in pre_condition: KRONOS:PreFlightError: '
    '[instance_locked] the instance is locked'
)
"""The message of an action, as Watcher and Kronos word it."""


def uuid(number: int) -> str:
    return f'{number:08d}-1111-4111-8111-111111111111'


def ago(minutes: float) -> str:
    """A time as Watcher writes it."""
    return (NOW - datetime.timedelta(minutes=minutes)).isoformat()


class ClientTestCase(base.BaseTestCase):
    """A user of a cloud, of which the catalog is all that there is."""

    def setUp(self) -> None:
        super().setUp()
        self.keystone = self.useFixture(keystone.Keystone())

    def run_client(
        self, *arguments: str, cloud: dict[str, Any] | None = None
    ) -> tuple[int, str, str]:
        """Exit status, stdout and stderr of ``openstack optimize kronos``."""
        options = {
            'auth': {
                'auth_url': keystone.AUTH_URL,
                'username': 'somebody',
                'password': PASSWORD,
                'user_domain_id': 'default',
                'project_name': 'p',
                'project_domain_id': 'default',
            },
            'region_name': 'one',
            **(cloud or {}),
        }
        client = self.useFixture(openstack_client.OpenStackClient(options))
        result = client.run('optimize', 'kronos', *arguments)
        self.assertNotIn(PASSWORD, ''.join(map(str, result)))
        return result

    def told(self, *arguments: str) -> Any:
        """The JSON of a command that goes well."""
        code, out, err = self.run_client(*arguments, '-f', 'json')
        self.assertEqual((0, ''), (code, err))
        return json.loads(out)

    def refused(self, *arguments: str, **more: Any) -> str:
        """The one line of a command that does not."""
        code, out, err = self.run_client(*arguments, **more)
        self.assertEqual((1, ''), (code, out), err)
        self.assertEqual(1, err.count('\n'), err)
        return err.strip()


class CloudTestCase(ClientTestCase):
    """All that Watcher has is added by the tests."""

    def setUp(self) -> None:
        super().setUp()
        self.watcher = self.useFixture(
            watcher_api.WatcherApi(self.keystone.wire)
        )
        self.client = watcher.find(self.keystone.session, max_retries=0)

    def add_audit(self, number: int = 1, **fields: Any) -> str:
        result = uuid(9000 + number)
        self.watcher.audits[result] = {
            'uuid': result,
            'name': f'audit-{number}',
            'status_message': f'alpha: sentence {number}',
            **fields,
        }
        return result

    def add_plan(self, number: int, **fields: Any) -> str:
        """One that was made ``number`` minutes ago."""
        result = uuid(number)
        self.watcher.plans.append(
            {
                'uuid': result,
                'state': 'SUCCEEDED',
                'strategy_name': 'kronos_spread',
                'audit_uuid': None,
                'status_message': None,
                'efficacy_indicators': [],
                'global_efficacy': [],
                'created_at': ago(number),
                'updated_at': None,
                **fields,
            }
        )
        return result

    def add_action(
        self, plan: str, server: str = 'vm1', **fields: Any
    ) -> dict[str, Any]:
        """A move from h1 to h2; ``inputs`` adds to its parameters."""
        parameters = {
            'resource_id': uuid(int(server.removeprefix('vm'))),
            'resource_name': server,
            'aggregate': 'alpha',
            'phase': 'spread',
            'sequence': 1,
            'source_node': 'h1',
            'destination_node': 'h2',
            'imbalance': 'cpu 0.600 -> 0.400',
            'combined_imbalance': '0.600 -> 0.400',
            'action_plan_uuid': plan,
            **fields.pop('inputs', {}),
        }
        row = {
            'uuid': uuid(100 + len(self.watcher.actions)),
            'action_plan_uuid': plan,
            'action_type': 'kronos_live_migrate',
            'state': 'SUCCEEDED',
            'input_parameters': parameters,
            'status_message': None,
            'created_at': ago(9),
            'updated_at': ago(5),
            **fields,
        }
        self.watcher.actions.append(row)
        return row
