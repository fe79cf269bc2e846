# SPDX-License-Identifier: Apache-2.0
"""Does kronos-test-config tell what works, what does not and why?"""

import csv
import json
from importlib import metadata

import requests

from kronos.cmd.checks import tables as check_tables
from tests.fakes.keystone import AUTH_URL, PLACEMENT
from tests.unit.clients.nova.test_client import (
    SERVERS,
    SERVICE,
    SERVICES,
    aggregate,
)
from tests.unit.cmd.checking import HOSTS, PROMETHEUS, CheckTestCase, policy

TOKENS = f'{AUTH_URL}/auth/tokens'


class TestGood(CheckTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.roles('admin')

    def test_nothing_is_found(self) -> None:
        """0, and what was looked at is told."""
        report = self.check()
        self.assertEqual({'watcher-unasked': 'note'}, self.codes(report))
        [query, profile] = report['queries']
        self.assertEqual((3, 3, 3), self.coverage(query))
        self.assertEqual((0.1, 0.5), (query['lowest'], query['highest']))
        self.assertEqual(
            (3, 'healthy'), (profile['series'], profile['health'])
        )
        [scope] = report['scopes']
        self.assertEqual('a', scope['scope'])
        self.assertEqual(
            (3, 3, 3),
            (scope['hosts'], scope['hosts_counting'], scope['servers']),
        )
        self.assertAlmostEqual(0.4, scope['imbalances']['cpu'])
        [servers] = report['servers']
        self.assertEqual((3, 3), (servers['servers'], servers['with_a_value']))
        self.assertEqual('kronos', report['cloud']['user'])
        self.assertEqual(['admin'], report['cloud']['roles'])

    def coverage(self, row):
        return row['series'], row['hosts'], row['hosts_of_scope']

    def test_each_query_once(self) -> None:
        """Two policies that share one, in two files of policies."""
        self.write_policies(
            policy(weight=0.5),
            policy('ram', weight=0.5, imbalance_query='cpu_of_host'),
        )
        self.series['ram_of_vm'] = self.series['cpu_of_vm']
        self.labels['ram_of_vm'] = 'uuid'
        self.write_policies(
            policy(mode='pack', capacity_query='cpu_of_host'),
            name='pack.yaml',
        )
        conf = self.conf(pack_policies_file=self.folder / 'pack.yaml')
        report = self.check('--config-file', conf)
        self.assertTrue(report['good'])
        asked = sorted(self.queries())
        self.assertEqual(sorted(set(asked)), asked)
        self.assertEqual(
            ['cpu_of_host', 'cpu_of_vm', 'ram_of_vm'],
            [query for query in asked if '_of_' in query],
        )
        self.assertEqual(7, len(report['queries']))

    def test_the_file_of_each_policy(self) -> None:
        """Two files may have policies of one name."""
        self.write_policies(
            policy(mode='pack', capacity_query='cpu_of_host'),
            name='pack.yaml',
        )
        pack = self.folder / 'pack.yaml'
        conf = self.conf(pack_policies_file=pack)
        code, out, _ = self.run_it('--config-file', conf)
        self.assertEqual(0, code)
        for row in (r'cpu +pack .*', r'cpu +imbalance_query .*', r'a +3 .*'):
            self.assertRegex(out, rf'(?m)^  {row} {pack}$')

    def test_names_that_speak_to_terminals(self) -> None:
        """Nova, Prometheus and Keystone are others."""
        self.aggregates(aggregate(1, 'a\x1b[31m\nFindings\u202e', *HOSTS))
        _, out, _ = self.run_it('--config-file', self.conf(aggregates=''))
        self.assertIn('a?[31m?Findings?', out)
        self.assertNotIn('\x1b', out)

    def test_each_listing_once(self) -> None:
        self.check()
        asked = [
            one.path
            for one in self.wire.request_history
            if one.path.endswith(('/servers/detail', '/os-services'))
        ]
        self.assertEqual(2, len(asked))

    def test_a_table_for_people(self) -> None:
        code, out, err = self.run_it('--config-file', self.conf())
        self.assertEqual((0, ''), (code, err))
        version = metadata.version('python-watcher')
        hidden = {str(self.folder): 'FOLDER', version: 'VERSION'}
        self.assert_golden('good.txt', out, hidden)
        self.assertLessEqual(
            max(
                len(line)
                for line in out.splitlines()
                if not line.startswith('  kronos: ')
            ),
            100,
        )


class TestOffline(CheckTestCase):
    def test_nothing_is_asked(self) -> None:
        report = self.check('--offline')
        self.assertTrue(report['good'])
        self.assertEqual([], self.wire.request_history)
        self.assertEqual(['cpu'], [one['name'] for one in report['policies']])
        for key in ('queries', 'exporters'):
            self.assertNotIn(key, report)

    def test_policies(self) -> None:
        """The whole message of an audit."""
        self.write_policies(policy(weight=0.4), policy('a b'))
        report = self.check('--offline')
        text = self.finding(report, 'policies-invalid')['text']
        self.assertIn('policies.yaml', text)
        self.assertIn('policy a b: name: must be lowercase', text)
        self.assertFalse(report['good'])

    def test_no_policies(self) -> None:
        conf = self.conf(policies_file='/nowhere/policies.yaml')
        report = self.check('--offline', '--config-file', conf)
        text = self.finding(report, 'policies-invalid')['text']
        self.assertIn('No such file', text)

    def test_options(self) -> None:
        """Every bad one, not the first only."""
        conf = self.conf(cooldown='10m', soft_rules='no')
        report = self.check('--offline', '--config-file', conf)
        self.assertEqual(
            ['[kronos] soft_rules', '[kronos] cooldown'],
            [
                finding['text'].split(' in ')[0]
                for finding in report['findings']
            ],
        )

    def test_options_that_are_empty(self) -> None:
        """To oslo.config an empty number is None, without a word."""
        conf = self.conf(cooldown='', policies_file='')
        report = self.check('--offline', '--config-file', conf)
        self.assertEqual({'config-invalid': 'error'}, self.codes(report))
        self.assertEqual(
            [
                f'[kronos] policies_file in {conf}: it is empty: give it a '
                'value, or remove it; the default is '
                '/etc/kronos/policies.yaml',
                f'[kronos] cooldown in {conf}: it is empty: give it a value, '
                'or remove it; the default is 600',
            ],
            [finding['text'] for finding in report['findings']],
        )

    def test_a_name_that_means_nothing(self) -> None:
        conf = self.conf(coldown=3, more='[kronos_promethius]\nurl = x')
        report = self.check('--offline', '--config-file', conf)
        mends = {
            finding['mend']
            for finding in report['findings']
            if finding['code'] == 'option-unknown'
        }
        self.assertEqual(
            {'did you mean cooldown?', 'did you mean kronos_prometheus?'},
            mends,
        )
        self.assertTrue(report['good'])

    def test_groups_of_kronos_openstack(self) -> None:
        conf = self.conf(more='[engine]\nx = 1\n[prometheus]\ny = 2')
        report = self.check('--offline', '--config-file', conf)
        told = {
            finding['text'].split(': ')[1].split(' ')[0]: finding['mend']
            for finding in report['findings']
            if finding['code'] == 'option-unknown'
        }
        self.assertEqual({'[engine]', '[prometheus]'}, set(told))
        self.assertIn('[kronos]', told['[engine]'])
        self.assertIn('[kronos_prometheus]', told['[prometheus]'])

    def test_what_is_no_configuration(self) -> None:
        """Its lines may be secrets."""
        conf = self.write('k.conf', '[nova]\npassword: s3cret\ns3cret\n')
        report = self.check('--offline', '--config-file', conf)
        self.assertIn('line 3', self.finding(report, 'config-invalid')['text'])

    def test_usage(self) -> None:
        """2, before anything is looked at."""
        for arguments in (
            ['--config-file', '/nowhere'],
            ['--format', 'xml'],
            ['--nova-config', '/nowhere'],
            ['more'],
        ):
            code, out, err = self.run_it(*arguments)
            self.assertEqual((2, ''), (code, out))
            self.assertIn('usage: kronos-test-config', err)

    def test_modes(self) -> None:
        self.write_policies(policy(), name='pack.yaml')
        conf = self.conf(pack_policies_file=self.folder / 'pack.yaml')
        report = self.check('--offline', '--config-file', conf)
        self.assertEqual('error', self.codes(report)['policies-mode'])
        self.write_policies(policy(mode='pack', capacity_query='x'))
        report = self.check('--offline')
        self.assertEqual({'policies-mode': 'note'}, self.codes(report))

    def test_oddities(self) -> None:
        """Right, and perhaps not what one thinks."""
        self.write_policies(
            policy(capacity_query='x', vm_profile_query='rate(x[15m])'),
            policy('idle', weight=0.0),
            policy('off', enabled=False),
        )
        report = self.check('--offline')
        self.assertEqual(
            {
                'capacity-ignored': 'warning',
                'window-cooldown': 'warning',
                'weight-zero': 'warning',
                'policy-disabled': 'note',
            },
            self.codes(report),
        )
        self.assertIn('900', self.finding(report, 'window-cooldown')['mend'])
        conf = self.conf(evacuate_disabled_hosts=True, cooldown=900)
        report = self.check('--offline', '--config-file', conf)
        self.assertEqual(
            {'weight-zero', 'policy-disabled'}, set(self.codes(report))
        )

    def test_an_effect_that_is_measured_too_early(self) -> None:
        self.write_policies(policy(imbalance_query='rate(x[15m])'))
        for options, why in (
            ({'cooldown': 900}, ''),
            ({'cooldown': 0, 'effect_settling_seconds': 900}, ''),
            ({'cooldown': 0}, ''),
            ({'effect_settling_seconds': 0}, 'looks back 15 min'),
            ({'effect_settling_seconds': 899}, 'looks back 15 min'),
        ):
            conf = self.conf(**options)
            report = self.check('--offline', '--config-file', conf)
            self.assertEqual(
                bool(why), 'effect-settling' in self.codes(report)
            )
            if why:
                text = self.finding(report, 'effect-settling')['text']
                self.assertIn(why, text)

    def test_phases_without_a_budget(self) -> None:
        self.write_policies(policy())
        for names, unknown in (
            ('evacuate,pack,cell_drain', ''),
            ('evacuate,drain', 'drain'),
        ):
            conf = self.conf(budget_exempt=names)
            report = self.check('--offline', '--config-file', conf)
            result = self.codes(report)
            self.assertEqual(bool(unknown), 'budget-exempt-unknown' in result)
            if unknown:
                finding = self.finding(report, 'budget-exempt-unknown')
                self.assertEqual('warning', finding['level'])
                self.assertTrue(finding['text'].endswith(': drain'))
                self.assertIn('relieve, spread', finding['mend'])

    def test_a_threshold_of_pack(self) -> None:
        for more, codes in (({}, {}), ({'threshold': 0.15}, {'warning'})):
            self.write_policies(
                policy(mode='pack', capacity_query='x', **more),
                name='pack.yaml',
            )
            self.write_policies(policy(threshold=0.15))
            conf = self.conf(pack_policies_file=self.folder / 'pack.yaml')
            report = self.check('--offline', '--config-file', conf)
            result = self.codes(report)
            self.assertEqual({*codes}, {*result.values()})
            if codes:
                text = self.finding(report, 'threshold-ignored')['text']
                self.assertIn('threshold = 0.15 has no effect', text)

    def test_windows_that_are_none(self) -> None:
        """A subquery looks for a peak; a label may hold brackets."""
        self.write_policies(
            policy(
                imbalance_query='max_over_time(x{a="[1d]"}[2h:1m]) # [3h]',
                vm_profile_query='rate(x[9m30s])',
            )
        )
        self.assertEqual({}, self.codes(self.check('--offline')))

    def test_where_the_files_are(self) -> None:
        """A directory beside watcher.conf is read, as Watcher does."""
        self.conf('etc/watcher.conf', 'watcher_clients_auth')
        self.write(
            'etc/watcher.conf.d/kronos.conf', '[kronos]\ncooldown = no\n'
        )
        code, out, _ = self.run_it(
            '--offline',
            '--format',
            'json',
            '--watcher-config',
            str(self.folder / 'etc' / 'watcher.conf'),
        )
        self.assertEqual(1, code)
        text = self.finding(json.loads(out), 'config-invalid')['text']
        self.assertIn('cooldown', text)


class TestWatcher(CheckTestCase):
    def test_a_broken_plugin(self) -> None:
        self.loaded = {'watcher_planners:kronos': 'ImportError: no numpy'}
        report = self.check('--offline')
        text = self.finding(report, 'entry-points')['text']
        self.assertIn('watcher_planners:kronos', text)
        self.assertIn('no numpy', text)
        self.assertFalse(report['good'])

    def test_the_applier(self) -> None:
        """What caps parallelism."""
        watcher = self.conf(
            'watcher.conf',
            'watcher_clients_auth',
            more='[watcher_workflow_engines.taskflow]\nmax_workers = 1\n'
            '[watcher_applier]\nworkers = 3',
        )
        code, out, _ = self.run_it(
            '--offline', '--format', 'json', '--watcher-config', watcher
        )
        self.assertEqual(0, code)
        report = json.loads(out)
        self.assertEqual(
            {
                'plans_at_a_time': 3,
                'actions_at_a_time': 1,
                'migrations_of_a_scope': 2,
            },
            report['watcher']['applier'],
        )
        self.assertEqual('warning', self.codes(report)['applier-workers'])

    def test_an_applier_with_few_workers(self) -> None:
        """Four for each move that may run at a time are enough."""
        for workers, found in ((2, 'note'), (7, 'note'), (8, None)):
            watcher = self.conf(
                'watcher.conf',
                'watcher_clients_auth',
                more='[watcher_workflow_engines.taskflow]\n'
                f'max_workers = {workers}',
            )
            report = self.check('--offline', '--watcher-config', watcher)
            codes = self.codes(report)
            self.assertEqual(found, codes.get('applier-few-workers'))
            self.assertNotIn('applier-workers', codes)

    def test_an_applier_without_a_number(self) -> None:
        watcher = self.conf(
            'watcher.conf',
            'watcher_clients_auth',
            more='[watcher_applier]\nworkers =',
        )
        report = self.check('--offline', '--watcher-config', watcher)
        self.assertEqual('error', self.codes(report)['applier-invalid'])

    def test_other_options_than_those_of_watcher(self) -> None:
        watcher = self.conf(
            'watcher.conf',
            'watcher_clients_auth',
            cooldown=7,
            prometheus={'password': 'pa55', 'username': 'joe'},
        )
        report = self.check('--offline', '--watcher-config', watcher)
        text = self.finding(report, 'config-differs')['text']
        self.assertIn('[kronos] cooldown (7, here 600)', text)
        self.assertIn('[kronos_prometheus] password', text)

    def test_the_running_one(self) -> None:
        """A Watcher that has not been restarted since."""
        self.roles('admin')
        body = self.token()
        watcher = 'https://watcher.example.org'
        body['token']['catalog'].append(
            {
                'type': 'infra-optim',
                'id': 'w',
                'name': 'watcher',
                'endpoints': [
                    {
                        'id': 'e',
                        'interface': 'public',
                        'region': 'one',
                        'region_id': 'one',
                        'url': watcher,
                    }
                ],
            }
        )
        self.wire.post(
            f'{AUTH_URL}/auth/tokens',
            json=body,
            headers={'X-Subject-Token': 'ks-token'},
        )
        names = ['kronos_spread', 'kronos_pack', 'kronos_evacuate', 'dummy']
        self.wire.get(
            f'{watcher}/v1/strategies',
            json={'strategies': [{'name': name} for name in names]},
        )
        report = self.check()
        text = self.finding(report, 'watcher-strategies')['text']
        self.assertIn('does not offer kronos_affinity', text)
        self.assertEqual(
            sorted(names[:3]), report['watcher']['running']['strategies']
        )


class TestCloud(CheckTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.roles('admin')

    def test_credentials_are_refused(self) -> None:
        """Prometheus is looked at all the same."""
        self.wire.post(
            f'{AUTH_URL}/auth/tokens',
            status_code=401,
            json={'error': {'message': 'no such user', 'code': 401}},
        )
        report = self.check()
        result = self.finding(report, 'credentials')
        self.assertIn('[nova]', result['text'])
        self.assertIn('correct the credentials', result['mend'])
        self.assertEqual(2, len(report['queries']))
        self.assertEqual([], report['scopes'])

    def test_keystone_is_not_there(self) -> None:
        """That is no fault of the credentials; the remedy is said once."""
        html = {'text': '<html>It works!</html>', 'status_code': 201}
        for method, url, answer, text in (
            ('GET', AUTH_URL, {'status_code': 401}, 'answers 401'),
            ('POST', TOKENS, {'status_code': 503}, 'HTTP 503'),
            ('POST', TOKENS, {'status_code': 404}, 'does not answer as'),
            ('POST', TOKENS, html, 'does not answer as Keystone does'),
            ('POST', TOKENS, {'exc': requests.ReadTimeout}, 'timed out'),
        ):
            with self.subTest(text):
                wire = self.wire.register_uri(method, url, **answer)
                report = self.check()
                result = self.finding(report, 'credentials')
                self.assertIn(text, result['text'])
                self.assertNotIn('et auth_url', result['text'])
                self.assertNotIn('orrect', result['text'])
                self.assertIn('set auth_url to the address', result['mend'])
                self.assertIn('[nova]', result['mend'])
                self.wire._adapter._matchers.remove(wire)

    def test_there_are_no_credentials(self) -> None:
        report = self.check('--config-file', self.conf(credentials=''))
        self.assertIn(
            '--os-cloud', self.finding(report, 'credentials')['text']
        )
        self.assertFalse(report['good'])

    def test_a_cloud_that_is_not_there(self) -> None:
        report = self.check('--os-cloud', 'nowhere')
        self.assertIn('nowhere', self.finding(report, 'credentials')['text'])

    def test_a_permission_is_missing(self) -> None:
        """Which, and the rule that gives it."""
        for url, rule in (
            (SERVICES, 'os-services:list'),
            (SERVERS, 'servers:detail:get_all_tenants'),
            (f'{PLACEMENT}/allocation_candidates', 'allocation_candidates'),
        ):
            with self.subTest(rule):
                self.fill()
                self.wire.get(
                    url,
                    status_code=403,
                    json={'forbidden': {'message': 'Policy does not allow'}},
                )
                report = self.check()
                result = self.finding(report, 'permission')
                self.assertIn('Policy does not allow', result['text'])
                self.assertIn(rule, result['mend'])
                self.assertEqual('error', result['level'])

    def test_no_administrator(self) -> None:
        """What cannot be tried is judged by the roles, and says so."""
        self.roles('member', 'reader')
        report = self.check()
        result = self.finding(report, 'permission-admin')
        self.assertIn('member, reader', result['text'])
        self.assertIn('judged by the roles', result['text'])
        self.assertIn('migrate_live:host', result['mend'])

    def test_hosts_are_hidden(self) -> None:
        row = self.server('a1')
        del row['OS-EXT-SRV-ATTR:host']
        self.servers(row, self.server('a2'))
        report = self.check()
        self.assertIn(
            '1 servers', self.finding(report, 'servers-hidden')['text']
        )

    def test_nova_is_away(self) -> None:
        self.wire.get(SERVICES, status_code=500)
        report = self.check()
        self.assertIn(
            'compute services', self.finding(report, 'nova-failed')['text']
        )
        self.assertFalse(report['good'])

    def test_scopes(self) -> None:
        report = self.check('--config-file', self.conf(aggregates='b'))
        text = self.finding(report, 'scope-invalid')['text']
        self.assertIn('there is no aggregate "b"; known: a', text)
        report = self.check('--config-file', self.conf(aggregates=''))
        self.assertEqual('note', self.codes(report)['scope-none'])
        self.assertEqual(['a'], [scope['scope'] for scope in report['scopes']])
        report = self.check(
            '--scope', 'a', '--config-file', self.conf(aggregates='b')
        )
        self.assertTrue(report['good'])

    def test_hosts_that_are_out(self) -> None:
        rows = [SERVICE | {'host': host} for host in HOSTS]
        rows[0] = rows[0] | {'state': 'down'}
        self.wire.get(SERVICES, json={'services': rows})
        report = self.check()
        self.assertIn('a1: ', self.finding(report, 'host-left-out')['text'])
        self.assertTrue(report['good'])
        self.labels['cpu_of_host'] = 'node'
        codes = self.codes(self.check())
        self.assertEqual('error', codes['scope-blocked'])
        self.assertEqual('warning', codes['host-left-out'])
        del self.labels['cpu_of_host']
        for row in rows:
            row['state'] = 'down'
        self.wire.get(SERVICES, json={'services': rows})
        codes = self.codes(self.check())
        self.assertEqual('error', codes['scope-blocked'])
        self.assertEqual('error', codes['nothing-to-plan'])

    def test_an_aggregate_that_nobody_named(self) -> None:
        """One host is no scope, and that is no fault."""
        self.aggregates(aggregate(1, 'a', *HOSTS), aggregate(2, 'b', 'a1'))
        report = self.check('--config-file', self.conf(aggregates='*'))
        self.assertEqual('note', self.codes(report)['scope-small'])
        self.assertTrue(report['good'])

    def test_hosts_of_unequal_size(self) -> None:
        self.sizes(a1=8, a2=8, a3=16)
        report = self.check()
        self.assertIn('8 to 16', self.finding(report, 'hosts-unequal')['text'])
        self.write_policies(policy(host_capacity_query='cores'))
        self.series['cores'] = [(host, 8) for host in HOSTS]
        self.assertNotIn('hosts-unequal', self.codes(self.check()))


class TestOldNova(CheckTestCase):
    newest = '2.90'

    def test_what_it_does_not_tell(self) -> None:
        self.roles('admin')
        report = self.check()
        text = self.finding(report, 'microversion-old')['text']
        self.assertIn('pinned', text)
        self.assertNotIn('refuses', text)
        self.assertEqual(
            '2.90', report['cloud']['services'][0]['microversion']
        )
        self.assertTrue(report['good'])


class TestTooOldNova(CheckTestCase):
    newest = '2.60'

    def test_it_is_an_error(self) -> None:
        self.roles('admin')
        report = self.check()
        self.assertIn('2.68', self.finding(report, 'nova-failed')['text'])


class TestMetrics(CheckTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.roles('admin')

    def test_prometheus_is_away(self) -> None:
        """The other queries are not asked."""
        self.wire.post(f'{PROMETHEUS}/api/v1/query', status_code=503)
        report = self.check()
        self.assertIn('503', self.finding(report, 'prometheus-away')['text'])
        self.assertEqual(1, len(self.queries()))
        self.assertFalse(report['good'])

    def test_credentials_over_http(self) -> None:
        """Without the files of the cloud, too."""
        conf = self.conf(prometheus={'bearer_token': 't0ken'})
        for more in ((), ('--offline',)):
            report = self.check('--config-file', conf, *more)
            result = self.finding(report, 'prometheus-clear-text')
            self.assertIn('http://', result['text'])
            self.assertEqual('warning', result['level'])

    def test_options_that_contradict_each_other(self) -> None:
        conf = self.conf(prometheus={'bearer_token': 't0ken', 'username': 'x'})
        report = self.check('--config-file', conf)
        text = self.finding(report, 'prometheus-config')['text']
        self.assertIn('bearer_token and username', text)

    def test_a_wrong_label(self) -> None:
        self.labels['cpu_of_host'] = 'instance'
        report = self.check()
        text = self.finding(report, 'query-failed')['text']
        self.assertIn('no series has the label "host"', text)
        self.assertIn('instance, job', text)
        self.assertEqual('error', self.codes(report)['scope-blocked'])

    def test_hosts_by_other_names(self) -> None:
        """Coverage, and the option that would help."""
        self.series['cpu_of_host'] = [
            (f'{host}.example.org:9100', 0.5) for host in HOSTS
        ]
        report = self.check()
        query = report['queries'][0]
        self.assertEqual((0, 3), (query['hosts'], query['hosts_of_scope']))
        self.assertEqual(['a1', 'a2', 'a3'], query['hosts_missing'])
        self.assertIn('0 of 3', self.finding(report, 'policy-skipped')['text'])
        cause = report['findings'][0]
        self.assertEqual(
            (
                'error',
                'host-names',
                'no host has a value: Prometheus has the name '
                'a1.example.org:9100 where Nova has a1',
                'set [kronos] host_match = short',
            ),
            (cause['level'], cause['code'], cause['text'], cause['mend']),
        )
        report = self.check('--config-file', self.conf(host_match='short'))
        self.assertTrue(report['good'])

    def test_rows_of_causes_and_effects(self) -> None:
        """Each finding is a row; a column names the cause of an effect."""
        self.write_policies(policy(weight=0.5), policy('ram', weight=0.5))
        for name in ('cpu', 'ram'):
            self.series[f'{name}_of_host'] = [
                (f'{host}.example.org', 0.5) for host in HOSTS
            ]
        causes = self.check()['findings']
        conf = ('--config-file', self.conf())
        rows = [
            *csv.DictReader(self.run_it(*conf, '-f', 'csv')[1].split('\n'))
        ]
        self.assertEqual(
            ['level', 'code', 'text', 'mend', 'cause'], [*rows[0]]
        )
        self.assertEqual(
            sum(1 + len(cause['follows']) for cause in causes), len(rows)
        )
        effects = [row for row in rows if row['code'] == 'policy-skipped']
        self.assertEqual(2, len(effects))
        name = f'host-names: {causes[0]["text"]}'
        for row in effects:
            self.assertEqual(('', name), (row['mend'], row['cause']))
        self.assertEqual(
            [cause['mend'] for cause in causes],
            [row['mend'] for row in rows if not row['cause']],
        )
        lines = self.run_it(*conf, '-f', 'value')[1].splitlines()
        self.assertEqual(len(rows), len(lines))
        self.assertTrue(lines[1].endswith(name), lines[1])

    def test_no_tenant(self) -> None:
        """Of Mimir: neither the query nor the credentials are to blame."""
        self.wire.post(
            f'{PROMETHEUS}/api/v1/query', status_code=401, text='no org id'
        )
        report = self.check()
        found = report['findings'][0]
        self.assertEqual('prometheus-away', found['code'])
        self.assertIn('headers = X-Scope-OrgID', found['mend'])
        self.assertNotIn('credentials', found['text'])

    def test_a_partial_answer(self) -> None:
        """Told once with its query; as an error where none is judged."""
        self.extra['cpu_of_host'] = {'warnings': ['store 2 is away']}
        for how, level, good in (('warn', 'warning', 1), ('skip', 'error', 0)):
            conf = self.conf(partial_answers=how)
            report = self.check('--config-file', conf)
            result = self.finding(report, 'answer-partial')
            self.assertEqual(level, result['level'])
            self.assertIn('store 2 is away', result['text'])
            self.assertIn('every store of Prometheus', result['mend'])
            self.assertEqual(bool(good), report['good'])
            self.assertEqual('partial', report['queries'][0]['health'])
            for code in ('policy-doubtful', 'policy-skipped'):
                self.assertNotIn(code, self.codes(report))

    def test_one_series_without_the_label(self) -> None:
        self.unlabelled = ['cpu_of_host', 'cpu_of_vm']
        report = self.check()
        self.assertTrue(report['good'])
        texts = [
            finding['text']
            for finding in report['findings']
            if finding['code'] == 'series-unlabelled'
        ]
        self.assertEqual(2, len(texts))
        self.assertIn('{host!=""}', texts[0])
        self.assertIn('{uuid!=""}', texts[1])
        self.assertNotIn('policy-doubtful', self.codes(report))
        counts = [query['series_without_label'] for query in report['queries']]
        self.assertEqual([1, 1], counts)

    def test_labels_of_no_host(self) -> None:
        """Where one looks for them."""
        self.series['cpu_of_host'] += [(f'db{n}', 0.5) for n in range(7)]
        report = self.check()
        self.assertEqual(7, report['queries'][0]['labels_unmatched_count'])
        text = check_tables.text(report)
        self.assertIn('Labels that match no host', text)
        self.assertIn('db0, db1, db2, db3, db4 and 2 more', text)

    def test_a_percentage(self) -> None:
        """The range is shown, and the policy is not used."""
        self.series['cpu_of_host'] = [(host, 37) for host in HOSTS]
        report = self.check()
        self.assertEqual(37, report['queries'][0]['highest'])
        text = self.finding(report, 'policy-skipped')['text']
        self.assertIn('must be in [0, 1]', text)

    def test_servers_in_another_unit_than_their_hosts(self) -> None:
        self.series['cpu_of_vm'] = [
            (label, 100.0 * value) for label, value in self.series['cpu_of_vm']
        ]
        report = self.check()
        result = self.finding(report, 'profiles-above-hosts')
        self.assertEqual('error', result['level'])
        self.assertRegex(
            result['text'],
            'policy cpu: vm_profile_query: the servers of a[1-3] sum to .*, '
            'and imbalance_query gives .* for it',
        )
        self.assertNotIn('policy-skipped', self.codes(report))

    def test_servers_that_seem_to_use_nothing(self) -> None:
        self.series['cpu_of_vm'] = [
            (label, 0.0) for label, _ in self.series['cpu_of_vm']
        ]
        result = self.finding(self.check(), 'profiles-below-hosts')
        self.assertEqual('warning', result['level'])
        self.assertIn('running servers used exactly 0', result['text'])

    def test_a_clock_that_is_behind(self) -> None:
        """All queries alike: one finding, and no query is to blame."""
        self.age = 400.0
        report = self.check()
        for row in report['queries']:
            self.assertEqual('stale', row['health'])
            self.assertIn('staleness_threshold is 5 min', row['error'])
        self.assertNotIn('query-failed', self.codes(report))
        result = self.finding(report, 'clock')
        self.assertEqual('error', result['level'])
        # The answer takes a while.
        self.assertRegex(result['text'], r"(399|400)\.\d s behind this host's")
        self.assertIn('NTP', result['mend'])
        self.assertEqual('error', self.codes(report)['scope-blocked'])

    def test_clocks_that_differ_a_little(self) -> None:
        self.age = 200.0
        report = self.check()
        self.assertEqual('warning', self.codes(report)['clock'])
        clocks = [
            finding
            for finding in report['findings']
            if 'its clock is' in finding['text']
        ]
        self.assertEqual(1, len(clocks))
        self.assertTrue(report['good'])

    def test_samples_of_the_future(self) -> None:
        self.age = -60.0
        report = self.check()
        self.assertEqual('warning', self.codes(report)['clock'])
        self.assertTrue(report['good'])

    def test_no_series(self) -> None:
        self.series.clear()
        codes = self.codes(self.check())
        self.assertEqual('error', codes['policy-skipped'])
        self.assertEqual('error', codes['servers-unknown'])
        conf = self.conf(aggregates='b')
        codes = self.codes(self.check('--config-file', conf))
        self.assertEqual('warning', codes['query-empty'])
        self.assertNotIn('policy-skipped', codes)

    def test_a_query_that_no_audit_asks(self) -> None:
        """It is tried, and is no error."""
        self.write_policies(policy(capacity_query='full'))
        self.labels['full'] = 'node'
        self.series['full'] = [(host, 0.5) for host in HOSTS]
        report = self.check()
        self.assertTrue(report['good'])
        self.assertEqual('warning', self.codes(report)['query-failed'])
        conf = self.conf(evacuate_disabled_hosts=True)
        self.assertFalse(self.check('--config-file', conf)['good'])


class TestServers(CheckTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.roles('admin')

    def test_another_label_type(self) -> None:
        """How many match by each type, and examples."""
        self.series['cpu_of_vm'] = [
            (f'instance-u-{host}', 0.1) for host in HOSTS
        ]
        report = self.check()
        [row] = report['servers']
        self.assertEqual(
            (3, 0, 3),
            (row['servers'], row['with_a_value'], row['active_without']),
        )
        self.assertEqual(
            {
                'nova_internal_name': 3,
                'nova_instance_uuid': 0,
                'nova_display_name': 0,
            },
            row['by_label_type'],
        )
        self.assertEqual('u-a1', row['examples_without'][0]['uuid'])
        result = self.finding(report, 'servers-unknown')
        self.assertEqual(
            'with vm_profile_label_type: nova_internal_name 3 would have one',
            result['mend'],
        )
        self.assertIn('u-a1, u-a2, u-a3', result['text'])

    def test_some_have_none(self) -> None:
        """What becomes of them hangs on the fallback."""
        self.series['cpu_of_vm'][0] = ('gone', 0.1)
        for fallback, words in (
            ('skip', 'stay on their hosts'),
            ('host_average', 'is estimated'),
        ):
            self.write_policies(policy(vm_profile_fallback=fallback))
            report = self.check()
            result = self.finding(report, 'servers-without')
            self.assertIn('1 of 3 running servers', result['text'])
            self.assertIn(words, result['text'])
            self.assertEqual(
                ['gone'], report['servers'][0]['labels_unmatched']
            )

    def test_those_that_are_off_need_none(self) -> None:
        self.servers(
            self.server('a1', status='SHUTOFF'),
            *(self.server(host) for host in HOSTS[1:]),
        )
        self.series['cpu_of_vm'] = self.series['cpu_of_vm'][1:]
        report = self.check()
        self.assertNotIn('servers-without', self.codes(report))
        self.assertEqual(2, report['servers'][0]['with_a_value'])

    def test_a_name_that_two_have(self) -> None:
        self.write_policies(policy(vm_profile_label_type='nova_display_name'))
        self.servers(*(self.server(host, name='web') for host in HOSTS))
        self.series['cpu_of_vm'] = [('web', 0.1)]
        mend = self.finding(self.check(), 'servers-unknown')['mend']
        self.assertIn('nova_instance_uuid', mend)

    def test_names_of_tenants(self) -> None:
        """Who copies a server's name stops it; the host distinguishes them."""
        self.write_policies(policy(vm_profile_label_type='nova_display_name'))
        report = self.check()
        text = self.finding(report, 'names-of-tenants')['text']
        self.assertIn('which tenants choose', text)
        self.labels['cpu_of_vm'] = 'host'
        self.write_policies(
            policy(
                vm_profile_label_type='nova_display_name',
                vm_profile_label='host',
            )
        )
        self.assertNotIn('names-of-tenants', self.codes(self.check()))

    def test_names_of_cells(self) -> None:
        """Each cell counts libvirt's names from 1, also beyond the scope."""
        self.write_policies(policy(vm_profile_label_type='nova_internal_name'))
        name = {'OS-EXT-SRV-ATTR:instance_name': 'instance-00000001'}
        self.series['cpu_of_vm'] = [('instance-00000001', 0.1)]
        self.servers(self.server('a1', **name))
        self.assertNotIn('names-repeated', self.codes(self.check()))
        self.servers(
            self.server('a1', **name), self.server('elsewhere', **name)
        )
        text = self.finding(self.check(), 'names-repeated')['text']
        self.assertIn('instance-00000001', text)
