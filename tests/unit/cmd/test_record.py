# SPDX-License-Identifier: Apache-2.0
"""Does kronos-record write down all that it takes, and no secret?"""

import json
import re
from typing import Any

from kronos.cmd import record
from kronos.engine.types import Outcome
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import needs_of
from kronos.extensions.recovery import conf as recovery_conf
from kronos.extensions.recovery.failures import why_unknown
from kronos.recordings import load
from kronos.recordings.recording import Recording
from kronos.recordings.replay import ReplayOptions, replay
from tests import commands, places
from tests.fakes import keystone, large_cloud
from tests.fakes.keystone import NOVA
from tests.unit.clients.nova.test_cell_listings import FLAVORS, cold, flavor
from tests.unit.clients.nova.test_client import (
    GROUPS,
    SERVERS,
    aggregate,
    server,
)
from tests.unit.cmd.checking import (
    HOSTS,
    PROMETHEUS,
    SECRETS,
    CheckTestCase,
    policy,
)
from tests.unit.extensions.cells.readings.test_unfinished_moves import (
    MARK,
    TOLD,
)

TOP = places.TOP
WATCHER = 'https://watcher.example.org'
PARAMETERS = {
    'resource_id': 'u-a1',
    'source_node': 'a2',
    'destination_node': 'a1',
    'aggregate': 'a',
}


class RecordTestCase(CheckTestCase):
    """As for kronos-test-config; Watcher has nothing to tell."""

    def setUp(self) -> None:
        super().setUp()
        self.target = self.folder / 'recording'
        token = self.token()
        token['token']['catalog'].append(
            {
                'type': 'infra-optim',
                'id': 'w',
                'name': 'watcher',
                'endpoints': [
                    {
                        'id': 'w1',
                        'interface': 'public',
                        'url': WATCHER,
                        'region': 'one',
                        'region_id': 'one',
                    }
                ],
            }
        )
        self.wire.post(
            f'{keystone.AUTH_URL}/auth/tokens',
            json=token,
            headers={'X-Subject-Token': 'ks-token'},
        )
        self.watcher_says()

    def watcher_says(self, plans: Any = (), actions: Any = ()) -> None:
        for key, rows in (('action_plans', plans), ('actions', actions)):
            self.wire.get(f'{WATCHER}/v1/{key}/detail', json={key: list(rows)})

    def action(self, state: str, at: str, **more: Any) -> dict[str, Any]:
        return {
            'uuid': f'{state}-{at}',
            'action_type': 'kronos_live_migrate',
            'state': state,
            'input_parameters': PARAMETERS,
            'status_message': '',
            'created_at': at,
            'updated_at': at,
            **more,
        }

    def record(self, *arguments: str) -> tuple[int, str]:
        """Exit status and standard error; nothing is ever printed."""
        if '--config-file' not in arguments:
            arguments = ('--config-file', self.conf(), *arguments)
        code, out, err = commands.run(
            record.main, [str(self.target), *arguments]
        )
        self.assertEqual('', out)
        self.assertNotIn('Traceback', err)
        for secret in SECRETS:
            self.assertNotIn(secret, err)
        return code, err

    def recorded(self, *arguments: str) -> Recording:
        code, err = self.record(*arguments)
        self.assertEqual(0, code, err)
        return load.read(str(self.target))

    def refused(self, *arguments: str) -> str:
        """Why nothing was written; nothing is left either."""
        before = sorted(self.folder.rglob('*'))
        code, err = self.record(*arguments)
        self.assertEqual(1, code, err)
        conf = self.folder / 'kronos.conf'
        left = [one for one in sorted(self.folder.rglob('*')) if one != conf]
        self.assertEqual([one for one in before if one != conf], left)
        return err

    def texts(self) -> dict[str, str]:
        found = {
            str(path.relative_to(self.target)): path.read_text()
            for path in self.target.rglob('*')
            if path.is_file()
        }
        self.assertNotEqual({}, found)
        return found


