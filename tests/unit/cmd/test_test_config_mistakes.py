# SPDX-License-Identifier: Apache-2.0
"""Is each mistake told as one cause, first, with the remedy that ends it?

A mistake is made in a cloud where all is well: two aggregates of five hosts,
two policies. Then its remedy is applied, as the finding words it.
"""

import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import requests

from tests.fakes.keystone import AUTH_URL, PLACEMENT
from tests.unit.clients.nova.test_client import (
    HYPERVISORS,
    SERVERS,
    SERVICE,
    SERVICES,
    aggregate,
)
from tests.unit.cmd.checking import PROMETHEUS, CheckTestCase, policy

QUERY = f'{PROMETHEUS}/api/v1/query'
OTHER = 'http://elsewhere.example.org:9090'
TOKENS = f'{AUTH_URL}/auth/tokens'
POLICIES = ('cpu', 'ram')
MOST_FINDINGS = 3
Conf = dict[str, Any]
"""Arguments of the configuration that is tested."""


class MistakeTestCase(CheckTestCase):
    hosts = ('a1', 'a2', 'a3', 'b1', 'b2')

    def setUp(self) -> None:
        super().setUp()
        self.well()

    def well(self) -> None:
        """A cloud where nothing is wrong."""
        self.roles('admin')
        self.hosts = MistakeTestCase.hosts
        self.age = self.apart = 0.0
        self.labels = {'cpu_of_vm': 'uuid', 'ram_of_vm': 'uuid'}
        self.measure()
        self.write_both()
        self.fill()
        self.of_two_aggregates()
        self.prometheus(json=self.answer)

    def measure(self) -> None:
        self.series = {}
        for name in POLICIES:
            self.series[f'{name}_of_host'] = [
                (host, 0.2 + number / 40)
                for number, host in enumerate(self.hosts)
            ]
            self.series[f'{name}_of_vm'] = [
                (f'u-{host}', 0.05) for host in self.hosts
            ]

    def write_both(self, **fields: Any) -> None:
        """Both policies, with these fields."""
        self.write_policies(
            *(policy(name, weight=0.5, **fields) for name in POLICIES)
        )

    def write_one(self, **fields: Any) -> None:
        """The first policy with these fields, the other one as it was."""
        self.write_policies(
            policy('cpu', **{'weight': 0.5, **fields}),
            policy('ram', weight=0.5),
        )

    def of_two_aggregates(self) -> None:
        first = [host for host in self.hosts if host.startswith('a')]
        rest = [host for host in self.hosts if host.startswith('b')]
        self.aggregates(aggregate(1, 'a', *first), aggregate(2, 'b', *rest))

    def prometheus(self, **answer: Any) -> None:
        self.wire.post(QUERY, **answer)

    def rename(self, form: str, *queries: str) -> None:
        """Have Prometheus write the hosts in another form."""
        for query in queries or [f'{name}_of_host' for name in POLICIES]:
            self.series[query] = [
                (form.format(host), value)
                for host, value in self.series[query]
            ]

    def scale(self, factor: float, *names: str) -> None:
        for name in names:
            self.series[f'{name}_of_host'] = [
                (host, factor * value)
                for host, value in self.series[f'{name}_of_host']
            ]

    def services(self, **state: Any) -> None:
        rows = [SERVICE | {'host': host} | state for host in self.hosts]
        self.wire.get(SERVICES, json={'services': rows})

    def refuse(self, status: int, *urls: str) -> None:
        for url in urls:
            self.wire.get(url, status_code=status, json={})


Step = Callable[[MistakeTestCase], Conf | None]


@dataclass
class Mistake:
    """What is made wrong, what is said of it, and what makes it right."""

    name: str
    code: str
    words: str
    """In the text of the first finding."""
    remedy: str
    """In what to do about it."""
    wrong: Step
    right: Step


def well(case: MistakeTestCase) -> Conf | None:
    case.well()
    return None


def conf(**options: Any) -> Step:
    """Write these options, and change nothing else."""
    return lambda _: options


