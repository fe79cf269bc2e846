# SPDX-License-Identifier: Apache-2.0
"""Does each client command tell in each format, and each error in a line?"""

import csv
import io
import json
from typing import Any

import requests
import yaml

from kronos.common import deadline
from kronos.osc import commands, rows
from tests.fakes import keystone, watcher_api
from tests.unit.osc import clouds
from tests.unit.osc.clouds import uuid

PLAN = uuid(1)
SHOW = ('plan', 'show', PLAN)
COMMANDS = (('plan', 'list'), SHOW, ('explain', 'vm2'))


class CommandsTestCase(clouds.CloudTestCase):
    """A plan of three moves: done, failed, still to be."""

    def printed(self, *arguments: str) -> str:
        """The output of a command that goes well."""
        code, out, err = self.run_client(*arguments)
        self.assertEqual((0, ''), (code, err))
        return out

    def setUp(self) -> None:
        super().setUp()
        self.audit = self.add_audit()
        self.add_plan(
            1,
            state='ONGOING',
            audit_uuid=self.audit,
            efficacy_indicators=[
                {'name': 'combined_imbalance_before', 'value': 0.6},
                {'name': 'combined_imbalance_after', 'value': 0.25},
                {'name': 'migrations', 'value': 3.0},
            ],
            global_efficacy=[
                {'name': 'imbalance_removed', 'value': 58.3, 'unit': '%'}
            ],
        )
        self.add_action(PLAN, 'vm1')
        self.add_action(
            PLAN,
            'vm2',
            state='FAILED',
            status_message=clouds.TOLD,
            inputs={'sequence': 2},
        )
        self.add_action(
            PLAN,
            'vm3',
            state='PENDING',
            inputs={'sequence': 3},
            updated_at=None,
        )


class TestPlanList(CommandsTestCase):
    def test_json(self) -> None:
        (row,) = self.told('plan', 'list')
        self.assertEqual(
            {
                'UUID': PLAN,
                'State': 'ONGOING',
                'Strategy': 'kronos_spread',
                'Scope': ['alpha'],
                'Actions': 3,
                'Done': 1,
                'Failed': 1,
                'Imbalance Before': 0.6,
                'Imbalance After': 0.25,
                'Audit Message': 'alpha: sentence 1',
            },
            row,
        )

    def test_a_state_that_there_is_not(self) -> None:
        code, out, err = self.run_client(
            'plan', 'list', '--state', 'recomended'
        )
        self.assertEqual((2, ''), (code, out))
        self.assertIn('did you mean RECOMMENDED? Known: RECOMMENDED', err)

    def test_a_strategy_that_there_is_not(self) -> None:
        code, out, err = self.run_client(
            'plan', 'list', '--strategy', 'kronos_spred'
        )
        self.assertEqual((1, ''), (code, out))
        self.assertEqual(
            'Watcher has no strategy kronos_spred; did you mean '
            'kronos_spread?',
            err.strip(),
        )

    def test_no_plan(self) -> None:
        """Programs get an empty list; people a line."""
        for more, words in (
            (('--state', 'failed'), 'of Kronos in the state FAILED.'),
            (('--strategy', 'kronos_pack'), 'of the strategy kronos_pack.'),
        ):
            code, out, err = self.run_client(
                'plan', 'list', *more, '-f', 'json'
            )
            self.assertEqual((0, []), (code, json.loads(out)))
            self.assertEqual(f'Watcher has no action plan {words}\n', err)

    def test_days_with_a_unit(self) -> None:
        for text, days in (('2w', 14), ('7d', 7), ('3 days', 3), ('5', 5)):
            self.assertEqual(days, commands._days(text))
        for text in ('5m', '0d', 'week'):
            code, _, err = self.run_client('explain', 'vm2', '--days', text)
            self.assertEqual(2, code)
            self.assertIn('is not a whole number of at least 1', err)

    def test_yaml(self) -> None:
        out = self.printed('plan', 'list', '-f', 'yaml')
        self.assertEqual(self.told('plan', 'list'), yaml.safe_load(out))

    def test_csv(self) -> None:
        out = self.printed('plan', 'list', '-f', 'csv')
        names, row = csv.reader(io.StringIO(out))
        self.assertEqual([*rows.PLAN], names)
        self.assertEqual(
            ['3', '1', '1', '0.6', '0.25', 'alpha: sentence 1'], row[4:]
        )

    def test_no_cell_of_csv_is_a_formula(self) -> None:
        self.watcher.audits[self.audit]['status_message'] = '=1+1'
        out = self.printed('plan', 'list', '-f', 'csv')
        _, row = csv.reader(io.StringIO(out))
        self.assertEqual("'=1+1", row[-1])
        (row,) = self.told('plan', 'list')
        self.assertEqual('=1+1', row['Audit Message'])

    def test_value(self) -> None:
        out = self.printed(
            'plan', 'list', '-f', 'value', '-c', 'UUID', '-c', 'Failed'
        )
        self.assertEqual(f'{PLAN} 1\n', out)

    def test_table(self) -> None:
        out = self.printed('plan', 'list')
        cells = [cell.strip() for cell in out.splitlines()[3].split('|')]
        self.assertEqual(
            ['alpha', '3', '1', '1', '0.600', '0.250', 'alpha: sentence 1'],
            cells[4:-1],
        )

    def test_long(self) -> None:
        (row,) = self.told('plan', 'list', '--long')
        self.assertEqual([*rows.PLAN, *rows.MORE], [*row])
        self.assertEqual(
            (self.audit, 'audit-1'), (row['Audit'], row['Audit Name'])
        )

    def test_state_and_limit(self) -> None:
        self.add_plan(2)
        self.assertEqual(
            [PLAN],
            [
                x['UUID']
                for x in self.told('plan', 'list', '--state', 'ongoing')
            ],
        )
        self.assertEqual(1, len(self.told('plan', 'list', '--limit', '1')))

    def test_order(self) -> None:
        self.add_plan(2)
        result = self.told('plan', 'list', '--sort-column', 'Imbalance Before')
        self.assertEqual([None, 0.6], [x['Imbalance Before'] for x in result])