class TestRecord(RecordTestCase):
    def test_it_plans_as_an_audit_would(self) -> None:
        """One look at the cloud, and a plan of it."""
        result = self.recorded()
        self.assertEqual([], result.unknown)
        self.assertEqual(['a'], result.request.aggregates)
        self.assertEqual(3, len(result.gathered.instances))
        [scope] = replay(result, ReplayOptions()).report.scopes
        self.assertEqual('a', scope.name)
        self.assertAlmostEqual(0.4, scope.policies[0].imbalance_before)
        self.assertEqual(8, self.room(result, 'a1'))

    def room(self, found: Recording, host: str) -> int:
        headroom = found.gathered.cloud.hosts[host].headroom or {}
        return headroom['VCPU'].capacity

    def test_an_empty_template_of_cooldowns(self) -> None:
        self.recorded()
        text = (self.target / 'cooldowns.json').read_text()
        self.assertEqual(
            {
                'aggregate_cooldowns': {},
                'instance_cooldowns': {},
                'instance_quarantines': {},
            },
            json.loads(text),
        )

    def test_every_query_of_every_mode(self) -> None:
        """Capacity too, so that a drain can be replayed."""
        self.write_policies(policy(capacity_query='cpu_reserved'))
        self.series['cpu_reserved'] = [(host, 0.2) for host in HOSTS]
        result = self.recorded()
        self.assertEqual(
            {
                'cpu_of_host',
                'cpu_of_vm',
                'cpu_reserved',
                recovery_conf.HOST_FAULT_QUERY,
                recovery_conf.SERVER_FAULT_QUERY,
            },
            set(self.queries()),
        )
        self.assertEqual('', why_unknown(result.gathered.beside))
        plan = replay(result, ReplayOptions(mode='evacuate'))
        self.assertFalse(plan.report.scopes[0].policies[0].skipped)

    def test_scopes(self) -> None:
        """Those named, those configured, or all; the cloud is whole."""
        self.aggregates(aggregate(1, 'a', 'a1', 'a2'), aggregate(2, 'b'))
        result = self.recorded('--aggregate', 'a', '--unassigned')
        self.assertEqual(['a'], result.request.aggregates)
        self.assertTrue(result.request.include_unassigned)
        self.assertEqual(set(HOSTS), set(result.gathered.cloud.hosts))
        conf = self.conf(aggregates='')
        result = self.recorded('--force', '--config-file', conf)
        self.assertEqual(['*'], result.request.aggregates)
        self.assertTrue(result.request.include_unassigned)

    def test_other_policies(self) -> None:
        path = self.write_policies(policy('ram'), name='other.yaml')
        result = self.recorded('--policies', path)
        self.assertEqual(['ram'], [one.name for one in result.policies])

    def test_servers_beside_their_hosts(self) -> None:
        self.series['cpu_of_vm'] = [
            (label, 100.0 * value) for label, value in self.series['cpu_of_vm']
        ]
        code, err = self.record()
        self.assertEqual(0, code)
        self.assertRegex(
            err,
            'warning: scope .*: policy cpu: vm_profile_query: the servers of '
            'a[1-3] sum to ',
        )

    def test_hosts_by_other_names(self) -> None:
        """Said first, as the commands that plan the recording say it."""
        self.series['cpu_of_host'] = [
            (f'{host}.example.org:9100', 0.5) for host in HOSTS
        ]
        code, err = self.record()
        self.assertEqual(0, code)
        self.assertEqual(
            'kronos-record: warning: no host has a value: Prometheus has the '
            'name a1.example.org:9100 where Nova has a1; set [kronos] '
            'host_match = short',
            [line for line in err.splitlines() if 'warning' in line][0],
        )

    def test_prometheus_is_away(self) -> None:
        """Its health is recorded, and told."""
        self.wire.post(f'{PROMETHEUS}/api/v1/query', status_code=503)
        code, err = self.record()
        self.assertEqual(0, code)
        self.assertIn('warning: query cpu_of_host', err)
        result = load.read(str(self.target))
        self.assertEqual(
            {'unreachable'},
            {answer.health for answer in result.answers.values()},
        )