def steps(*actions: Callable[[MistakeTestCase], Any]) -> Step:
    def run(case: MistakeTestCase) -> Conf | None:
        for action in actions:
            action(case)
        return None

    return run


def grow_old(case: MistakeTestCase) -> None:
    """Series have ages of their own behind a gateway."""
    case.age, case.apart = 400.0, 2.0


def whole_names(case: MistakeTestCase) -> None:
    """Nova has hosts with their domain, Prometheus without."""
    case.hosts = [f'{host}.cloud.example.org' for host in case.hosts]
    case.fill()
    case.of_two_aggregates()
    for name in POLICIES:
        case.series[f'{name}_of_vm'] = [
            (f'u-{host}', 0.05) for host in case.hosts
        ]


def by_instance(case: MistakeTestCase) -> None:
    for name in POLICIES:
        case.labels[f'{name}_of_host'] = 'instance'


NAMES = [
    Mistake(
        'Prometheus has domains',
        'host-names',
        'no host has a value: Prometheus has the name a1.x.org where Nova has '
        'a1',
        'set [kronos] host_match = short',
        steps(lambda case: case.rename('{}.x.org')),
        conf(host_match='short'),
    ),
    Mistake(
        'Prometheus has ports',
        'host-names',
        'has the name a1:9100 where Nova has a1',
        'set [kronos] host_match = short',
        steps(lambda case: case.rename('{}:9100')),
        conf(host_match='short'),
    ),
    Mistake(
        'Prometheus has domains and ports',
        'host-names',
        'has the name a1.x.org:9100 where Nova has a1',
        'host_match = short',
        steps(lambda case: case.rename('{}.x.org:9100')),
        conf(host_match='short'),
    ),
    Mistake(
        'Nova has domains',
        'host-names',
        'Prometheus has the name a1 where Nova has a1.cloud.example.org',
        'set [kronos] host_match = short',
        whole_names,
        conf(host_match='short'),
    ),
    Mistake(
        'one policy has domains',
        'host-names',
        'Prometheus has the name a1.x.org where Nova has a1',
        'host_match = short',
        steps(lambda case: case.rename('{}.x.org', 'cpu_of_host')),
        conf(host_match='short'),
    ),
    Mistake(
        'another label names the hosts',
        'query-failed',
        'no series has the label "host"',
        'write host_label: instance into each such policy',
        steps(by_instance),
        steps(lambda case: case.write_both(host_label='instance')),
    ),
    Mistake(
        'another label names them with a port',
        'query-failed',
        'no series has the label "host"',
        'host_label: instance into each such policy, and set [kronos] '
        'host_match = short',
        steps(by_instance, lambda case: case.rename('{}:9100')),
        lambda case: (
            case.write_both(host_label='instance') or {'host_match': 'short'}
        ),
    ),
    Mistake(
        'no label names them',
        'query-failed',
        'no series has the label "host"',
        'keep the label host in the query with "by (host)"',
        steps(by_instance, lambda case: case.rename('x-{}')),
        well,
    ),
    Mistake(
        'another label names the servers',
        'query-failed',
        'no series has the label "uuid"',
        'vm_profile_label: vm and vm_profile_label_type: nova_instance_uuid',
        steps(lambda case: case.labels.update(cpu_of_vm='vm', ram_of_vm='vm')),
        steps(lambda case: case.write_both(vm_profile_label='vm')),
    ),
    Mistake(
        'servers by their internal name',
        'servers-unknown',
        'should contain their nova_instance_uuid',
        'with vm_profile_label_type: nova_internal_name',
        steps(
            lambda case: case.series.update(
                {
                    f'{name}_of_vm': [
                        (f'instance-u-{host}', 0.05) for host in case.hosts
                    ]
                    for name in POLICIES
                }
            )
        ),
        steps(
            lambda case: case.write_both(
                vm_profile_label_type='nova_internal_name'
            )
        ),
    ),
]

