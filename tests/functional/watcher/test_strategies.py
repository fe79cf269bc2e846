# SPDX-License-Identifier: Apache-2.0
"""Does each strategy do what it is for, through a real audit?"""

import json
import logging
import os
import pathlib

import fixtures
import yaml

from kronos.recordings import load, replay
from kronos.reports.document import document
from tests.fakes.small_cloud import cloud
from tests.functional.watcher import base


class StrategyTestCase(base.KronosTestCase):
    START_APPLIER = False
    STRATEGY = ''
    GOAL = ''

    def ends(self, state, *words, strategy=None, **parameters):
        audit = self.create_audit(
            goal=self.GOAL,
            strategy=strategy or self.STRATEGY,
            parameters={'aggregates': 'alpha', **parameters},
        )
        message = self.message(audit)
        self.assertEqual(state, audit['state'], message)
        for word in words:
            self.assertIn(word, message)
        self.assertLessEqual(len(message), 210)
        return audit

    def told(self, audit):
        """What each action of the plan of an audit says."""
        return [
            action.input_parameters
            for action in self.actions(self.plan(audit))
        ]

    def moves(self, audit):
        return sorted(
            (told['phase'], told['source_node'], told['resource_name'])
            for told in self.told(audit)
        )

    def indicators(self, audit):
        plan = self.plan(audit)
        (share,) = plan['global_efficacy']
        found = {
            row['name']: row['value'] for row in plan['efficacy_indicators']
        }
        return found | {share['name']: share['value']}

    def disable(self, host, state='up'):
        self.cloud.services[host] = {
            'state': state,
            'status': 'disabled',
            'reason': 'new firmware',
        }


class PackingTestCase(StrategyTestCase):
    STRATEGY = 'kronos_pack'
    GOAL = 'kronos_consolidate'

    def setUp(self):
        super().setUp()
        data = yaml.safe_load(base.POLICIES)
        for policy in data['policies']:
            policy.update(
                mode='pack', capacity_query=policy['imbalance_query']
            )
        self.pack_file = f'{self.policies_file}.pack'
        pathlib.Path(self.pack_file).write_text(yaml.safe_dump(data))
        self.set('kronos', pack_policies_file=self.pack_file)


class PackTestCase(PackingTestCase):
    @staticmethod
    def CLOUD():  # noqa: N802
        return cloud.Cloud(
            ['h1', 'h2', 'h3', 'h4', 'h5'],
            {'alpha': ['h1', 'h2', 'h3', 'h4']},
            base.servers('h1', 1, 4)
            + base.servers('h2', 11, 2)
            + base.servers('h3', 21, 1),
        )

    def test_empties_hosts(self):
        audit = self.ends(
            'SUCCEEDED', 'alpha: 3 migrations, hosts in use 3 -> 1'
        )
        self.assertEqual(
            [
                ('pack', 'h2', 'vm11'),
                ('pack', 'h2', 'vm12'),
                ('pack', 'h3', 'vm21'),
            ],
            self.moves(audit),
        )
        into = {told['destination_node'] for told in self.told(audit)}
        self.assertEqual({'h1'}, into)
        self.assertEqual(
            {
                'hosts_in_use_before': 3,
                'hosts_in_use_after': 1,
                'hosts_released': 2,
                'migrations': 3,
                'hosts_emptied': 66.7,
            },
            self.indicators(audit),
        )

    def test_keeps_as_many_hosts_as_it_should(self):
        self.set('kronos', keep_hosts=2)
        self.ends('SUCCEEDED', 'alpha: 1 migration, hosts in use 3 -> 2')

    def test_lives_beside_spread(self):
        """Each of the two files serves one strategy."""
        audit = self.create_audit()
        self.assertEqual('SUCCEEDED', audit['state'], self.message(audit))
        self.set('kronos', pack_policies_file=None)
        self.ends('FAILED', self.policies_file, 'mode spread', 'kronos_pack')

    def test_drains_first(self):
        """The phase of every step is told."""
        self.disable('h3')
        audit = self.ends(
            'SUCCEEDED',
            '3 migrations (1 evacuate, 2 pack), hosts in use 3 -> 1',
            evacuate_disabled_hosts='true',
        )
        self.assertEqual(
            [('evacuate', 'h3'), ('pack', 'h2'), ('pack', 'h2')],
            [move[:2] for move in self.moves(audit)],
        )


