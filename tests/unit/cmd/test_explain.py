# SPDX-License-Identifier: Apache-2.0
"""Does the command answer rightly, about a cluster worked out by hand?

cmp1 0.8, cmp2 0.3, cmp3 0.5 and closed; threshold 0.1. Moving web (0.2) off
cmp1 leaves 0.6, 0.5, 0.5, which is within it.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import fixtures
from oslotest import base

from kronos.cmd import explain
from kronos.cmd.replays import explain_tables
from tests import commands, golden, places

FIXTURES = places.FIXTURES
EXAMPLES = places.EXAMPLES
BY_HAND = str(FIXTURES / 'clusters' / 'by-hand.json')
DAEMONS = str(FIXTURES / 'recordings' / 'daemons')


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout, stderr."""
    return commands.run(explain.main, arguments)


def told(*arguments: str) -> str:
    code, out, err = run(*arguments)
    assert (code, err) == (0, ''), err
    return out


def answer(*arguments: str) -> dict[str, Any]:
    document = json.loads(told(*arguments, '--format', 'json'))
    assert document['format_version'] == 1
    (one,) = document['answers']
    return dict(one)


def _alone(found: dict[str, Any], host: str) -> None:
    """Leave out all other hosts and what is on them."""
    found['hosts'] = [one for one in found['hosts'] if one['name'] == host]
    here = [
        instance for instance in found['instances'] if instance['host'] == host
    ]
    found['instances'], found['groups'] = here, []


class TestZero(base.BaseTestCase):
    def test_no_minus(self) -> None:
        """Of what is rounded to it, too."""
        row = dict.fromkeys(explain_tables.COLUMNS, '')
        for gain in (0.0, -0.0, -0.00001):
            document = {
                'question': 'instance',
                'answers': [
                    {'scope': 's', 'destinations': [{**row, 'gain': gain}]}
                ],
            }
            [_, cells] = explain_tables.rows(document)
            self.assertIn('+0.0000', cells)
        for name in ('drain', 'uneven'):
            self.assertNotIn('-0.0000', told(f'examples/{name}'))


class TestScope(golden.GoldenTestCase):
    def test_the_end_and_the_nearest_miss(self) -> None:
        """tiny (0.05) would leave 0.55, 0.55, 0.5."""
        result = answer(BY_HAND)
        self.assertEqual('scope_balanced', result['code'])
        self.assertEqual(1, result['steps'])
        miss = result['nearest_miss']
        self.assertEqual(
            ('tiny', 'cmp1', 'cmp2', 'scope_balanced'),
            (
                miss['instance'],
                miss['source'],
                miss['destination'],
                miss['code'],
            ),
        )
        self.assertAlmostEqual(0.05, miss['gain'])
        self.assertAlmostEqual(0.05, miss['imbalances']['cpu'])

    def test_table(self) -> None:
        self.assert_golden('scope.txt', told(BY_HAND))

    def test_a_policy_that_was_not_judged(self) -> None:
        """Without it "within all thresholds" would say too much."""
        change = '--set', 'imbalance_query.net=nobody_asked'
        text = told('examples/uneven', *change)
        self.assert_golden('not_judged.txt', text)
        result = answer('examples/uneven', *change)
        self.assertEqual(['net'], list(result['policies_skipped']))

    def test_with_another_budget_and_threshold(self) -> None:
        """The options of kronos-replay change the plan that is meant."""
        result = answer(
            BY_HAND, '--set', 'threshold.cpu=0.01', '--max-migrations', '1'
        )
        self.assertEqual('budget_used', result['code'])
        self.assertEqual('budget_used', result['nearest_miss']['code'])