VALUES = [
    Mistake(
        'percent',
        'policy-skipped',
        'must be in [0, 1]',
        'divide imbalance_query by 100',
        steps(lambda case: case.scale(100, 'cpu')),
        steps(lambda case: case.scale(0.01, 'cpu')),
    ),
    Mistake(
        'percent in both',
        'policy-skipped',
        'must be in [0, 1]',
        'divide imbalance_query by 100',
        steps(lambda case: case.scale(100, *POLICIES)),
        steps(lambda case: case.scale(0.01, *POLICIES)),
    ),
    Mistake(
        'bytes',
        'policy-skipped',
        'must be in [0, 1]',
        'divide imbalance_query by the capacity of the host',
        steps(lambda case: case.scale(2**30, 'ram')),
        steps(lambda case: case.scale(2**-30, 'ram')),
    ),
    Mistake(
        'below 0',
        'policy-skipped',
        'must be in [0, 1]',
        'a share is never below 0',
        steps(lambda case: case.scale(-1, 'ram')),
        steps(lambda case: case.scale(-1, 'ram')),
    ),
    Mistake(
        'two series of a host',
        'policy-skipped',
        'two series for host a1',
        'with "avg by (host)" or "max by (host)"',
        steps(lambda case: case.series['cpu_of_host'].append(('a1', 0.7))),
        well,
    ),
    Mistake(
        'no number',
        'hosts-unmeasured',
        'imbalance_query has no value for 5 hosts of 5',
        'Status > Targets',
        steps(
            lambda case: case.series.update(
                cpu_of_host=[(host, 'NaN') for host in case.hosts]
            )
        ),
        well,
    ),
    Mistake(
        'an exporter is down',
        'hosts-unmeasured',
        'has no value for 1 host of 5 (a3)',
        'Status > Targets',
        steps(
            lambda case: case.series['cpu_of_host'].pop(2),
            lambda case: case.series['ram_of_host'].pop(2),
        ),
        well,
    ),
    Mistake(
        'old samples',
        'query-failed',
        'the newest sample is',
        'have Prometheus scrape the exporters again',
        steps(grow_old),
        steps(lambda case: setattr(case, 'age', 0.0)),
    ),
    Mistake(
        'samples that are seldom',
        'query-failed',
        'staleness_threshold is 5 min',
        'raise [kronos_prometheus] staleness_threshold',
        steps(grow_old),
        conf(prometheus={'staleness_threshold': '600'}),
    ),
    Mistake(
        'the name of a metric',
        'query-empty',
        'policy cpu: imbalance_query gives no series',
        'correct the name cpu_off_host',
        steps(lambda case: case.write_one(imbalance_query='cpu_off_host')),
        steps(lambda case: case.write_one(imbalance_query='cpu_of_host')),
    ),
    Mistake(
        'the name of a metric of servers',
        'query-empty',
        'policy cpu: vm_profile_query gives no series',
        'correct the name cpu_off_vm',
        steps(lambda case: case.write_one(vm_profile_query='cpu_off_vm')),
        steps(lambda case: case.write_one(vm_profile_query='cpu_of_vm')),
    ),
    Mistake(
        'a window that is too short',
        'query-empty',
        'imbalance_query gives no series',
        'widen its window [15s] to four times the scrape interval',
        steps(
            lambda case: case.series.update({'count(x_total)': [('', 5)]}),
            lambda case: case.write_one(imbalance_query='rate(x_total[15s])'),
        ),
        steps(
            lambda case: case.write_one(imbalance_query='rate(x_total[4m])'),
            lambda case: case.series.update(
                {'rate(x_total[4m])': case.series['cpu_of_host']}
            ),
        ),
    ),
    Mistake(
        'labels that nothing has',
        'query-empty',
        'imbalance_query gives no series',
        'correct the labels in its selector of x_total',
        steps(
            lambda case: case.series.update({'count(x_total)': [('', 5)]}),
            lambda case: case.write_one(imbalance_query='x_total{job="z"}'),
        ),
        well,
    ),
    Mistake(
        'another Prometheus',
        'query-empty',
        'has no series for any query of the policies',
        'set [kronos_prometheus] url to the Prometheus that scrapes',
        steps(
            lambda case: case.prometheus(
                json={
                    'status': 'success',
                    'data': {'resultType': 'vector', 'result': []},
                }
            ),
            lambda case: case.wire.post(
                f'{OTHER}/api/v1/query', json=case.answer
            ),
        ),
        conf(prometheus={'url': OTHER}),
    ),
    Mistake(
        'a query that cannot be parsed',
        'query-failed',
        'parse error',
        'try the query in Prometheus',
        steps(
            lambda case: case.write_one(imbalance_query='rate(x'),
            lambda case: case.prometheus(json=refusing(case, 'rate(x')),
        ),
        well,
    ),
    Mistake(
        'a query that one may not ask',
        'query-failed',
        'HTTP 403',
        'try the query in Prometheus',
        steps(
            lambda case: case.write_one(imbalance_query='secret'),
            lambda case: case.prometheus(json=refusing(case, 'secret', 403)),
        ),
        well,
    ),
]


