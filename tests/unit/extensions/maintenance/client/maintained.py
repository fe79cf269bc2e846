# SPDX-License-Identifier: Apache-2.0
"""A cloud whose Watcher carries a maintenance run out, and its operator."""

import json
import re
from typing import Any

import fixtures
from keystoneauth1 import adapter

from kronos.clients.nova.client import NovaClient
from kronos.extensions.maintenance.client.run_reader import RunReader
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from tests.fakes import keystone, watcher_api
from tests.unit.osc import clouds

HOSTS = ('h1', 'h2', 'h3')
AUDIT = clouds.uuid(9001)
PLAN = clouds.uuid(1)
AUDITS = f'{watcher_api.WATCHER}/v1/audits'
NOW = clouds.NOW.timestamp()
HOUR = 3600.0
STATES = {
    'PENDING': ('ONGOING', 'CANCELLED'),
    'ONGOING': ('SUSPENDED', 'CANCELLED', 'CANCELLING'),
    'SUSPENDED': ('ONGOING',),
    'RECOMMENDED': ('CANCELLED',),
}
"""What Watcher lets an audit, or a plan, become."""


class MaintainedTestCase(clouds.CloudTestCase):
    """Three hosts, all open; ``close`` and ``begin`` change that."""

    def setUp(self) -> None:
        super().setUp()
        token = keystone.ks_fixture.V3Token()
        token.set_project_scope()
        for kind, url in (
            ('infra-optim', watcher_api.WATCHER),
            ('compute', keystone.NOVA),
        ):
            service = token.add_service(kind)
            service.add_standard_endpoints(public=url, region='one')
        self.keystone.session.invalidate()
        wire = self.keystone.wire
        wire.post(
            f'{keystone.AUTH_URL}/auth/tokens',
            json=token,
            headers={'X-Subject-Token': 'ks-token'},
        )
        self.strategies = ['kronos_maintain', 'kronos_spread']
        wire.get(f'{watcher_api.WATCHER}/v1/strategies', json=self._strategies)
        wire.post(AUDITS, text=self._create)
        wire.patch(re.compile(f'^{watcher_api.WATCHER}'), text=self._patch)
        self.services = {name: self._open(name) for name in HOSTS}
        self.servers: dict[str, list[str]] = {}
        """Statuses, by host."""
        wire.get(
            re.compile(f'^{keystone.NOVA}/os-services'), json=self._services
        )
        wire.get(
            re.compile(f'^{keystone.NOVA}/servers/detail'), json=self._servers
        )
        self.migrations: list[dict[str, Any]] = []
        wire.get(
            re.compile(f'^{keystone.NOVA}/os-migrations'),
            json=lambda request, _: {
                'migrations': [] if 'marker' in request.qs else self.migrations
            },
        )
        self.useFixture(
            fixtures.MonkeyPatch(
                'kronos.extensions.maintenance.client.commands.POLL_SECONDS',
                0.0,
            )
        )
        self.useFixture(
            fixtures.MonkeyPatch('kronos.osc.run.polling.SECONDS', 0.0)
        )

    def reader(self) -> RunReader:
        nova = adapter.Adapter(
            self.keystone.session, service_type='compute', region_name='one'
        )
        return RunReader(
            self.client, NovaClient(nova, max_retries=0), lambda: NOW
        )

    def _strategies(self, request: Any, context: Any) -> Any:
        return {
            'strategies': [
                {'name': name, 'goal_name': 'g'} for name in self.strategies
            ]
        }

    def _create(self, request: Any, context: Any) -> str:
        fields = request.json()
        fields['strategy_name'] = fields['strategy']
        is_look = fields['audit_type'] == 'ONESHOT'
        self.begin('SUCCEEDED' if is_look else 'PENDING', **fields)
        context.status_code = 201
        return '{}'

    def _patch(self, request: Any, context: Any) -> str:
        [change] = request.json()
        _, _, kind, uuid = request.path.split('/')
        rows = self.watcher.audits.values()
        if kind == 'action_plans':
            rows = self.watcher.plans  # type: ignore[assignment]
        [row] = [row for row in rows if row['uuid'] == uuid]
        if change['value'] not in STATES.get(row['state'], ()):
            context.status_code = 400
            return json.dumps(
                watcher_api.fault('State transition not allowed')
            )
        row['state'] = change['value']
        return '{}'

    def begin(self, state: str = 'ONGOING', **fields: Any) -> str:
        """An audit of the run r1 over all hosts."""
        number = 1 + len(self.watcher.audits)
        uuid = self.add_audit(
            number,
            **{
                'audit_type': 'CONTINUOUS',
                'strategy_name': 'kronos_maintain',
                'parameters': {'hosts': [*HOSTS], 'run': 'r1'},
                'created_at': clouds.ago(120),
                'state': state,
                **fields,
            },
        )
        row = self.watcher.audits[uuid]
        if row['name'] != f'audit-{number}':
            self.watcher.audits[row['name']] = row
        return uuid

    def plan_next(self, **fields: Any) -> str:
        """A plan of the first audit, without any action so far."""
        return self.add_plan(
            1 + len(self.watcher.plans),
            strategy_name='kronos_maintain',
            audit_uuid=AUDIT,
            **fields,
        )

    def act(self, kind: str, host: str, minutes: float, **fields: Any) -> None:
        """An action of the run on a host, which ended so long ago."""
        self.add_action(
            PLAN,
            action_type=kind,
            updated_at=clouds.ago(minutes),
            inputs={
                'source_node': host,
                'audit_uuid': AUDIT,
                'run': 'r1',
                'phase': 'evacuate' if kind.endswith('migrate') else '',
                **fields.pop('inputs', {}),
            },
            **fields,
        )

    @staticmethod
    def _open(name: str) -> dict[str, Any]:
        return {
            'id': clouds.uuid(int(name[1:])),
            'binary': 'nova-compute',
            'host': name,
            'zone': 'nova',
            'state': 'up',
            'status': 'enabled',
            'disabled_reason': None,
            'forced_down': False,
        }

    def close(
        self, host: str, step: Step = Step.HANDED_OVER, age: float = 60.0
    ) -> None:
        reason = str(ClosingReason('r1', step, float(int(NOW - age)), AUDIT))
        self.services[host] |= {
            'status': 'disabled',
            'disabled_reason': reason,
        }

    def close_by_hand(self, host: str) -> None:
        self.services[host] |= {
            'status': 'disabled',
            'disabled_reason': 'mine',
        }

    def _services(self, request: Any, context: Any) -> Any:
        return {'services': list(self.services.values())}

    def _servers(self, request: Any, context: Any) -> Any:
        [host] = request.qs['host']
        return {
            'servers': [
                {
                    'id': clouds.uuid(500 + number),
                    'name': f'vm{number}',
                    'status': status,
                    'OS-EXT-SRV-ATTR:host': host,
                    'flavor': {
                        'vcpus': 1,
                        'ram': 64,
                        'disk': 0,
                        'extra_specs': {},
                    },
                }
                for number, status in enumerate(self.servers.get(host, []))
            ]
        }

    def ended(self, code: int, *arguments: str) -> Any:
        """The JSON of a command, or the line that it ends with."""
        words = ('maintenance', *arguments, '-f', 'json')
        status, out, err = self.run_client(*words)
        self.assertEqual(code, status, f'{out}\n{err}')
        return json.loads(out) if out else err.strip()