class PackOverAuditsTestCase(PackingTestCase):
    """A host that has more servers than a plan may have migrations."""

    START_APPLIER = True

    @staticmethod
    def CLOUD():  # noqa: N802
        return cloud.Cloud(
            ['h1', 'h2', 'h3'],
            {'alpha': ['h1', 'h2', 'h3']},
            base.servers('h1', 1, 7, cpu=0.01, memory=0.01)
            + base.servers('h2', 11, 5)
            + base.servers('h3', 21, 5),
        )

    def test_each_audit_goes_on_and_says_what_is_left(self):
        """Of h2, since h1 has more servers, however light they are."""
        for told, left in (
            ('h2: 3 of 5 leave now', 2),
            ('hosts in use 3 -> 2', 0),
        ):
            audit = self.ends('SUCCEEDED', told)
            self.assertEqual(
                {'h2'}, {one['source_node'] for one in self.told(audit)}
            )
            plan = self.start(self.plan(audit))
            self.assertEqual('SUCCEEDED', plan['state'])
            on = [one.host for one in self.cloud.servers.values()]
            self.assertEqual(left, on.count('h2'))


class EvacuateTestCase(StrategyTestCase):
    STRATEGY = 'kronos_evacuate'
    GOAL = 'kronos_drain'

    def test_a_disabled_host(self):
        self.disable('h2')
        audit = self.ends('SUCCEEDED', 'alpha: 2 migrations, h2: 2 leave')
        self.assertEqual(
            [('evacuate', 'h2', 'vm11'), ('evacuate', 'h2', 'vm12')],
            self.moves(audit),
        )
        self.assertEqual(
            {
                'hosts_to_drain': 1,
                'instances_before': 2,
                'instances_after': 0,
                'migrations': 2,
                'instances_leaving': 100.0,
            },
            self.indicators(audit),
        )

    def test_whole_hosts_unless_the_audit_says_otherwise(self):
        """Six instances: more than a cycle of the policies may move."""
        self.disable('h1')
        audit = self.ends('SUCCEEDED', 'alpha: 6 migrations, h1: 6 leave')
        self.assertEqual(6, len(self.moves(audit)))
        audit = self.ends('SUCCEEDED', 'h1: 2 leave, 4 stay', max_migrations=2)
        self.assertEqual(4, self.indicators(audit)['instances_after'])

    def test_what_cannot_leave_is_told(self):
        self.disable('h2')
        self.cloud.servers[base.uuid(11)].locked = True
        audit = self.ends('SUCCEEDED', 'h2: 1 leaves, 1 stays (', 'locked')
        self.assertEqual([('evacuate', 'h2', 'vm12')], self.moves(audit))
        self.assertEqual(50.0, self.indicators(audit)['instances_leaving'])

    def test_a_host_that_is_down(self):
        """It is named, and nothing of it is touched."""
        self.disable('h2', state='down')
        audit = self.ends('SUCCEEDED', 'h2', 'down')
        self.assertEqual([], self.moves(audit))

    def test_nothing_to_drain(self):
        audit = self.ends('SUCCEEDED', 'alpha: ')
        self.assertEqual([], self.moves(audit))
        self.assertEqual(0, self.indicators(audit)['hosts_to_drain'])

    def test_named_hosts_only(self):
        """Names of hosts do not differ by case."""
        self.disable('h1')
        for name in ('h2', 'H2'):
            audit = self.ends('SUCCEEDED', 'h2: 2 leave', hosts=name)
            self.assertEqual(
                {'h2'}, {source for _, source, _ in self.moves(audit)}
            )

    def test_while_prometheus_is_away(self):
        """A drain is an order; servers go to where most memory is free."""
        self.cloud.down |= {('GET', '/prometheus'), ('POST', '/prometheus')}
        self.disable('h2')
        log = self.useFixture(fixtures.FakeLogger(level=logging.WARNING))
        reports = self.useFixture(fixtures.TempDir()).path
        self.set('kronos', report_dir=reports)
        audit = self.ends(
            'SUCCEEDED',
            'alpha: drained without metrics, by the memory that Placement '
            'has free: no policy can be used',
            '2 migrations, h2: 2 leave',
        )
        self.assertEqual(
            [('evacuate', 'h2', 'vm11'), ('evacuate', 'h2', 'vm12')],
            self.moves(audit),
        )
        into = {told['destination_node'] for told in self.told(audit)}
        self.assertEqual({'h3', 'h4'}, into)
        self.assertIn('scope alpha: drained without metrics', log.output)
        [path] = pathlib.Path(reports).glob('*.json')
        [scope] = json.loads(path.read_text())['scopes']
        self.assertIn(scope['unmeasured'], scope['warnings'])

    def test_spread_too_drains_without_metrics_and_does_no_more(self):
        self.cloud.down |= {('GET', '/prometheus'), ('POST', '/prometheus')}
        self.disable('h2')
        audit = self.create_audit(
            parameters={
                'aggregates': 'alpha',
                'evacuate_disabled_hosts': 'true',
            }
        )
        self.assertIn('drained without metrics', self.message(audit))
        self.assertEqual(
            {('evacuate', 'h2')}, {move[:2] for move in self.moves(audit)}
        )
        self.cloud.services['h2']['status'] = 'enabled'
        audit = self.create_audit()
        self.assertEqual('FAILED', audit['state'])

    def test_a_server_without_samples_leaves_too(self):
        """Whatever vm_profile_fallback is; by default it is skip."""
        self.disable('h2')
        self.cloud.unmeasured.add(base.uuid(11))
        audit = self.ends('SUCCEEDED', 'alpha: 2 migrations, h2: 2 leave')
        self.assertEqual(2, len(self.moves(audit)))

    def test_unknown_hosts_and_those_of_other_scopes(self):
        for name in ('h9', 'h5'):
            audit = self.ends(
                'FAILED', f'"{name}"', 'h1, h2, h3, h4', hosts=f'h1,{name}'
            )
            self.assertEqual([], self.plans(audit))

    def test_policies_of_mode_pack_do_too(self):
        data = yaml.safe_load(base.POLICIES)
        for policy in data['policies']:
            policy.update(
                mode='pack', capacity_query=policy['imbalance_query']
            )
        self.write_policies(yaml.safe_dump(data))
        self.disable('h2')
        audit = self.ends('SUCCEEDED', 'h2: ')
        self.assertEqual(2, len(self.moves(audit)))