class TestCells(RecordTestCase):
    def cells(self) -> None:
        old, new = aggregate(1, 'a', 'a1'), aggregate(2, 'b', *HOSTS[1:])
        for row, cell in ((old, 'old'), (new, 'new')):
            row['metadata']['kronos:cell'] = cell
        self.aggregates(old, new)
        rows = [flavor('m1')]
        self.wire.get(
            FLAVORS, [{'json': {'flavors': rows}}, {'json': {'flavors': []}}]
        )
        limit = {'limit': 20, 'in_use': 12, 'reserved': 0}
        self.wire.get(
            re.compile(f'{NOVA}/os-quota-sets/[^/]+/detail'),
            json={'quota_set': {'cores': limit, 'ram': limit}},
        )

    def test_what_emptying_one_needs(self) -> None:
        self.cells()
        result = self.recorded('--aggregate', 'b')
        needs = needs_of(result.gathered)
        self.assertEqual(['m1'], [*needs.flavors])
        self.assertEqual(
            [{'cores': 8, 'ram': 8}], [*needs.quota_left.values()]
        )
        self.assertIn('Manila shares', ' '.join(result.unknown))
        options = ReplayOptions(
            mode='cell_drain',
            parameters={'source_cell': 'old', 'target_cells': 'new'},
        )
        [scope] = replay(result, options).report.scopes
        self.assertEqual('old -> new', scope.name)
        cell = cell_drain.outcome_of(scope)
        assert cell is not None
        there = [
            instance
            for instance in result.gathered.instances
            if instance.host == 'a1'
        ]
        self.assertEqual(len(there), cell.servers_before)

    def between(self) -> None:
        """A server of a1 waits in its new cell; its action has died."""
        self.cells()
        row = server('u-a1', status='VERIFY_RESIZE')
        row['OS-EXT-SRV-ATTR:host'] = 'a2'
        self.wire.get(SERVERS, json={'servers': [row]})
        ends = {'source_compute': 'a1', 'dest_compute': 'a2'}
        self.wire.get(
            f'{NOVA}/os-migrations',
            json={
                'migrations': [
                    cold('m1', status='finished', instance_uuid='u-a1', **ends)
                ]
            },
        )

    def test_moves_that_were_begun(self) -> None:
        """With the state of the plan; a deleted one is in no listing."""
        now = '2999-01-01T00:00:00+00:00'
        told = TOLD | PARAMETERS | {'cell_move': MARK}
        action = self.action(
            'CANCELLED',
            now,
            action_type='kronos_cross_cell_migrate',
            input_parameters=told,
        )
        plan = {'uuid': 'plan', 'audit_uuid': 'audit', 'created_at': now}
        for plans, expected in (
            ([plan | {'state': 'CANCELLED'}], ''),
            ([plan | {'state': 'ONGOING'}], 'plan'),
            ([], ''),
        ):
            self.between()
            self.watcher_says(plans, [action])
            result = self.recorded('--force')
            [move] = needs_of(result.gathered).unfinished
            self.assertEqual(
                (action['uuid'], 'u-a1', expected),
                (move.action, move.instance, move.plan),
            )

    def test_watcher_does_not_tell_who_began_them(self) -> None:
        self.between()
        self.wire.get(f'{WATCHER}/v1/actions/detail', status_code=403, json={})
        result = self.recorded()
        self.assertIn(
            'each as a move by somebody else', ' '.join(result.unknown)
        )
        needs = needs_of(result.gathered)
        self.assertEqual([], needs.unfinished)
        self.assertEqual(['u-a1'], [one.instance for one in needs.of_others])

    def test_no_cells(self) -> None:
        """Nothing is asked that nobody needs."""
        self.recorded()
        paths = [one.path for one in self.wire.request_history]
        self.assertFalse([path for path in paths if 'flavors' in path])


