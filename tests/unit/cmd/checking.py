# SPDX-License-Identifier: Apache-2.0
"""A cloud and a Prometheus at the wire for kronos-test-config."""

import json
import pathlib
import time
import warnings
from collections.abc import Sequence
from typing import Any
from urllib import parse

import fixtures
from keystoneauth1 import fixture as ks_fixture

from kronos.cmd import test_config
from tests import commands, golden
from tests.fakes import keystone
from tests.fakes.keystone import AUTH_URL, NOVA, PLACEMENT
from tests.unit.clients.nova.test_client import (
    AGGREGATES,
    GROUPS,
    HYPERVISORS,
    SERVERS,
    SERVICE,
    SERVICES,
    aggregate,
    hypervisor,
    server,
)

PROMETHEUS = 'http://metrics.example.org:9090'
SECRETS = ('s3cret', 't0ken', 'pa55')
HOSTS = ('a1', 'a2', 'a3')
NOTHING: dict[str, str] = {}


def policy(name: str = 'cpu', **fields: Any) -> dict[str, Any]:
    """A row of a policies file; the queries are called by its name."""
    return {
        'name': name,
        'mode': 'spread',
        'weight': 1.0,
        'imbalance_query': f'{name}_of_host',
        'vm_profile_query': f'{name}_of_vm',
        'vm_profile_label': 'uuid',
        'vm_profile_label_type': 'nova_instance_uuid',
        **fields,
    }