class DrainTestCase(base.KronosTestCase):
    CAST_AS_CALL = False

    def test_a_disabled_host_is_empty_afterwards(self):
        """The applier moves away from a host that is disabled."""
        self.cloud.services['h2']['status'] = 'disabled'
        audit = self.create_audit(
            goal='kronos_drain', strategy='kronos_evacuate'
        )
        plan = self.start(self.plan(audit))
        self.assertEqual('SUCCEEDED', plan['state'])
        hosts = [one.host for one in self.cloud.servers.values()]
        self.assertNotIn('h2', hosts)
        self.assertEqual(2, len(self.cloud.migrations))


class Grouped(StrategyTestCase):
    def group(self, policy, *numbers):
        self.cloud.groups.append(
            {
                'id': base.uuid(900 + len(self.cloud.groups)),
                'name': policy,
                'policy': policy,
                'rules': {},
                'members': [base.uuid(number) for number in numbers],
                'project_id': 'project',
                'user_id': 'user',
            }
        )


class AffinityTestCase(Grouped):
    STRATEGY = 'kronos_affinity'
    GOAL = 'kronos_affinity'

    def test_a_broken_group_is_repaired_by_one_move(self):
        self.group('anti-affinity', 1, 2, 11)
        audit = self.ends(
            'SUCCEEDED', 'alpha: 1 migration, broken server groups 1 -> 0'
        )
        ((phase, source, name),) = self.moves(audit)
        self.assertEqual(('affinity', 'h1'), (phase, source))
        self.assertIn(name, ('vm1', 'vm2'))
        self.assertEqual(
            {
                'violations_before': 1,
                'violations_after': 0,
                'migrations': 1,
                'violations_removed': 100.0,
            },
            self.indicators(audit),
        )

    def test_soft_rules_where_that_is_asked_for(self):
        self.group('soft-anti-affinity', 1, 2)
        audit = self.ends('SUCCEEDED')
        self.assertEqual([], self.moves(audit))
        audit = self.ends(
            'SUCCEEDED', '1 migration', enforce_soft_affinity=True
        )
        self.assertEqual(1, len(self.moves(audit)))
        self.set('kronos', enforce_soft_affinity=True)
        self.ends('SUCCEEDED', '1 migration')

    def test_an_impossible_repair_is_told(self):
        self.group('anti-affinity', 1, 2)
        for number in (1, 2):
            self.cloud.servers[base.uuid(number)].locked = True
        audit = self.ends('SUCCEEDED', 'warning: ', 'anti-affinity')
        self.assertEqual([], self.moves(audit))
        self.assertEqual(1, self.indicators(audit)['violations_after'])