class TestPlanShow(CommandsTestCase):
    def test_json(self) -> None:
        result = self.told(*SHOW)
        self.assertEqual(
            (PLAN, 'ONGOING', 'kronos_spread', ['alpha'], 0.6, 0.25),
            tuple(
                result[name]
                for name in (
                    'uuid',
                    'state',
                    'strategy',
                    'scope',
                    'imbalance_before',
                    'imbalance_after',
                )
            ),
        )
        self.assertEqual(
            (self.audit, 'audit-1', 'alpha: sentence 1'),
            tuple(result[x] for x in ('audit', 'audit_name', 'audit_message')),
        )
        self.assertEqual(3, result['efficacy']['migrations'])
        self.assertEqual(58.3, result['global_efficacy'][0]['value'])
        self.assertEqual(
            [('vm1', '', ''), ('vm2', 'instance_locked', 'FAILED')],
            [
                (move['name'], move['fault'], move['fault'] and move['state'])
                for move in result['moves'][:2]
            ],
        )
        failed = result['moves'][1]
        self.assertEqual('the instance is locked', failed['reason'])
        self.assertEqual('Unlock it if you want it to move.', failed['remedy'])

    def test_yaml(self) -> None:
        out = self.printed(*SHOW, '-f', 'yaml')
        self.assertEqual(self.told(*SHOW), yaml.safe_load(out))

    def test_value(self) -> None:
        out = self.printed(*SHOW, '-f', 'value', '-c', 'state')
        self.assertEqual('ONGOING\n', out)

    def test_shell(self) -> None:
        out = self.printed(*SHOW, '-f', 'shell', '-c', 'strategy')
        self.assertEqual('strategy="kronos_spread"\n', out)

    def test_table(self) -> None:
        out = self.printed(*SHOW)
        lines = [line.strip('| \n') for line in out.splitlines()]
        self.assertIn('1. vm1 h1 -> h2 (spread): SUCCEEDED', lines[-5])
        self.assertIn(
            '2. vm2 h1 -> h2 (spread): FAILED [instance_locked]: the instance '
            'is locked',
            lines[-4],
        )
        self.assertIn('remedy: Unlock it if you want it to move.', lines[-3])
        self.assertIn('3. vm3 h1 -> h2 (spread): PENDING', lines[-2])
        self.assertIn('imbalance_removed: 58.3 %', out)

    def test_by_the_beginning_of_its_uuid(self) -> None:
        """As a list shows it."""
        listed = self.printed('plan', 'list', '-c', 'UUID')
        self.assertIn(f'| {PLAN[:8]} |', listed)
        self.assertEqual(
            self.told('plan', 'show', PLAN),
            self.told('plan', 'show', PLAN[:8]),
        )
        other = f'{PLAN[:8]}-2222-4222-8222-222222222222'
        self.add_plan(8, uuid=other)
        self.assertIn(
            f'2 action plans begin with "{PLAN[:8]}": ',
            self.refused('plan', 'show', PLAN[:8]),
        )
        self.assertIn(f'| {other[:10]} |', self.printed('plan', 'list'))
        self.assertIn(
            '"abcdef12" is not the uuid',
            self.refused('plan', 'show', 'abcdef12'),
        )

    def test_no_such_plan(self) -> None:
        self.assertIn(
            f'no action plan {uuid(7)}; see openstack optimize kronos plan',
            self.refused('plan', 'show', uuid(7)),
        )
        self.assertIn('"7" is not the uuid', self.refused('plan', 'show', '7'))

    def test_a_plan_of_another_strategy(self) -> None:
        plan = self.add_plan(2, strategy_name='workload_balance')
        self.add_action(plan, action_type='migrate')
        self.assertEqual(
            f'The action plan {plan} belongs to the strategy '
            'workload_balance, not to Kronos; see '
            f'openstack optimize actionplan show {plan}',
            self.refused('plan', 'show', plan),
        )