class TestHistory(RecordTestCase):
    def test_hosts_at_fault(self) -> None:
        self.series['failed'] = [('a2', 2.0), ('a3', 0.0)]
        conf = self.conf(exclude_hosts_query='failed')
        hosts = self.recorded('--config-file', conf).gathered.cloud.hosts
        self.assertEqual(
            {'a1': None, 'a2': 2.0, 'a3': None},
            {name: host.excluded for name, host in hosts.items()},
        )

    def test_partial_answers(self) -> None:
        """What may be missing is told, and recorded."""
        self.extra = {
            'cpu_of_host': {'isPartial': True},
            'failed': {'warnings': ['store 2 is away']},
        }
        self.unlabelled = ['cpu_of_vm']
        conf = self.conf(exclude_hosts_query='failed')
        code, err = self.record('--config-file', conf)
        self.assertEqual(0, code, err)
        for text in (
            'query cpu_of_host: the answer is partial (isPartial',
            'exclude_hosts_query: the answer is partial (store 2 is away)',
            'query cpu_of_vm: 1 series of the answer has no label "uuid"',
        ):
            self.assertIn(text, err)
        result = load.read(str(self.target))
        self.assertIn('store 2', result.gathered.exclusions_unknown)
        reading = result.answers['cpu_of_host', 'host']
        self.assertEqual('partial', reading.health.value)
        self.assertIn('isPartial', reading.incomplete)
        self.assertEqual(1, result.answers['cpu_of_vm', 'uuid'].unlabelled)

    def test_nobody_knows_the_hosts_at_fault(self) -> None:
        """It is told, and recorded."""
        self.labels['failed'] = 'vm'
        self.series['failed'] = [('x', 1.0)]
        conf = self.conf(exclude_hosts_query='failed')
        code, err = self.record('--config-file', conf)
        self.assertEqual(0, code, err)
        self.assertIn('warning: exclude_hosts_query: the series', err)
        result = load.read(str(self.target))
        self.assertIn('"host"', result.gathered.exclusions_unknown)

    def test_quarantine(self) -> None:
        """An action that failed is in Watcher's history."""
        self.watcher_says(
            actions=[
                self.action(
                    'FAILED',
                    '2999-01-01T00:00:00+00:00',
                    status_message='Action failed in execute: '
                    'KRONOS:MigrationFailed: no',
                    input_parameters={
                        **PARAMETERS,
                        'source_node': 'a1',
                        'destination_node': 'a2',
                    },
                ),
                self.action('PENDING', '2998-01-01T00:00:00+00:00'),
                self.action('SUCCEEDED', '2001-01-01T00:00:00+00:00'),
            ]
        )
        conf = self.conf(cooldown=0, instance_cooldown=0)
        result = self.recorded('--config-file', conf)
        [event] = result.gathered.events
        self.assertEqual(
            (Outcome.FAILED, 'MigrationFailed', 'u-a1', 'a'),
            (event.outcome, event.error_type, event.instance, event.scope),
        )
        [scope] = replay(result, ReplayOptions()).report.scopes
        self.assertIn('it is in quarantine', str(scope.stayed))
        [asked] = [
            one
            for one in self.wire.request_history
            if one.path == '/v1/actions/detail'
        ]
        self.assertEqual('true', asked.headers['X-Show-Deleted'])
        self.assertEqual(
            'infra-optim 1.5', asked.headers['OpenStack-API-Version']
        )

    def test_plans_under_way(self) -> None:
        """Also one that is started by itself and has not begun."""
        now = '2999-01-01T00:00:00+00:00'
        states = ('ONGOING', 'RECOMMENDED', 'SUCCEEDED')
        self.watcher_says(
            plans=[
                {
                    'uuid': f'p-{state}',
                    'state': state,
                    'audit_uuid': 'audit',
                    'created_at': now,
                    'updated_at': None,
                }
                for state in states
            ],
            actions=[self.action('PENDING', now)],
        )
        self.wire.get(
            f'{WATCHER}/v1/audits/audit', json={'auto_trigger': True}
        )
        result = self.recorded()
        # One action of the same uuid in both plans.
        [event] = result.gathered.events
        self.assertEqual(Outcome.PLANNED, event.outcome)
        asked = [
            one.qs.get('action_plan_uuid')
            for one in self.wire.request_history
            if one.path == '/v1/actions/detail'
        ]
        self.assertEqual([['p-ongoing'], ['p-recommended'], None], asked)

    def test_pages(self) -> None:
        """Watcher tells that there is more; the last row is the marker."""
        link = {'next': 'http://elsewhere:1/v1/actions?marker=x'}
        first = self.action('FAILED', '2999-01-02T00:00:00+00:00')
        second = self.action('FAILED', '2999-01-01T00:00:00+00:00')
        self.wire.get(
            f'{WATCHER}/v1/actions/detail',
            [
                {'json': {'actions': [first], **link}},
                {'json': {'actions': [second]}},
            ],
        )
        self.assertEqual(2, len(self.recorded().gathered.events))
        markers = [one.qs.get('marker') for one in self.wire.request_history]
        self.assertIn([first['uuid'].lower()], markers)

    def test_watcher_refuses(self) -> None:
        """What is lacking is told at once, and by every replay."""
        self.wire.get(
            f'{WATCHER}/v1/action_plans/detail',
            status_code=403,
            json={'error_message': 'no'},
        )
        code, err = self.record()
        self.assertEqual(0, code)
        self.assertIn('warning: the recording does not contain Watcher', err)
        result = load.read(str(self.target))
        [text] = result.unknown
        self.assertIn('HTTP 403', text)
        [scope] = replay(result, ReplayOptions()).report.scopes
        self.assertIn(text, scope.warnings)

    def test_no_watcher(self) -> None:
        self.roles('admin')
        [text] = self.recorded().unknown
        self.assertIn('no endpoint of type infra-optim', text)