class SpreadTestCase(Grouped):
    STRATEGY = 'kronos_spread'
    GOAL = 'kronos_balance'

    def test_all_phases_share_a_budget(self):
        """The evacuation first, then the rest."""
        self.disable('h2')
        audit = self.ends(
            'SUCCEEDED',
            'alpha: 3 migrations (2 evacuate, 1 spread), combined imbalance',
            evacuate_disabled_hosts=True,
        )
        phases = [told['phase'] for told in self.told(audit)]
        self.assertEqual(['evacuate', 'evacuate', 'spread'], phases)

    def test_a_repair_needs_no_imbalance(self):
        """A rule that is to be enforced is reason enough."""
        for number, one in enumerate(self.cloud.servers.values()):
            one.host = f'h{number // 2 + 1}'
            one.cpu = one.memory = 0.02
        self.group('anti-affinity', 1, 2)
        audit = self.ends('SUCCEEDED', 'alpha: ')
        self.assertEqual([], self.moves(audit))
        audit = self.ends(
            'SUCCEEDED',
            'broken server groups 1 -> 0',
            enforce_hard_affinity=True,
        )
        self.assertIn(
            self.moves(audit)[0],
            [('affinity', 'h1', 'vm1'), ('affinity', 'h1', 'vm2')],
        )

    def test_a_drain_needs_no_imbalance(self):
        for number, one in enumerate(self.cloud.servers.values()):
            one.host = f'h{number // 2 + 1}'
        self.disable('h2')
        audit = self.ends('SUCCEEDED', 'alpha: ', evacuate_disabled_hosts=True)
        self.assertEqual(
            [('evacuate', 'h2')] * 2,
            [move[:2] for move in self.moves(audit)][:2],
        )

    def test_only_where_it_is_asked_for(self):
        self.disable('h2')
        audit = self.ends('SUCCEEDED', 'alpha: 3 migrations, combined')
        self.assertEqual({'spread'}, {m[0] for m in self.moves(audit)})