def refusing(
    case: MistakeTestCase, query: str, status: int = 400
) -> Callable[..., Any]:
    """A Prometheus that refuses one query."""

    def answer(request: Any, context: Any) -> Any:
        if case.queries()[-1] != query:
            return case.answer(request, context)
        context.status_code = status
        return {
            'status': 'error',
            'errorType': 'bad_data',
            'error': 'parse error' if status == 400 else 'not allowed',
        }

    return answer


def redirected(target: str) -> Step:
    return steps(
        lambda case: case.prometheus(
            status_code=302, headers={'Location': target}
        )
    )


def failing(error: Exception) -> Step:
    return steps(lambda case: case.prometheus(exc=error))


def tls(reason: str) -> Exception:
    error = ssl.SSLError(1, f'[SSL: {reason}] (_ssl.c:1006)')
    error.reason = reason
    return requests.exceptions.SSLError(error)


def certificate(code: int) -> Exception:
    error = ssl.SSLCertVerificationError(1, 'certificate verify failed')
    error.reason, error.verify_code = 'CERTIFICATE_VERIFY_FAILED', code
    return requests.exceptions.SSLError(error)


def connection(reason: Exception) -> Exception:
    error = requests.ConnectionError('no connection')
    error.__cause__ = reason
    return error


USER = {'username': 'kronos', 'password': 'pa55'}