class TestRefusals(RecordTestCase):
    def test_nova_is_away(self) -> None:
        """Whole or nothing."""
        self.wire.get(GROUPS, status_code=403, json={})
        self.assertIn('Nova', self.refused())

    def test_unknown_aggregate(self) -> None:
        text = self.refused('--aggregate', 'nope')
        self.assertIn('there is no aggregate "nope"; known: a', text)

    def test_no_credentials(self) -> None:
        conf = self.conf(credentials='')
        self.assertIn('no credentials', self.refused('--config-file', conf))

    def test_options_that_are_not_valid(self) -> None:
        conf = self.conf(cooldown='', min_host_coverage='nan')
        told = self.refused('--config-file', conf)
        self.assertIn(f'[kronos] cooldown in {conf}: it is empty', told)
        self.assertIn('min_host_coverage', told)

    def test_broken_policies(self) -> None:
        self.write_policies(policy(weight=7.0))
        self.assertIn('weight', self.refused())

    def test_something_is_there(self) -> None:
        """Nobody is asked; with --force only a recording is replaced."""
        self.target.mkdir()
        (self.target / 'thesis.txt').write_text('x')
        for words in ((), ('--force',)):
            self.assertIn('is not a recording', self.refused(*words))
        (self.target / 'thesis.txt').unlink()
        self.recorded()
        self.assertIn('--force', self.refused())
        self.series['cpu_of_host'] = [('a1', 0.9)]
        result = self.recorded('--force')
        [sample] = result.answers['cpu_of_host', 'host'].samples
        self.assertEqual(0.9, sample.value)
        self.assertEqual([], list(self.folder.glob('.kronos*')))

    def test_a_failure_keeps_the_old_recording(self) -> None:
        self.recorded()
        before = self.texts()
        self.wire.get(GROUPS, status_code=403, json={})
        self.refused('--force')
        self.assertEqual(before, self.texts())

    def test_no_parent(self) -> None:
        self.target = self.folder / 'none' / 'recording'
        self.assertIn('cannot be written: No such file', self.refused())

    def test_usage(self) -> None:
        self.assertEqual(2, self.record('--speed', '9')[0])