class CheckTestCase(golden.GoldenTestCase):
    """Three hosts in the aggregate ``a``, a server on each; all is well."""

    newest = '2.104'
    hosts: Sequence[str] = HOSTS

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name in ('OS_CLOUD', 'OS_AUTH_URL', 'OS_AUTH_TYPE'):
            self.useFixture(fixtures.EnvironmentVariable(name))
        # It would silence the loggers of the tests that come after.
        self.useFixture(
            fixtures.MonkeyPatch('kronos.cmd.config_files.log', lambda _: None)
        )
        self.useFixture(fixtures.FakeLogger())
        # Python shows those of libraries to tests only.
        quiet = warnings.catch_warnings()
        quiet.__enter__()
        self.addCleanup(quiet.__exit__, None, None, None)
        warnings.simplefilter('ignore')
        self.useFixture(fixtures.MonkeyPatch('time.sleep', lambda _: None))
        self.wire = self.useFixture(keystone.Keystone(self.newest)).wire
        self.inspected: list[tuple[str, Any]] = []
        self.loaded: Any = {}
        """What the inspection of Watcher's plugins says."""
        self.weighers: Any = {}
        """What the inspection of nova-scheduler says."""
        self.series: dict[str, list[tuple[str, Any]]] = {
            'cpu_of_host': [('a1', 0.1), ('a2', 0.5), ('a3', 0.4)],
            'cpu_of_vm': [('u-a1', 0.05), ('u-a2', 0.45), ('u-a3', 0.35)],
        }
        """Query to pairs of a label's value and a value."""
        self.extra: dict[str, dict[str, Any]] = {}
        """Query to what is beside ``data`` in its answer."""
        self.unlabelled: list[str] = []
        """Queries with one more series, which lacks the label."""
        self.age = 0.0
        """Of the samples, in seconds."""
        self.apart = 0.0
        """Between the samples of an answer, as a gateway gives them."""
        self.labels = {'cpu_of_vm': 'uuid'}
        """Query to the name of its label; else ``host``."""
        self.write_policies(policy())
        self.fill()

    def fill(self) -> None:
        """The answers of a cloud where all is well."""
        wire = self.wire
        self.hypervisors(*self.hosts)
        self.aggregates(aggregate(1, 'a', *self.hosts))
        wire.get(
            SERVICES,
            json={
                'services': [SERVICE | {'host': host} for host in self.hosts]
            },
        )
        self.servers(*(self.server(host) for host in self.hosts))
        wire.get(GROUPS, json={'server_groups': []})
        wire.get(f'{NOVA}/os-migrations', json={'migrations': []})
        self.sizes(**dict.fromkeys(self.hosts, 8))
        wire.post(f'{PROMETHEUS}/api/v1/query', json=self.answer)

    def server(self, host: str, **more: Any) -> dict[str, Any]:
        return server(f'u-{host}', **{'OS-EXT-SRV-ATTR:host': host}, **more)

    def hypervisors(self, *hosts: str) -> None:
        rows = [hypervisor(host) for host in hosts]
        self.wire.get(HYPERVISORS, json={'hypervisors': rows})

    def aggregates(self, *rows: Any) -> None:
        self.wire.get(AGGREGATES, json={'aggregates': list(rows)})

    def servers(self, *rows: Any) -> None:
        self.wire.get(SERVERS, json={'servers': list(rows)})

    def sizes(self, **vcpus: int) -> None:
        """What Placement has of each host."""
        self.wire.get(
            f'{PLACEMENT}/resource_providers',
            json={
                'resource_providers': [
                    {
                        'uuid': host,
                        'root_provider_uuid': host,
                        'name': f'{host}.example.org',
                    }
                    for host in vcpus
                ]
            },
        )
        self.wire.get(
            f'{PLACEMENT}/allocation_candidates',
            json={
                'provider_summaries': {
                    host: {
                        'resources': {'VCPU': {'capacity': size, 'used': 2}},
                        'traits': ['COMPUTE_NODE'],
                    }
                    for host, size in vcpus.items()
                }
            },
        )

    def roles(self, *names: str) -> None:
        """Give the user other roles than ``admin``."""
        body = self.token()
        body['token']['roles'] = [{'id': name, 'name': name} for name in names]
        self.wire.post(
            f'{AUTH_URL}/auth/tokens',
            json=body,
            headers={'X-Subject-Token': 'ks-token'},
        )

    def token(self) -> dict[str, Any]:
        """What Keystone gives, with the role admin."""
        token = ks_fixture.V3Token(user_name='kronos')
        token.set_project_scope(name='service')
        token.add_role(name='admin')
        for kind, url in (('compute', NOVA), ('placement', PLACEMENT)):
            token.add_service(kind).add_standard_endpoints(
                public=url, region='one'
            )
        return dict(token)

    def answer(self, request: Any, context: Any) -> Any:
        """Prometheus: the series of ``self.series``."""
        query = parse.parse_qs(request.text)['query'][0]
        label = self.labels.get(query, 'host')
        result = [
            {
                'metric': {label: value, 'job': 'x'},
                'value': [
                    time.time() - self.age - nth * self.apart,
                    str(number),
                ],
            }
            for nth, (value, number) in enumerate(self.series.get(query, []))
        ]
        if query in self.unlabelled:
            at = time.time() - self.age
            result.append({'metric': {'job': 'db'}, 'value': [at, '0.5']})
        return {
            'status': 'success',
            'data': {'resultType': 'vector', 'result': result},
            **self.extra.get(query, {}),
        }

    def queries(self) -> list[str]:
        return [
            parse.parse_qs(request.text)['query'][0]
            for request in self.wire.request_history
            if request.path == '/api/v1/query'
        ]

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return str(path)

    def write_policies(
        self, *rows: dict[str, Any], name: str = 'policies.yaml'
    ) -> str:
        return self.write(name, json.dumps({'policies': list(rows)}))

    def conf(
        self,
        name: str = 'kronos.conf',
        credentials: str = 'nova',
        prometheus: dict[str, str] = NOTHING,
        more: str = '',
        auth: dict[str, Any] = NOTHING,
        group: str = 'kronos_prometheus',
        **kronos: Any,
    ) -> str:
        """Write a configuration; all that it lacks is as it should be.

        :param group: that of Prometheus
        """
        kronos = {
            'policies_file': self.folder / 'policies.yaml',
            'aggregates': 'a',
            **kronos,
        }
        groups = {
            'kronos': kronos,
            group: {
                'url': PROMETHEUS,
                'max_retries': 0,
                **prometheus,
            },
            credentials: {
                'auth_type': 'password',
                'auth_url': AUTH_URL,
                'username': 'kronos',
                'password': SECRETS[0],
                'user_domain_id': 'default',
                'project_name': 'service',
                'project_domain_id': 'default',
                'region_name': 'one',
                **auth,
            },
        }
        if not credentials:
            del groups[credentials]
        lines = []
        for group, options in groups.items():
            lines.append(f'[{group}]')
            lines += [
                f'{key} = {value}'
                for key, value in options.items()
                if value is not None
            ]
        return self.write(name, '\n'.join([*lines, more, '']))

    def inspect(
        self, module: str, arguments: Sequence[str], request: Any
    ) -> Any:
        """Instead of a process that loads Watcher or Nova."""
        self.inspected.append((module, request))
        is_nova = module == 'kronos.weighers.probe'
        answer = self.weighers if is_nova else self.loaded
        if isinstance(answer, Exception):
            raise answer
        return answer

    def run_it(self, *arguments: str) -> tuple[int, str, str]:
        """Exit status, stdout, stderr; no secret in them."""
        code, out, err = commands.run(
            test_config.main, arguments, self.inspect
        )
        for secret in SECRETS:
            self.assertNotIn(secret, out + err)
        return code, out, err

    def check(self, *arguments: str) -> dict[str, Any]:
        """The report; the configuration is written unless it is named."""
        if not any(argument.startswith('--config') for argument in arguments):
            arguments = ('--config-file', self.conf(), *arguments)
        code, out, err = self.run_it(*arguments, '--format', 'json')
        self.assertEqual('', err)
        report: dict[str, Any] = json.loads(out)
        self.assertEqual(0 if report['good'] else 1, code)
        levels = {finding['level'] for finding in report['findings']}
        self.assertEqual(report['good'], 'error' not in levels)
        return report

    def all_findings(self, report: dict[str, Any]) -> list[dict[str, Any]]:
        """Causes and what follows from them."""
        return [
            finding
            for cause in report['findings']
            for finding in (cause, *cause['follows'])
        ]

    def causes(self, report: dict[str, Any]) -> dict[str, str]:
        """Code to level of what follows from nothing else."""
        return {cause['code']: cause['level'] for cause in report['findings']}

    def codes(self, report: dict[str, Any]) -> dict[str, str]:
        """Code to level of what was found."""
        return {
            finding['code']: finding['level']
            for finding in self.all_findings(report)
        }

    def finding(self, report: dict[str, Any], code: str) -> dict[str, Any]:
        """The only finding of a code; every cause tells how to mend it."""
        [finding] = [
            finding
            for finding in self.all_findings(report)
            if finding['code'] == code
        ]
        if finding['level'] != 'note' and 'follows' in finding:
            self.assertNotEqual('', finding['mend'])
        return dict(finding)