def connections() -> list[Mistake]:
    """What is wrong between Kronos and Prometheus."""
    login = 'set username and password, or bearer_token_file'
    address = 'set [kronos_prometheus] url to the address of Prometheus'
    secure = 'write https:// instead of http://'
    rows: list[tuple[str, str, str, Step]] = [
        ('no login', 'HTTP 401', login, answering(401, 'Unauthorized')),
        ('no rights', 'HTTP 403', login, answering(403, 'forbidden')),
        ('the interface', 'HTTP 404', address, answering(404, 'not found')),
        (
            'a page',
            'not JSON',
            address,
            answering(200, '<html>Welcome to nginx!</html>'),
        ),
        (
            'another API',
            'does not come from Prometheus',
            address,
            steps(lambda case: case.prometheus(json={'hello': 1})),
        ),
        (
            'a page that wants a login',
            'not JSON',
            login,
            answering(200, '<form>Sign in <input type="password"></form>'),
        ),
        (
            'a redirect to a login',
            'it redirects to',
            login,
            redirected('https://sso.example.org/login?next=x'),
        ),
        (
            'a redirect to https',
            '302',
            secure,
            redirected('https://metrics.example.org:9090/api/v1/query'),
        ),
        (
            'a redirect to a prefix',
            '302',
            f'set [kronos_prometheus] url to {PROMETHEUS}/prom',
            redirected('/prom/api/v1/query'),
        ),
        (
            'http to https',
            'HTTP 400',
            secure,
            answering(400, 'Client sent an HTTP request to an HTTPS server.'),
        ),
        ('a proxy', 'HTTP 502', 'check in the log', answering(502, 'Bad')),
        ('too many', 'HTTP 429', 'more requests', answering(429, 'slow')),
        (
            'nothing listens',
            'cannot connect',
            'start Prometheus, or correct host and port',
            failing(connection(ConnectionRefusedError(111, 'refused'))),
        ),
        (
            'a host that nobody knows',
            'cannot connect',
            'correct the host in [kronos_prometheus] url',
            failing(connection(socket.gaierror(-2, 'Name not known'))),
        ),
        (
            'silence',
            'no answer within 30 s',
            'check that no firewall',
            failing(requests.ConnectTimeout()),
        ),
        (
            'https to http',
            'TLS',
            'write http:// instead of https://',
            failing(tls('WRONG_VERSION_NUMBER')),
        ),
        (
            'a CA of its own',
            'TLS',
            'set [kronos_prometheus] cafile',
            failing(certificate(20)),
        ),
        (
            'another name in the certificate',
            'TLS',
            'use in [kronos_prometheus] url the host name',
            failing(certificate(62)),
        ),
        (
            'a client without a certificate',
            'TLS',
            'set certfile and keyfile in [kronos_prometheus]',
            failing(tls('TLSV13_ALERT_CERTIFICATE_REQUIRED')),
        ),
    ]
    found = [
        Mistake(name, 'prometheus-away', words, remedy, wrong, well)
        for name, words, remedy, wrong in rows
    ]
    contradictory: list[tuple[str, str, str, dict[str, str]]] = [
        (
            'half a login',
            'username is set, but password is not',
            'set password, or remove username',
            {'username': 'x'},
        ),
        (
            'two logins',
            'bearer_token and username exclude each other',
            'remove bearer_token or username',
            {'bearer_token': 't0ken', **USER},
        ),
        (
            'a key alone',
            'keyfile is set, but certfile is not',
            'set certfile, or remove keyfile',
            {'keyfile': __file__},
        ),
        (
            'a path that Kronos adds',
            'url must not contain /api/v1',
            'correct url',
            {'url': f'{PROMETHEUS}/api/v1'},
        ),
        (
            'a file that is not there',
            'cafile /no/ca cannot be read',
            'correct [kronos_prometheus]',
            {'cafile': '/no/ca'},
        ),
    ]
    found += [
        Mistake(
            name,
            'prometheus-config',
            words,
            remedy,
            conf(prometheus=options),
            well,
        )
        for name, words, remedy, options in contradictory
    ]
    found.append(
        Mistake(
            'a token that is not there',
            'prometheus-away',
            'bearer_token_file /no/token: No such file',
            'correct the option of [kronos_prometheus]',
            conf(prometheus={'bearer_token_file': '/no/token'}),
            well,
        )
    )
    return found


def answering(status: int, text: str) -> Step:
    return steps(lambda case: case.prometheus(status_code=status, text=text))


FILES = [
    Mistake(
        'an option is misspelt',
        'option-unknown',
        '[kronos] host_mach is no option',
        'did you mean host_match?',
        lambda case: case.rename('{}.x.org') or {'host_mach': 'short'},
        conf(host_match='short'),
    ),
    Mistake(
        'the option of the policies is misspelt',
        'option-unknown',
        '[kronos] polices_file is no option',
        'did you mean policies_file?',
        conf(policies_file=None, polices_file='policies.yaml'),
        conf(),
    ),
    Mistake(
        'a group is misspelt',
        'option-unknown',
        '[kronos_promethius] is no option',
        'did you mean kronos_prometheus?',
        conf(group='kronos_promethius'),
        conf(),
    ),
    Mistake(
        'a login is misspelt',
        'option-unknown',
        '[kronos_prometheus] user_name is no option',
        'did you mean username?',
        conf(prometheus={'user_name': 'x', 'password': 'pa55'}),
        conf(prometheus=USER),
    ),
    Mistake(
        'the address of Keystone is misspelt',
        'option-unknown',
        '[nova] auth_ulr is no option',
        'did you mean auth_url?',
        conf(auth={'auth_url': None, 'auth_ulr': AUTH_URL}),
        conf(),
    ),
    Mistake(
        'a value that is none',
        'config-invalid',
        '[kronos] soft_rules',
        'correct the value',
        conf(soft_rules='no'),
        conf(),
    ),
    Mistake(
        'no policies file',
        'policies-invalid',
        'No such file',
        'set policies_file in [kronos] to the policies file',
        conf(policies_file='/nowhere/policies.yaml'),
        conf(),
    ),
    Mistake(
        'weights',
        'policies-invalid',
        'weight',
        'correct the file',
        steps(lambda case: case.write_one(weight=0.9)),
        steps(lambda case: case.write_one(weight=0.5)),
    ),
    Mistake(
        'no credentials',
        'credentials',
        'there are no credentials',
        'give credentials',
        conf(credentials=''),
        conf(),
    ),
    Mistake(
        'no password',
        'credentials',
        '[nova] username is set, but password is not',
        'set password',
        conf(auth={'password': None}),
        conf(),
    ),
    Mistake(
        'no such aggregate',
        'scope-invalid',
        'there is no aggregate "c"; known: a, b',
        'correct aggregates in [kronos]',
        conf(aggregates='c'),
        conf(aggregates='a'),
    ),
]