class TestSecrets(RecordTestCase):
    """Whatever holds a secret, no file of a recording does."""

    def test_no_secret(self) -> None:
        url = 'http://user:userinf0@metrics.example.org:9090'
        self.series = {}
        self.wire.post(
            f'{PROMETHEUS}/api/v1/query',
            status_code=400,
            json={
                'status': 'error',
                'errorType': 'bad_data',
                'error': f'password=pr0mpass at {url}',
            },
        )
        rows = [
            self.server(
                host,
                metadata={'db_password': 'm3tapass', 'note': 't0ken'},
                tags=['t4gsecret'],
                user_data='us3rdata',
                adminPass='adm1npass',
                description='d3scribed',
                key_name='k3yname',
            )
            for host in HOSTS
        ]
        self.servers(*rows)
        one = aggregate(1, 'a', *HOSTS)
        one['metadata'] = {'ipmi_password': 'agg7pass', 'rack': '7'}
        self.aggregates(one)
        path = self.folder / 'policies.yaml'
        path.write_text(f'# password: c0mment\n{path.read_text()}')
        conf = self.conf(
            prometheus={
                'bearer_token': 't0ken',
                'url': PROMETHEUS,
            }
        )
        for more in ((), ('--anonymize',)):
            self.recorded('--force', '--config-file', conf, *more)
            texts = self.texts()
            self.assertLessEqual(
                {'meta.json', 'policies.yaml', 'nova/instances.json'},
                set(texts),
            )
            for name, text in texts.items():
                for secret in (
                    *SECRETS,
                    'ks-token',
                    'pr0mpass',
                    'userinf0',
                    'm3tapass',
                    't4gsecret',
                    'us3rdata',
                    'adm1npass',
                    'd3scribed',
                    'k3yname',
                    'agg7pass',
                    'c0mment',
                ):
                    self.assertNotIn(secret, text, (name, secret))

    def test_userinfo_in_the_configuration(self) -> None:
        """It is used, and told nowhere."""
        conf = self.conf(
            prometheus={'url': 'http://kronos:pa55@metrics.example.org:9090'}
        )
        code, error = self.record('--config-file', conf)
        self.assertNotIn('pa55', error)
        self.assertEqual(0, code, error)
        for name, text in self.texts().items():
            self.assertNotIn('pa55', text, name)


class TestWholeCloud(CheckTestCase):
    def test_pages_of_every_service(self) -> None:
        """Over HTTP, with fewer rows a page than there are."""
        self.wire.stop()
        child = large_cloud.process(12, 95, 10)
        port = child.__enter__()
        self.addCleanup(child.__exit__, None, None, None)
        policies = self.write_policies(*large_cloud.POLICIES)
        conf = self.write(
            'kronos.conf', large_cloud.configuration(port, policies)
        )
        target = self.folder / 'recording'
        code, _, err = commands.run(
            record.main, [str(target), '--config-file', conf]
        )
        self.assertEqual(0, code, err)
        # Its servers are all alike, whatever their hosts show.
        others = [
            line for line in err.splitlines() if 'vm_profile' not in line
        ]
        self.assertNotIn('warning', '\n'.join(others))
        result = load.read(str(target))
        self.assertEqual(12, len(result.gathered.cloud.hosts))
        self.assertEqual(95, len(result.gathered.instances))
        self.assertEqual(5, len(result.gathered.groups))
        for path in target.rglob('*.json'):
            for secret in ('tok3n-of', 'pa55word', 'I2Nsb3Vk'):
                self.assertNotIn(secret, path.read_text(), path)
        steps = replay(result, ReplayOptions()).report.steps
        self.assertNotEqual([], steps)