class TestExplain(CommandsTestCase):
    def test_json(self) -> None:
        result = self.told('explain', 'vm2')
        self.assertEqual((uuid(2), 'vm2'), (result['server'], result['name']))
        self.assertIn('vm2 h1 -> h2 (spread) was FAILED at', result['answer'])
        (action,) = result['actions']
        self.assertEqual(
            (PLAN, 'ONGOING', 'FAILED', 'instance_locked'),
            tuple(action[x] for x in ('plan', 'plan_state', 'state', 'fault')),
        )
        self.assertEqual('Unlock it if you want it to move.', action['remedy'])
        self.assertEqual(
            ['alpha: sentence 1'], [x['message'] for x in result['audits']]
        )
        self.assertIn('kronos-explain', result['note'])

    def test_yaml(self) -> None:
        out = self.printed('explain', uuid(2), '-f', 'yaml')
        self.assertEqual(self.told('explain', 'vm2'), yaml.safe_load(out))

    def test_value(self) -> None:
        out = self.printed('explain', 'vm3', '-f', 'value', '-c', 'server')
        self.assertEqual(f'{uuid(3)}\n', out)

    def test_table(self) -> None:
        out = self.printed('explain', 'vm2')
        self.assertIn('FAILED [instance_locked]: the instance is locked', out)
        self.assertIn('audit-1: alpha: sentence 1', out)
        self.assertIn('run kronos-explain', out)

    def test_an_unknown_name(self) -> None:
        self.assertIn(
            'neither moved a server "vm9" nor planned to move it in the last '
            '2 days',
            self.refused('explain', 'vm9', '--days', '2'),
        )


