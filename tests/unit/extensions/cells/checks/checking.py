# SPDX-License-Identifier: Apache-2.0
"""A cloud of two cells, with a Neutron, for ``--cells``."""

from typing import Any

from tests.fakes.keystone import AUTH_URL
from tests.unit.clients.nova.test_client import SERVICE, SERVICES, aggregate
from tests.unit.cmd.checking import HOSTS, CheckTestCase

NEUTRON = 'https://neutron.example.org'
CINDER = 'https://cinder.example.org'
RULE = 'compute:servers:resize:cross_cell'
HIDDEN = 'h1dden'
"""A value of Nova's files that no report may repeat."""


class CellsTestCase(CheckTestCase):
    """Of the hosts a1, a2 and a3 the first is in the cell ``old``."""

    def setUp(self) -> None:
        super().setUp()
        self.cells(old=HOSTS[:1], new=HOSTS[1:])
        self.catalog(f'{NEUTRON}/')
        self.extensions('quotas', 'binding-extended')
        self.cinder('3.71')

    def cells(self, **hosts: Any) -> None:
        """Aggregates that say so, beside that of the scope."""
        rows = [aggregate(1, 'a', *HOSTS)]
        for number, (cell, names) in enumerate(hosts.items(), 2):
            row = aggregate(number, f'of-{cell}', *names)
            row['metadata'] = {'kronos:cell': cell}
            rows.append(row)
        self.aggregates(*rows)

    def zones(self, **hosts: str) -> None:
        self.wire.get(
            SERVICES,
            json={
                'services': [
                    SERVICE | {'host': host, 'zone': zone}
                    for host, zone in hosts.items()
                ]
            },
        )

    def catalog(self, neutron: str, cinder: str = f'{CINDER}/v3') -> None:
        """Keystone's, with endpoints of Neutron and Cinder; '': without.

        ``{project}`` stands for the id of the user's project.
        """
        body = self.token()
        for kind, url in (('network', neutron), ('volumev3', cinder)):
            if url:
                project = body['token']['project']['id']
                self._add(body, kind, url.format(project=project))
        self.wire.post(
            f'{AUTH_URL}/auth/tokens',
            json=body,
            headers={'X-Subject-Token': 'ks-token'},
        )

    @staticmethod
    def _add(body: Any, kind: str, url: str) -> None:
        body['token']['catalog'].append(
            {
                'id': kind,
                'name': kind,
                'type': kind,
                'endpoints': [
                    {
                        'id': f'{kind}-1',
                        'interface': 'public',
                        'region': 'one',
                        'region_id': 'one',
                        'url': url,
                    }
                ],
            }
        )

    def extensions(self, *aliases: str) -> None:
        told = [{'alias': one, 'name': one} for one in aliases]
        self.wire.get(f'{NEUTRON}/v2.0/extensions', json={'extensions': told})

    def cinder(self, newest: str) -> None:
        version = {
            'id': 'v3.0',
            'status': 'CURRENT',
            'version': newest,
            'min_version': '3.0',
            'links': [{'rel': 'self', 'href': f'{CINDER}/v3/'}],
        }
        for path in ('/', '/v3', '/v3/'):
            self.wire.get(f'{CINDER}{path}', json={'versions': [version]})

    def policy(self, rule: str | None, more: str = '') -> str:
        """The path of a policy file of nova-api."""
        lines = [more] if rule is None else [f'"{RULE}": {rule}', more]
        return self.write('policy.yaml', '\n'.join([*lines, '']))

    def nova_conf(self, text: str = '', name: str = 'nova.conf') -> str:
        """The path of a nova.conf, with a secret in it."""
        secret = f'transport_url = rabbit://nova:{HIDDEN}@mq'
        return self.write(name, f'[DEFAULT]\n{secret}\n{text}\n')

    def run_it(self, *arguments: str) -> tuple[int, str, str]:
        code, out, err = super().run_it(*arguments)
        self.assertNotIn(HIDDEN, out + err)
        return code, out, err

    def asked(self, *arguments: str) -> dict[str, Any]:
        """The report of ``--cells``, with all files if none is given."""
        if not arguments:
            arguments = (
                '--cell-config',
                self.nova_conf(),
                '--nova-policy',
                self.policy('rule:admin_api'),
            )
        return self.check('--cells', *arguments)

    def found(self, report: dict[str, Any]) -> dict[str, str]:
        """What is found of cells: codes and levels."""
        return {
            code: level
            for code, level in self.codes(report).items()
            if code.startswith(('cells-', 'neutron-', 'cinder-', 'config-'))
        }

    def needs(self, report: dict[str, Any]) -> dict[str, tuple[str, Any]]:
        """Of each need its value, and whether it is good."""
        return {
            need['what']: (need['value'], need['is_good'])
            for need in report['cells']['needs']
        }