def statuses() -> list[Mistake]:
    """What is wrong with OpenStack, or with what may be read of it."""
    listings = (SERVICES, HYPERVISORS, SERVERS)
    return [
        Mistake(
            'a wrong password',
            'credentials',
            'Unauthorized (HTTP 401)',
            'correct the credentials',
            steps(
                lambda case: case.wire.post(
                    TOKENS,
                    status_code=401,
                    json={'error': {'message': 'no such user', 'code': 401}},
                )
            ),
            well,
        ),
        Mistake(
            'no role',
            'permission-admin',
            'has the roles reader',
            'give the user the role admin',
            steps(
                lambda case: case.roles('reader'),
                lambda case: case.refuse(403, *listings),
            ),
            well,
        ),
        Mistake(
            'a rule of Nova',
            'permission',
            'may not read the servers of all projects (os_compute_api',
            'os_compute_api:servers:detail:get_all_tenants',
            steps(lambda case: case.refuse(403, SERVERS)),
            well,
        ),
        Mistake(
            'Nova fails',
            'nova-failed',
            'HTTP 500',
            'see in the log of the service',
            steps(lambda case: case.refuse(500, *listings)),
            well,
        ),
        Mistake(
            'Nova trusts another Keystone',
            'nova-failed',
            'HTTP 401',
            'point the service to the same Keystone',
            steps(lambda case: case.refuse(401, *listings)),
            well,
        ),
        Mistake(
            'something else is at the endpoint of Nova',
            'nova-failed',
            'HTTP 404',
            'correct the endpoint of the service in the Keystone catalog',
            steps(lambda case: case.refuse(404, *listings)),
            well,
        ),
        Mistake(
            'another region',
            'nova-failed',
            'endpoint',
            'correct region_name and valid_interfaces in [nova]',
            conf(auth={'region_name': 'two'}),
            conf(),
        ),
        Mistake(
            'Nova does not listen',
            'nova-failed',
            'compute services',
            'start the service, or let this machine reach its endpoint',
            steps(
                lambda case: case.wire.get(
                    SERVICES, exc=requests.ConnectionError
                )
            ),
            well,
        ),
        Mistake(
            'Placement fails',
            'placement-failed',
            'HTTP 503',
            'see in the log of the service',
            steps(
                lambda case: case.refuse(
                    503, f'{PLACEMENT}/allocation_candidates'
                )
            ),
            well,
        ),
        Mistake(
            'servers without their hosts',
            'servers-hidden',
            'does not show the hosts of 5 servers',
            'os_compute_api:os-extended-server-attributes',
            steps(hide),
            well,
        ),
        Mistake(
            'all nova-computes are down',
            'scope-blocked',
            '0 of 3 hosts can take part',
            'bring it up (a1, a2, a3)',
            steps(lambda case: case.services(state='down')),
            well,
        ),
        Mistake(
            'all hosts are disabled',
            'scope-blocked',
            '0 of 3 hosts can take part',
            'enable it (a1, a2, a3)',
            steps(lambda case: case.services(status='disabled')),
            well,
        ),
        Mistake(
            'one host in an aggregate',
            'scope-blocked',
            '1 of 1 hosts can take part',
            'add hosts to its aggregate',
            lambda case: (
                case.aggregates(aggregate(1, 'a', 'a1')) or {'aggregates': 'a'}
            ),
            well,
        ),
        Mistake(
            'an aggregate of nothing',
            'scope-invalid',
            'a',
            'correct aggregates in [kronos], or the aggregate in Nova',
            steps(lambda case: case.aggregates(aggregate(1, 'a'))),
            well,
        ),
    ]