class TestErrors(CommandsTestCase):
    """Of each command one line, and 1."""

    def check(self, expected: str, **more: Any) -> None:
        for words in COMMANDS:
            for form in ('table', 'json', 'yaml', 'value'):
                message = self.refused(*words, '-f', form, **more)
                self.assertIn(expected, message)

    def test_no_rights(self) -> None:
        self.watcher.refusal = (
            403,
            watcher_api.fault("Policy doesn't allow it to be performed."),
        )
        self.check(
            "this requires the role of Watcher's administrator (GET /v1"
        )
        self.check("HTTP 403: Policy doesn't allow it to be performed.)")

    def test_an_old_api(self) -> None:
        self.watcher.newest = 4
        self.check(
            'too old: Kronos needs 1.5, from Watcher 15 (2025.2) (HTTP 406'
        )

    def test_watcher_is_away(self) -> None:
        """It is asked once: who waits may ask again."""
        self.keystone.wire.register_uri(
            'GET',
            f'{watcher_api.WATCHER}/v1/action_plans/detail',
            exc=requests.ConnectionError('connection refused'),
        )
        for words in COMMANDS[::2]:
            message = self.refused(*words)
            self.assertRegex(message, '^Watcher: GET .*connection refused')
        self.assertEqual(2, len(self.keystone.requests('/detail')))

    def test_nobody_answers_in_time(self) -> None:
        self.keystone.wire.register_uri(
            'GET',
            f'{watcher_api.WATCHER}/v1/action_plans/detail',
            exc=requests.ReadTimeout,
        )
        self.assertIn('Watcher: GET /v1', self.refused('plan', 'list'))

    def test_it_is_broken(self) -> None:
        self.watcher.refusal = 500, watcher_api.fault('Unexpected API Error.')
        self.check('HTTP 500: Unexpected API Error.')

    def test_it_is_no_watcher(self) -> None:
        self.watcher.refusal = 200, '<html>Welcome</html>'
        self.check('is the endpoint in the Keystone catalog right?')
        self.watcher.refusal = 200, {'action_plans': 1}
        self.check('the answer is not what was expected')

    def test_no_watcher_in_the_catalog(self) -> None:
        token = keystone.ks_fixture.V3Token()
        token.set_project_scope()
        token.add_service('compute').add_standard_endpoints(public='http://n')
        self.keystone.wire.post(
            f'{keystone.AUTH_URL}/auth/tokens',
            json=token,
            headers={'X-Subject-Token': 'ks-token'},
        )
        self.check('Watcher: the Keystone catalog has no endpoint of type')

    def test_keystone_refuses(self) -> None:
        self.keystone.wire.post(
            f'{keystone.AUTH_URL}/auth/tokens',
            status_code=401,
            json={'error': {'message': 'no such user', 'code': 401}},
            headers={'Content-Type': 'application/json'},
        )
        self.check('no such user')

    def test_keystone_wants_a_login_for_its_versions(self) -> None:
        """The client by itself waits for its own lock, for ever."""
        self.keystone.wire.get(keystone.AUTH_URL, status_code=401)
        said = deadline.within(60.0, lambda _: self.refused('plan', 'list'))
        self.assertIn(f'{keystone.AUTH_URL} answers 401', said)

    def test_text_that_steers_a_terminal(self) -> None:
        self.watcher.refusal = 500, watcher_api.fault('\x1b[31mred\n\nline')
        for words in COMMANDS:
            self.assertNotIn('\x1b', self.refused(*words))
        self.watcher.refusal = None
        self.watcher.audits[self.audit]['status_message'] = 'x\x1b[31m\ny'
        self.watcher.actions[1]['status_message'] = 'x\x1b[31m\ny'
        for words in COMMANDS:
            self.assertNotIn('\x1b', self.printed(*words))

    def test_what_nobody_can_write(self) -> None:
        """Numbers of hundreds of digits, halves of characters, odd times."""
        half = 'a\ud800b'
        self.watcher.audits[self.audit].update(name=half, status_message=half)
        self.watcher.plans[0].update(
            created_at='9999-12-31T23:59:59-12:00',
            updated_at='0001-01-01T00:00:00+12:00',
            status_message=half,
            efficacy_indicators=[
                {'name': 'migrations', 'value': 10**400},
                {'name': 'combined_imbalance_before', 'value': -(10**400)},
                {'name': half, 'value': 1.0},
            ],
            global_efficacy=[{'name': half, 'value': 10**400, 'unit': half}],
        )
        self.add_action(
            PLAN,
            'vm2',
            state='FAILED',
            status_message=half,
            inputs={
                'sequence': 10**400,
                'resource_name': half,
                'combined_imbalance': f'{"9" * 400} -> {"9" * 400}',
            },
        )
        for command in COMMANDS:
            for form in ('table', 'json', 'yaml', 'value'):
                out = self.printed(*command, '-f', form)
                out.encode()
        self.assertIn('a?b', self.printed('plan', 'list', '--long'))

    def test_wrong_usage(self) -> None:
        for words in (
            ('plan', 'list', '--limit', '0'),
            ('plan', 'list', '--limit', '²'),
            ('plan', 'show'),
            ('explain',),
            ('explain', 'vm1', '--days', '-1'),
        ):
            code, out, err = self.run_client(*words)
            self.assertEqual((2, ''), (code, out), words)
            self.assertIn('error: ', err)

    def test_a_great_number_of_days(self) -> None:
        result = self.told('explain', 'vm2', '--days', '9' * 30)
        self.assertIn(f'the last {commands.MOST_DAYS} days', result['answer'])


class TestHelp(CommandsTestCase):
    def test_each_option_says_what_it_does(self) -> None:
        for option, words in (
            (
                ('plan', 'list'),
                ('--limit', '(default: 20)', 'strategies of Kronos'),
            ),
            (('plan', 'show'), ('uuid of the action plan',)),
            (('explain',), ('--days', '(default: 7)')),
        ):
            code, out, _ = self.run_client(*option, '--help')
            self.assertEqual(0, code)
            for word in words:
                self.assertIn(word, out)
            self.assertEqual([], self.watcher.requests)

    def test_json_is_ordered_as_the_plan(self) -> None:
        self.watcher.actions.reverse()
        code, out, _ = self.run_client(*SHOW, '-f', 'json')
        names = [move['name'] for move in json.loads(out)['moves']]
        self.assertEqual((0, ['vm1', 'vm2', 'vm3']), (code, names))
