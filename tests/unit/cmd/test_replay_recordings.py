# SPDX-License-Identifier: Apache-2.0
"""Does the command plan directories, one or many, and as one wishes?"""

import json
import pathlib
from typing import Any

import fixtures
from oslotest import base

from kronos.cmd import explain
from kronos.policies import loader
from kronos.recordings import load
from tests import commands
from tests.builders import recordings
from tests.unit.cmd.test_replay import run

HOUR = 3600.0


class RecordingsTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def record(self, name: str, hours: float = 0.0, **more: Any) -> str:
        """A recording that was made so many hours later than others."""
        one = recordings.small(**more)
        one.gathered.taken_at += hours * HOUR
        path = str(self.top / name)
        load.write(path, one)
        return path

    def plan(self, *arguments: str) -> Any:
        code, out, err = run(*arguments, '--format', 'json')
        self.assertEqual((0, ''), (code, err))
        return json.loads(out)


class TestHostNames(RecordingsTestCase):
    """Prometheus calls the hosts otherwise than Nova does."""

    CAUSE = (
        'no host has a value: Prometheus has the name a1:9100 where Nova has '
        'a1; set [kronos] host_match = short, or try it here with --set '
        'host_match=short'
    )

    def setUp(self) -> None:
        super().setUp()
        recording = recordings.metrics_renamed(recordings.small(), ':9100')
        self.path = str(self.top / 'named')
        load.write(self.path, recording)

    def test_it_is_said_first_and_once(self) -> None:
        code, out, err = run(self.path)
        self.assertEqual(1, code)
        first, rest = out.split('\n', 1)
        self.assertEqual(
            f'Error: {self.CAUSE} (and 4 more of the same cause).', first
        )
        self.assertEqual(
            f'kronos-replay: {self.path}: {self.CAUSE}', err.strip()
        )
        for words in ('Not judged', 'host_match', 'min_host_coverage'):
            self.assertNotIn(words, rest)

    def test_one_of_many(self) -> None:
        """The others are judged; what follows from it is not said."""
        code, _, err = run(self.path, self.record('other'))
        self.assertEqual(0, code)
        self.assertEqual(
            f'kronos-replay: warning: as recorded: {self.CAUSE} ({self.path})',
            err.strip(),
        )
        code, _, err = run(self.path, self.path)
        self.assertEqual(1, code)
        first, second = err.strip().split('\n')
        self.assertIn(f'{self.CAUSE} ({self.path})', first)
        self.assertIn('no policy could be used in any recording', second)

    def test_an_explanation(self) -> None:
        """Whatever the format, beside the answer."""
        for form in ('table', 'json', 'csv'):
            code, out, err = commands.run(
                explain.main, [self.path, '--format', form]
            )
            self.assertEqual(0, code)
            self.assertNotIn('where Nova has', out.split('"question"')[0])
            self.assertEqual(
                f'kronos-explain: {self.path}: {self.CAUSE}', err.strip()
            )
        words = [self.path, '--set', 'host_match=short']
        self.assertEqual('', commands.run(explain.main, words)[2])

    def test_the_report_has_all_of_it(self) -> None:
        _, out, _ = run(self.path, '--format', 'json')
        for scope in json.loads(out)['scopes']:
            self.assertEqual({'cpu', 'ram'}, {*scope['policies_skipped']})

    def test_the_remedy(self) -> None:
        code, out, err = run(self.path, '--set', 'host_match=short')
        self.assertEqual((0, ''), (code, err))
        self.assertNotIn('where Nova has', out)