class TestInstance(golden.GoldenTestCase):
    def test_one_that_moves(self) -> None:
        result = answer(BY_HAND, '--instance', 'web')
        (step,) = result['moves']
        self.assertEqual((1, 'cmp2'), (step['number'], step['destination']))
        codes = {
            destination['destination']: destination['code']
            for destination in result['destinations']
        }
        self.assertEqual(
            {
                'cmp1': 'already_there',
                'cmp2': 'planned',
                'cmp3': 'host_closed',
            },
            codes,
        )
        text = told(BY_HAND, '--instance', 'web')
        self.assert_golden('moves.txt', text)

    def test_a_destination_that_is_forbidden_thrice(self) -> None:
        """With 8192 MiB db-1 does not fit, nor may it be with db-2."""
        result = answer(BY_HAND, '--instance', 'db-1', '--destination', 'cmp2')
        (one,) = result['destinations']
        self.assertEqual('no_room', one['code'])
        self.assertEqual('it needs 8192 MEMORY_MB, 4096 are free', one['text'])
        self.assertEqual(
            ['group_apart', 'worsens_policy'],
            [other['code'] for other in one['also']],
        )
        self.assertAlmostEqual(-0.4, one['gain'])
        self.assertLessEqual(
            {'legal': True, 'against': [], 'planned': False}.items(),
            one['if_lifted'].items(),
        )
        self.assertIn('within all thresholds', one['if_lifted']['stays'])

    def test_what_lifting_would_do(self) -> None:
        """legacy (0.1) is fixed; freed it would still not be the best."""
        text = told(BY_HAND, '--instance', 'legacy', '--destination', 'cmp2')
        self.assert_golden('unmovable.txt', text)

    def test_a_lifted_rule_that_the_plan_would_use(self) -> None:
        """Where legacy is alone on cmp1, it alone keeps the scope uneven."""
        document = json.loads(pathlib.Path(BY_HAND).read_text())
        document['instances'] = [
            instance
            for instance in document['instances']
            if instance['name'] == 'legacy'
        ]
        document['groups'] = []
        folder = self.useFixture(fixtures.TempDir()).path
        path = pathlib.Path(folder, 'legacy.json')
        path.write_text(json.dumps(document))
        own = '--set', 'unexplained_load=stays'
        result = answer(str(path), *own)
        self.assertEqual(('scope_stuck', 0), (result['code'], result['steps']))
        miss = result['nearest_miss']
        self.assertEqual(
            ('legacy', 'cmp2', 'instance_unmovable', []),
            (
                miss['instance'],
                miss['destination'],
                miss['code'],
                miss['also'],
            ),
        )
        self.assertAlmostEqual(0.2, miss['gain'])
        then = miss['if_lifted']
        self.assertEqual(
            (True, [], True, 1, 'cmp2'),
            (
                then['legal'],
                then['against'],
                then['planned'],
                then['more_steps'],
                then['moves'][0]['destination'],
            ),
        )
        self.assertIn(
            'legal, and the plan would make it', told(str(path), *own)
        )

    def test_a_plan_that_would_take_another_destination(self) -> None:
        """It is about the server, wherever the plan would move it."""
        pair = '--instance', 'web-10', '--destination', 'cmp04'
        [row] = answer('examples/drain', *pair)['destinations']
        then = row['if_lifted']
        self.assertFalse(then['planned'])
        [step] = then['moves']
        self.assertEqual('cmp10', step['destination'])
        text = told('examples/drain', *pair)
        self.assert_golden('another_destination.txt', text)

    def test_the_nearest_miss_is_what_the_plan_would_make(
        self,
    ) -> None:
        result = answer('examples/drain', '--instance', 'web-10')
        miss = result['nearest_miss']
        self.assertEqual('cmp10', miss['destination'])
        self.assertTrue(miss['if_lifted']['planned'])
        text = told('examples/drain', '--instance', 'web-10')
        self.assert_golden('nearest_miss.txt', text)

    def test_a_remedy_with_its_number(self) -> None:
        """What is proposed works, to the last digit."""
        self.assertIn('threshold.cpu=0.0999\n', told(BY_HAND))
        miss = answer(BY_HAND)['nearest_miss']
        result = answer(BY_HAND, *miss['try'])
        self.assertEqual(2, result['steps'])

    def test_all_that_keeps_a_host(self) -> None:
        """Not the first alone: each is told before it can be lifted."""
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'r')
        shutil.copytree(EXAMPLES / 'pack', path)
        rows = json.loads((path / 'nova' / 'instances.json').read_text())
        here = [row for row in rows if row['host'] == 'cmp09']
        for one in here:
            one['locked'] = True
        (path / 'nova' / 'instances.json').write_text(json.dumps(rows))
        result = answer(str(path), '--host', 'cmp09')
        self.assertEqual(
            sorted(one['uuid'] for one in here),
            sorted(blocker['instance'] for blocker in result['blockers']),
        )
        text = told(str(path), '--host', 'cmp09')
        self.assert_golden('blockers.txt', text, {str(path): 'RECORDING'})
        self.assertEqual(5, result['if_all_lifted']['instances'])

    def test_a_scope_of_one_host(self) -> None:
        path = self.changed(lambda found: _alone(found, 'cmp1'))
        result = answer(path, '--instance', 'web')
        self.assertEqual({}, result['codes'])
        self.assertIsNone(result['nearest_miss'])
        self.assertEqual(
            [('cmp1', 'already_there')],
            [
                (destination['destination'], destination['code'])
                for destination in result['destinations']
            ],
        )
        self.assertIn('no other host', told(path, '--instance', 'web'))
        self.assertEqual('scope_too_few_hosts', answer(path)['code'])
        self.assertEqual('neither', answer(path, '--host', 'cmp1')['role'])
        told(path, '--instance', 'web', '--destination', 'cmp1')

    def test_absurd_values(self) -> None:
        """What is no number any more is not told, and JSON stays JSON."""

        def absurd(found: dict[str, Any]) -> None:
            for instance in found['instances']:
                instance['shares']['cpu'] = 1e308

        with warnings.catch_warnings():
            warnings.simplefilter('error', RuntimeWarning)
            path = self.changed(absurd)
            result = answer(path, '--instance', 'web')
        codes = {one['code'] for one in result['destinations']}
        self.assertIn('scope_no_policy', codes)
        for destination in result['destinations']:
            self.assertLessEqual(abs(destination['gain'] or 0.0), 1.0)

    def test_servers_larger_than_their_hosts(self) -> None:
        """What is in another unit is no share of anything."""

        def thousandfold(found: dict[str, Any]) -> None:
            for instance in found['instances']:
                instance['shares']['cpu'] *= 1000.0

        path = self.changed(thousandfold)
        self.assertIn('the servers of cmp1 sum to 650', told(path))
        result = answer(path, '--instance', 'web', '--destination', 'cmp2')
        codes = {destination['code'] for destination in result['destinations']}
        self.assertIn('scope_no_policy', codes)

    def changed(self, change: Callable[[dict[str, Any]], None]) -> str:
        """A file of the cluster that is otherwise the same."""
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'a.json')
        document = json.loads(pathlib.Path(BY_HAND).read_text())
        change(document)
        path.write_text(json.dumps(document))
        return str(path)

    def test_names(self) -> None:
        """Unknown ones name what is close, ambiguous ones the uuids."""
        code, out, err = run(BY_HAND, '--instance', 'legcy')
        self.assertEqual((1, ''), (code, out))
        self.assertIn('no instance legcy', err)
        self.assertIn('did you mean legacy?', err)
        code, _, err = run(BY_HAND, '--host', 'cmp9')
        self.assertEqual(1, code)
        self.assertIn('did you mean cmp3, cmp2 or cmp1?', err)

    def test_a_name_of_several(self) -> None:
        plan = explain.what_if.played(DAEMONS, explain.what_if.ReplayOptions())
        uuid = next(iter(plan.report.scopes[0].instances))
        for scope in plan.report.scopes:
            for instance in scope.instances.values():
                instance.name = 'same'
        error = self.assertRaises(
            explain.ArchiveError, explain._instance, plan, 'same'
        )
        self.assertIn(uuid, str(error))
        self.assertIn('use the uuid', str(error))
        self.assertEqual(uuid, explain._instance(plan, uuid))

    def test_the_beginning_of_a_uuid(self) -> None:
        """As tables have it."""
        result = answer('examples/uneven', '--instance', 'web-8')
        short = result['instance'][:8]
        self.assertEqual(
            result, answer('examples/uneven', '--instance', short)
        )
        code, _, err = run('examples/uneven', '--instance', short[:7])
        self.assertEqual(1, code)
        self.assertIn(f'no instance {short[:7]} ', err)