class ReportTestCase(StrategyTestCase):
    STRATEGY = 'kronos_spread'
    GOAL = 'kronos_balance'

    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path
        self.set('kronos', report_dir=self.folder)

    def test_the_whole_report(self):
        self.cloud.servers[base.uuid(1)].locked = True
        audit = self.ends('SUCCEEDED', '3 migrations')
        (name,) = os.listdir(self.folder)
        self.assertIn(audit['uuid'], name)
        found = json.loads(pathlib.Path(self.folder, name).read_text())
        self.assertEqual(1, found['format_version'])
        self.assertEqual('kronos_spread', found['strategy'])
        self.assertEqual(audit['uuid'], found['audit']['uuid'])
        self.assertEqual({'aggregates': 'alpha'}, found['audit']['parameters'])
        self.assertEqual(
            {
                'policies',
                'history',
                'collect',
                'effect',
                'propose',
                'certify',
                'schedule',
            },
            set(found['timings']),
        )
        self.assertLessEqual(
            {'kronos-watcher', 'python-watcher'}, set(found['versions'])
        )
        (scope,) = found['scopes']
        self.check_scope(scope, audit)

    def test_a_recording_gives_the_same_plan(self):
        """Replayed, the very steps of the audit, in their order."""
        folder = self.useFixture(fixtures.TempDir()).path
        self.set('kronos', record_dir=folder)
        self.cloud.servers[base.uuid(1)].locked = True
        audit = self.ends('SUCCEEDED', '3 migrations')
        (name,) = os.listdir(folder)
        self.assertIn(audit['uuid'], name)
        recording = load.read(os.path.join(folder, name))
        self.assertEqual('kronos_spread', recording.strategy)
        plan = replay.replay(recording, replay.ReplayOptions())
        self.assertEqual(
            [told['resource_id'] for told in self.told(audit)],
            [step.instance for step in plan.report.steps],
        )
        (report,) = os.listdir(self.folder)
        found = json.loads(pathlib.Path(self.folder, report).read_text())
        again = json.loads(json.dumps(document(plan.report)))
        self.assertEqual(found['scopes'], again['scopes'])
        self.assertIn('record', found['timings'])

    def test_a_lost_recording_fails_no_audit(self):
        self.set('kronos', record_dir=f'{self.folder}/missing')
        self.ends('SUCCEEDED', '3 migrations')

    def check_scope(self, scope, audit):
        moved = [step['instance'] for step in scope['steps']]
        self.assertEqual(
            [told['resource_id'] for told in self.told(audit)], moved
        )
        # Every instance that does not move has its reason.
        self.assertEqual(
            set(self.cloud.servers) - set(moved), set(scope['stayed'])
        )
        self.assertIn('locked', scope['stayed'][base.uuid(1)])
        self.assertEqual(
            ['h1', 'h2', 'h3', 'h4'], [host['name'] for host in scope['hosts']]
        )
        self.assertIn('score', [stage['name'] for stage in scope['stages']])

    def scope(self):
        """The scope of the only report."""
        (name,) = os.listdir(self.folder)
        found = json.loads(pathlib.Path(self.folder, name).read_text())
        (scope,) = found['scopes']
        return scope

    def test_the_stages_in_their_order(self):
        """With what each has counted, in the report and the log."""
        log = self.useFixture(fixtures.FakeLogger())
        self.disable('h2')
        self.disable('h3', state='down')
        self.cloud.servers[base.uuid(1)].host = 'h3'
        self.ends(
            'SUCCEEDED',
            evacuate_disabled_hosts=True,
            enforce_hard_affinity=True,
        )
        stages = [
            (one['name'], one['count']) for one in self.scope()['stages']
        ]
        self.assertEqual(
            [
                ('services', 5),
                ('score', 2),
                ('cooldown', 0),
                ('profile', 7),
                ('down', 1),
                ('unavailable', 0),
                ('evacuate', 2),
                ('affinity', 0),
                ('spread', 1),
            ],
            stages,
        )
        asked = [path for _, path in self.cloud.calls if 'services' in path]
        self.assertEqual(1, len(asked))
        told = ', '.join(f'{name} {count}' for name, count in stages)
        self.assertIn(f'stages: {told}; policy cpu', log.output)

    def test_a_host_that_is_down(self):
        """It is named in the report and in the log."""
        log = self.useFixture(fixtures.FakeLogger())
        self.disable('h2', state='down')
        self.ends('SUCCEEDED', evacuate_disabled_hosts=True)
        (named,) = self.scope()['not_drained'].items()
        self.assertEqual('h2', named[0])
        self.assertIn('nova-compute is down', named[1])
        self.assertIn('scope alpha: host h2 is not drained', log.output)

    def test_as_many_as_asked_for(self):
        self.set('kronos', report_keep=2)
        audits = [self.ends('SUCCEEDED') for _ in range(3)]
        kept = sorted(os.listdir(self.folder))
        self.assertEqual(2, len(kept))
        for audit, name in zip(audits[1:], kept, strict=True):
            self.assertIn(audit['uuid'], name)

    def test_with_its_page(self):
        """Beside it, in the same number, and of the same audit."""
        self.set('kronos', report_html=True, report_keep=2)
        audits = [self.ends('SUCCEEDED') for _ in range(3)]
        kept = sorted(os.listdir(self.folder))
        self.assertEqual(['.html', '.json'] * 2, [name[-5:] for name in kept])
        for audit, name in zip(audits[1:], kept[::2], strict=True):
            self.assertIn(audit['uuid'], name)
            text = pathlib.Path(self.folder, name).read_text()
            self.assertIn(audit['uuid'], text)

    def test_no_place_for_it_stops_no_audit(self):
        self.set('kronos', report_dir=f'{self.folder}/missing')
        self.ends('SUCCEEDED', '3 migrations')