class TestOne(RecordingsTestCase):
    def test_document(self) -> None:
        """Keys that programs read; they stay."""
        path = self.record('one')
        plan = self.plan(path)
        self.assertEqual(1, plan['format_version'])
        self.assertEqual(
            {
                'path': path,
                'recorded_at': '2023-11-14T22:13:20.250000+00:00',
                'made_by': 'a test',
                'strategy': 'kronos_spread',
                'anonymized': False,
            },
            plan['recording'],
        )
        self.assertEqual(
            ['a', 'b'], [scope['name'] for scope in plan['scopes']]
        )
        self.assertEqual(600.0, plan['settings']['cooldown_seconds'])
        self.assertNotIn('timings', plan)
        self.assertEqual(
            f'kronos-replay {path} --format json', plan['command']
        )
        self.assertEqual({}, plan['overrides'])
        self.assertEqual(['kronos-watcher'], list(plan['versions']))
        plan = self.plan(path, '--set', 'keep_hosts=2')
        self.assertEqual({'keep_hosts': '2'}, plan['overrides'])
        [step, *_] = plan['scopes'][0]['steps']
        self.assertIn('lowers the combined imbalance by', step['why'])
        self.assertAlmostEqual(
            step['combined_before'] - step['combined_after'], step['gain']
        )

    def test_wishes(self) -> None:
        path = self.record('one')
        moves = {
            number: sum(len(scope['steps']) for scope in found['scopes'])
            for number, found in enumerate(
                (
                    self.plan(path),
                    self.plan(path, '--max-migrations', '1'),
                    self.plan(path, '--scope', 'b'),
                    self.plan(
                        path,
                        '--set=threshold.cpu=1',
                        '--set=threshold.ram=1',
                    ),
                )
            )
        }
        self.assertGreater(moves[0], moves[1])
        self.assertGreater(moves[0], moves[2])
        self.assertEqual(0, moves[3])

    def test_mode(self) -> None:
        """What the audit took from [kronos] holds in the other mode."""
        settings = self.plan(self.record('one'), '--mode', 'affinity')
        self.assertEqual(300.0, settings['settings']['cooldown_seconds'])
        self.assertFalse(settings['settings']['rebalance'])
        self.assertIsNone(settings['scopes'][0]['floor'])

    def test_where_hosts_are_filled(self) -> None:
        """No threshold counts; what does is how many hosts are emptied."""
        code, out, err = run('examples/pack')
        self.assertEqual((0, ''), (code, err))
        self.assertIn('Hosts in use: 9 -> 6', out)
        self.assertNotIn('threshold', out)
        code, out, err = run('examples/pack', 'examples/pack')
        self.assertEqual((0, ''), (code, err))
        self.assertRegex(out, r'(?m)^hosts emptied +6$')
        self.assertNotIn('threshold', out)

    def test_other_policies(self) -> None:
        path, file = self.record('one'), self.top / 'other.yaml'
        other = recordings.policies()[:1]
        other[0].weight = 1.0
        file.write_text(loader.dump(other))
        (scope, _) = self.plan(path, '--policies', str(file))['scopes']
        self.assertEqual(
            ['cpu'], [policy['name'] for policy in scope['policies']]
        )

    def test_timings(self) -> None:
        path = self.record('one')
        parts = [
            'load',
            'collect',
            'propose',
            'schedule',
            'certify',
            'report',
        ]
        self.assertEqual(parts, [*self.plan(path, '--time')['timings']])
        _, out, _ = run(path, '--time')
        for part in [*parts, 'in all']:
            self.assertRegex(out, rf'(?m)^{part} \(s\) +\d+\.\d{{3}}$')

    def test_page(self) -> None:
        """Nothing is written but the file that was named."""
        path, page = self.record('one'), self.top / 'page.html'
        before = sorted(self.top.rglob('*'))
        page.write_text('old')
        code, _, _ = run(path, '--html', str(page))
        self.assertEqual(0, code)
        self.assertIn('Kronos: one', page.read_text())
        self.assertEqual(sorted([*before, page]), sorted(self.top.rglob('*')))
        code, out, err = run(path, '--html', str(self.top / 'no' / 'page'))
        self.assertEqual((1, ''), (code, out))
        self.assertIn('it cannot be written: No such file', err)
        code, _, err = run(path, path, '--html', 'x')
        self.assertEqual(2, code)
        self.assertIn('--html requires exactly one recording', err)

    def test_what_cannot_be_planned(self) -> None:
        path = self.record('one')
        for arguments, text in (
            ([path, '--scope', 'z'], 'there is no aggregate "z"'),
            ([path, '--mode', 'pack'], 'the policies have mode spread'),
            ([path, '--set', 'threshold.cpu=7'], 'must be a number from 0'),
            ([path, '--set', 'cooldwn=7'], 'did you mean cooldown?'),
            ([path, '--set', 'keep_hosts='], 'keep_hosts=: it is empty'),
            ([path, '--set', 'min_host_coverage=nan'], 'not a finite'),
            ([path, '--set', 'soft_rule_penalty=inf'], 'not a finite'),
            ([path, '--policies', 'none.yaml'], 'none.yaml: it cannot be'),
            ([str(self.top / 'none')], 'No such file'),
        ):
            code, out, err = run(*arguments)
            with self.subTest(text=text):
                self.assertEqual((1, ''), (code, out))
                self.assertIn(text, err)
                self.assertEqual(1, err.count('\n'))
        for bad in (['--set', 'x'], ['--mode', 'x'], ['--scope']):
            self.assertEqual(2, run(path, *bad)[0])

    def test_all_that_is_wrong_is_told_at_once(self) -> None:
        wrong = ['keep_hosts=', 'cooldown=nan', 'thresh.cpu=1', 'a.b=1', 'x=1']
        sets = [part for one in wrong for part in ('--set', one)]
        code, _, err = run(self.record('one'), *sets)
        self.assertEqual((1, 1), (code, err.count('\n')))
        for one in wrong:
            self.assertIn(one.partition('=')[0], err)

    def test_names_that_speak_to_terminals(self) -> None:
        one = recordings.small()
        for instance in one.gathered.instances:
            instance.name = '\x1b[31m\x07ü'
        load.write(str(self.top / 'one'), one)
        code, out, _ = run(str(self.top / 'one'))
        self.assertEqual(0, code)
        self.assertIn('?[31m?ü (', out)

    def test_names_that_would_look_like_other_lines(self) -> None:
        """Neither a line of their own nor another order of the letters."""
        one = recordings.small()
        for instance in one.gathered.instances:
            instance.name = 'a\nStopped (balanced)\u202edesrever\u2028'
        load.write(str(self.top / 'one'), one)
        _, out, _ = run(str(self.top / 'one'))
        self.assertIn('a?Stopped (balanced)?desrever?', out)
