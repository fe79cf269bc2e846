# SPDX-License-Identifier: Apache-2.0
"""Does the planner do with each printed remedy what was said of it?

Every remedy is applied as an operator would: its arguments are added to the
call, and the recording is replayed. What is expected is what was printed.
"""

import json
import pathlib
import random
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import fixtures
from oslotest import base

from kronos.cmd import explain, replay, what_if
from kronos.engine.settings import PlanMode
from kronos.engine.types import AggregateResult, CycleReport
from tests import commands, places

sys.path.insert(0, str(places.TOP / 'tools'))

from generator import cli  # noqa: E402

EXAMPLES = (
    'cells',
    'drain',
    'groups',
    'lab-drain',
    'lab-pack',
    'lab-spread',
    'pack',
    'uneven',
)
CHANGES: tuple[tuple[str, ...], ...] = (
    (),
    ('--max-migrations', '2'),
    ('--set', 'soft_rules=penalty'),
    ('--set', 'enforce_soft_affinity=true', '--max-migrations', '3'),
    ('--set', 'threshold.cpu=0.4'),
    ('--plain',),
)
OF_SEARCH = {
    'budget_used',
    'not_asked',
    'pack_headroom_hosts',
    'pack_keep_hosts',
    'pack_not_whole',
    'scope_balanced',
    'soft_penalty',
}
"""Nothing forbids such a move, so its remedy makes the plan do it."""
Call = tuple[str, ...]


def planned(call: Sequence[str]) -> CycleReport:
    """What kronos-replay plans with these arguments."""
    parsed = replay.argument_parser().parse_args(list(call))
    options = what_if.of(parsed, parsed.policies)
    return what_if.played(parsed.path[0], options).report


def printed(call: Sequence[str], *form: str) -> str:
    code, out, err = commands.run(explain.main, [*call, *form])
    assert (code, err) == (0, ''), (call, err)
    return out