class TestHost(golden.GoldenTestCase):
    def test_a_closed_one(self) -> None:
        result = answer(BY_HAND, '--host', 'cmp3')
        self.assertEqual('neither', result['role'])
        self.assertEqual(
            ['host_closed'], [one['code'] for one in result['against']]
        )
        self.assertEqual(
            {'host_closed': 4, 'instance_unmovable': 1},
            result['receives']['codes'],
        )
        self.assertEqual({'worsens_policy': 1}, result['sends']['codes'])
        (policy,) = result['policies']
        self.assertEqual((2, 3), (policy['rank'], policy['hosts']))

    def test_its_name_in_capitals(self) -> None:
        self.assertEqual(
            answer(BY_HAND, '--host', 'cmp2'),
            answer(BY_HAND, '--host', 'CMP2'),
        )

    def test_one_that_receives(self) -> None:
        text = told(BY_HAND, '--host', 'cmp2')
        self.assert_golden('receives.txt', text)

    def test_where_hosts_are_filled(self) -> None:
        text = told('examples/pack', '--host', 'cmp08')
        self.assert_golden('packed_host.txt', text)

    def test_one_that_sends(self) -> None:
        result = answer(BY_HAND, '--host', 'cmp1')
        self.assertEqual('sends', result['role'])
        self.assertEqual(1, len(result['sends']['moves']))


class TestUse(base.BaseTestCase):
    def test_another_format(self) -> None:
        self.assertTrue(answer(DAEMONS)['reason'])

    def test_wrong_usage(self) -> None:
        for arguments in (
            [],
            [BY_HAND, '--destination', 'cmp1'],
            [BY_HAND, '--instance', 'web', '--host', 'cmp1'],
            [BY_HAND, '--mode', 'sideways'],
        ):
            self.assertEqual(2, run(*arguments)[0], arguments)

    def test_a_file_that_is_none(self) -> None:
        code, out, err = run('/nonexistent', '--instance', 'web')
        self.assertEqual((1, ''), (code, out))
        self.assertTrue(err.startswith('kronos-explain: /nonexistent'), err)

    def test_as_a_process_without_watcher_and_nova(self) -> None:
        program = (
            'import sys\n'
            "sys.modules['watcher'] = sys.modules['nova'] = None\n"
            'from kronos.cmd import explain\n'
            f'sys.exit(explain.main([{BY_HAND!r}]))\n'
        )
        done = subprocess.run(
            [sys.executable, '-c', program], capture_output=True, text=True
        )
        self.assertEqual((0, ''), (done.returncode, done.stderr))
        self.assertIn('nearest miss', done.stdout.lower())