def hide(case: MistakeTestCase) -> None:
    rows = [case.server(host) for host in case.hosts]
    for row in rows:
        del row['OS-EXT-SRV-ATTR:host']
    case.servers(*rows)


EXCLUSIONS = [
    Mistake(
        'exclusions that cannot be parsed',
        'exclusions-unknown',
        'parse error',
        'correct exclude_hosts_query',
        lambda case: (
            case.prometheus(json=refusing(case, 'bad('))
            or {'exclude_hosts_query': 'bad('}
        ),
        conf(exclude_hosts_query=''),
    ),
    Mistake(
        'exclusions with a port',
        'exclusions-unknown',
        "its label 'a1:9177' is not a host",
        'set [kronos] host_match = short',
        lambda case: (
            case.series.update(failed=[('a1:9177', 1)])
            or {'exclude_hosts_query': 'failed'}
        ),
        conf(exclude_hosts_query='failed', host_match='short'),
    ),
    Mistake(
        'exclusions without a host',
        'exclusions-unknown',
        'neither a label "host" nor "instance"',
        'correct exclude_hosts_query',
        lambda case: (
            case.labels.update(failed='vm')
            or case.series.update(failed=[('x', 1)])
            or {'exclude_hosts_query': 'failed'}
        ),
        conf(exclude_hosts_query=''),
    ),
]
MISTAKES = {
    'names': NAMES,
    'values': VALUES,
    'connections': connections(),
    'files': FILES,
    'statuses': statuses(),
    'exclusions': EXCLUSIONS,
}


class TestMistakes(MistakeTestCase):
    def run_with(self, options: Conf) -> dict[str, Any]:
        options = {'aggregates': 'a,b', **options}
        return self.check('--config-file', self.conf(**options))

    def assert_one_cause(
        self, mistake: Mistake, report: dict[str, Any]
    ) -> None:
        first = report['findings'][0]
        self.assertEqual(
            (mistake.code, True),
            (first['code'], mistake.words in first['text']),
            [(row['code'], row['text']) for row in report['findings']],
        )
        self.assertIn(mistake.remedy, first['mend'])
        rest = [row for row in report['findings'] if row['level'] != 'note']
        self.assertLessEqual(len(rest), MOST_FINDINGS, rest)
        for effect in first['follows']:
            self.assertEqual('', effect['mend'])

    def assert_each(self, kind: str) -> None:
        failures = {}
        for mistake in MISTAKES[kind]:
            try:
                self.make(mistake)
            except Exception as error:
                failures[mistake.name] = str(error)
        self.assertEqual({}, failures)

    def test_nothing_is_wrong(self) -> None:
        self.assertTrue(self.run_with({})['good'])
        self.assertGreaterEqual(sum(map(len, MISTAKES.values())), 66)

    def test_names(self) -> None:
        self.assert_each('names')

    def test_values(self) -> None:
        self.assert_each('values')

    def test_connections(self) -> None:
        self.assert_each('connections')

    def test_files(self) -> None:
        self.assert_each('files')

    def test_statuses(self) -> None:
        self.assert_each('statuses')

    def test_exclusions(self) -> None:
        self.assert_each('exclusions')

    def make(self, mistake: Mistake) -> None:
        """Make it, and then what its remedy says."""
        self.well()
        report = self.run_with(mistake.wrong(self) or {})
        self.assert_one_cause(mistake, report)
        self.assertFalse(report['good'])
        report = self.run_with(mistake.right(self) or {})
        self.assertTrue(report['good'], report['findings'])