def answers(*call: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(printed(call, '-f', 'json'))[
        'answers'
    ]
    return found


def questions(call: Call, seed: int) -> Iterator[Call]:
    """About the scope, a host, an instance and a pair of each scope."""
    yield ()
    rng = random.Random(seed)
    for scope in planned(call).scopes:
        hosts, uuids = sorted(scope.availability_zones), sorted(scope.stayed)
        yield '--host', rng.choice(hosts)
        if uuids:
            yield '--instance', rng.choice(uuids)
            pair = rng.choice(uuids), rng.choice(hosts)
            yield '--instance', pair[0], '--destination', pair[1]


def misses(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The moves of an answer that have remedies."""
    found = [answer.get('nearest_miss')]
    found += [
        answer[side]['nearest_miss']
        for side in ('sends', 'receives')
        if side in answer
    ]
    if 'codes' not in answer:
        found += answer.get('destinations', ())
    return [one for one in found if one]


class ProposalsTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.applied = 0

    def apply_all(self, call: Call, seed: int) -> None:
        """Apply each remedy of the answers to some questions."""
        before = {one.name: one for one in planned(call).scopes}
        for question in questions(call, seed):
            for answer in answers(*call, *question):
                self.empty(call, answer)
                for miss in misses(answer):
                    with self.subTest(call=call, question=question):
                        self.apply(call, before[answer['scope']], miss)

    def empty(self, call: Call, answer: dict[str, Any]) -> None:
        """Apply what would let all instances leave a host."""
        then = answer.get('if_all_lifted')
        if not then or not then['try']:
            return
        [after] = [
            scope
            for scope in planned([*call, *then['try']]).scopes
            if scope.name == answer['scope']
        ]
        host = answer['blockers'][0]['source']
        leaving = [step for step in after.steps if step.source == host]
        self.assertEqual(len(leaving), then['leaving'], answer['blockers'])

    def apply(
        self, call: Call, before: AggregateResult, miss: dict[str, Any]
    ) -> None:
        self.assertEqual([], [one for one in miss['also'] if one['try']])
        then = miss['if_lifted']
        if not miss['try']:
            if miss['code'] in OF_SEARCH:
                self.assertIsNone(then, miss)
            return
        self.applied += 1
        if miss['code'] in OF_SEARCH:
            self.assertTrue(then['planned'], miss)
        scopes = planned([*call, *miss['try']]).scopes
        [after] = [one for one in scopes if one.name == before.name]
        moves = [
            {
                'number': number,
                'phase': step.phase.value,
                'source': step.source,
                'destination': step.destination,
            }
            for number, step in enumerate(after.steps, start=1)
            if step.instance == miss['instance']
        ]
        self.assertEqual(
            {
                'moves': moves,
                'planned': miss['destination']
                in [one['destination'] for one in moves],
                'stays': after.stayed.get(miss['instance'], ''),
                'more_steps': len(after.steps) - len(before.steps),
            },
            {
                key: then[key]
                for key in ('moves', 'planned', 'stays', 'more_steps')
            },
            miss,
        )
        if then['planned']:
            self.assertTrue(then['legal'], miss)


class TestExamples(ProposalsTestCase):
    def test_each_remedy_is_what_the_plan_does(self) -> None:
        for at, name in enumerate(EXAMPLES):
            change = CHANGES[at % len(CHANGES)]
            self.apply_all((f'examples/{name}', *change), at)
        self.assertLess(5, self.applied)

    def test_soft_groups(self) -> None:
        """With a price alone most plans would still avoid to break a rule."""
        made = []
        for name in ('api-59', 'api-3'):
            [answer] = answers('examples/uneven', '--instance', name)
            [miss] = misses(answer)
            self.assertEqual('group_together', miss['code'])
            self.assertIn('soft_rules=penalty', miss['try'])
            [before] = planned(('examples/uneven',)).scopes
            self.apply(('examples/uneven',), before, miss)
            made.append(miss['if_lifted']['planned'])
        self.assertIn(True, made)

    def test_budgets(self) -> None:
        """The nearest miss is one that the next larger budget makes."""
        for budget in range(1, 9):
            call = 'examples/lab-spread', '--max-migrations', str(budget)
            [before] = planned(call).scopes
            [answer] = answers(*call)
            [miss] = misses(answer)
            self.assertEqual('budget_used', miss['code'])
            self.assertEqual('--max-migrations', miss['try'][0])
            self.apply(call, before, miss)

    def test_no_budget_would_do(self) -> None:
        """Then that is what is said, and nothing is proposed."""
        call = 'examples/lab-spread', '--max-migrations', '2'
        [before] = planned(call).scopes
        vain = 0
        for uuid in sorted(before.stayed):
            for host in ('cmp4', 'cmp3'):
                pair = '--instance', uuid, '--destination', host
                [answer] = answers(*call, *pair)
                [miss] = misses(answer)
                self.apply(call, before, miss)
                if miss['remedy'].startswith('None of the budgets'):
                    vain += 1
                    self.assertEqual([], miss['try'])
            if vain:
                break
        self.assertTrue(vain)

    def test_in_the_cloud(self) -> None:
        """What no argument lifts is lifted in the recording."""
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'r')
        shutil.copytree(places.EXAMPLES / 'drain', path)
        [answer] = answers(str(path), '--instance', 'web-10')
        [miss] = misses(answer)
        self.assertEqual(('instance_locked', []), (miss['code'], miss['also']))
        rows = json.loads((path / 'nova' / 'instances.json').read_text())
        for row in rows:
            row['locked'] = row['locked'] and row['uuid'] != miss['instance']
        (path / 'nova' / 'instances.json').write_text(json.dumps(rows))
        [after] = planned((str(path),)).scopes
        self.assertIn(
            (miss['instance'], miss['destination']),
            [(step.instance, step.destination) for step in after.steps],
        )
        self.assertTrue(miss['if_lifted']['planned'])

    def test_as_it_is_printed(self) -> None:
        """The line of the table is what a shell takes."""
        call = 'examples/uneven', '--instance', 'api-59'
        lines = printed(call).splitlines()
        [line] = [one for one in lines if one.strip().startswith('to try it')]
        arguments = shlex.split(line.partition('to try it:')[2])
        [answer] = answers(*call)
        [miss] = misses(answer)
        self.assertEqual(miss['try'], arguments)
        self.assertIn(
            '  if all of these were lifted: it is legal, and the plan would '
            'make it',
            lines,
        )


class TestMadeUp(ProposalsTestCase):
    def test_each_remedy_is_what_the_plan_does(self) -> None:
        """In each mode, with what keeps servers where they are."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for seed, mode in enumerate(PlanMode):
            path = str(folder / mode)
            options = (
                f'{path} --mode {mode.value} --seed {seed} --hosts 5 '
                '--instances 25 --grouped 0.4 --frozen 0.2 --broken 1 '
                '--disabled 1'
            )
            code, _, err = commands.run(cli.main, options.split())
            self.assertEqual(0, code, err)
            self.apply_all((path, *CHANGES[seed % len(CHANGES)]), seed)
        self.assertLess(2, self.applied)
