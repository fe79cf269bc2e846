# SPDX-License-Identifier: Apache-2.0
"""Are many recordings summed up, alone and by two files of policies?"""

import json
import os
import re
import shutil

from kronos.policies import loader
from kronos.recordings import load
from tests.builders import recordings
from tests.unit.cmd import test_replay_recordings
from tests.unit.cmd.test_replay import METRIC, run
from tests.unit.cmd.test_replay_recordings import HOUR


class TestMany(test_replay_recordings.RecordingsTestCase):
    def week(self) -> str:
        """Three recordings, whose names are not in the order of time."""
        for name, hours in (('b', 0), ('c', 24), ('a', 36)):
            self.record(name, hours)
        (self.top / 'no recording').mkdir()
        return str(self.top)

    def test_in_the_order_of_time(self) -> None:
        (found,) = self.plan(self.week())['replays']
        self.assertEqual(
            ['b', 'c', 'a'],
            [
                os.path.basename(recording['path'])
                for recording in found['recordings']
            ],
        )
        self.assertEqual(
            found, self.plan(*self.names('a', 'b', 'c'))['replays'][0]
        )

    def names(self, *names: str) -> list[str]:
        return [str(self.top / name) for name in names]

    def test_summary(self) -> None:
        """By hand: 36 hours, the same plan each time, nothing changed."""
        (found,) = self.plan(self.week())['replays']
        steps = len(found['recordings'][0]['steps'])
        self.assertGreater(steps, 0)
        summary = found['summary']
        over = summary.pop('over')
        self.assertEqual(
            {
                'recordings': 3,
                'moves': 3 * steps,
                'days': 1.5,
                'moves_a_day': 2.0 * steps,
                'hosts_emptied': 0,
                'back_and_forth': 0,
            },
            summary,
        )
        self.assertEqual(
            {
                'scope': 'a',
                'policy': 'cpu',
                'recordings': 3,
                'over': 3,
                'seconds': 36 * HOUR,
                'seconds_over': 36 * HOUR,
            },
            over[0],
        )

    def test_back_and_forth(self) -> None:
        """An instance goes where it was moved away from."""
        self.record('a')
        other = recordings.small()
        moved = self.plan(str(self.top / 'a'))['scopes'][0]['steps'][0]
        for instance in other.gathered.instances:
            if instance.uuid == moved['instance']:
                instance.host = moved['destination']
        busy, calm = moved['destination'], moved['source']
        for policy in ('cpu', 'ram'):
            for sample in other.answers[f'{policy}_of_host', 'host'].samples:
                if sample.label in (busy, calm):
                    sample.value = 0.9 if sample.label == busy else 0.1
        other.gathered.taken_at += HOUR
        load.write(str(self.top / 'b'), other)
        (found,) = self.plan(str(self.top))['replays']
        back = [
            (step['instance'], step['destination'])
            for step in found['recordings'][1]['steps']
        ]
        self.assertIn((moved['instance'], calm), back)
        self.assertGreaterEqual(found['summary']['back_and_forth'], 1)

    def test_compare(self) -> None:
        week, file = self.week(), self.top / 'calm.yaml'
        calm = recordings.policies()
        for one in calm:
            one.threshold = 1.0
        file.write_text(loader.dump(calm))
        first, second = self.plan(week, '--compare', str(file))['replays']
        self.assertGreater(first['summary']['moves'], 0)
        self.assertEqual(0, second['summary']['moves'])
        self.assertEqual(0, second['summary']['over'][0]['over'])
        code, out, _ = run(week, '--compare', str(file))
        self.assertEqual(0, code)
        self.assertRegex(out, rf'(?m)^\(2\) {re.escape(str(file))}$')
        self.assertRegex(out, r'(?m)^moves +[1-9]\d* +0$')
        self.assertRegex(
            out, r'(?m)^over threshold: a, cpu +1 day 12 h of 1 day 12 h,'
        )
        self.assertEqual(3, len(re.findall(r'(?m)^2023-11-1', out)))

    def test_one_that_is_broken(self) -> None:
        """It is told, and the others are planned all the same."""
        week = self.week()
        (self.top / 'c' / 'meta.json').write_text('{')
        code, out, err = run(week)
        self.assertEqual(1, code)
        self.assertIn(f'{self.top}/c/meta.json: Invalid JSON', err)
        self.assertRegex(out, r'(?m)^recordings +2$')
        code, out, _ = run(week, '-f', 'json')
        document = json.loads(out)
        self.assertEqual(1, code)
        self.assertEqual(2, len(document['replays'][0]['recordings']))
        self.assertEqual(
            [str(self.top / 'c')], [one['path'] for one in document['failed']]
        )

    def test_none_that_is_whole(self) -> None:
        week = self.week()
        for name in 'abc':
            (self.top / name / 'meta.json').write_text('{')
        code, out, err = run(week)
        self.assertEqual((1, '', 3), (code, out, err.count('\n')))

    def test_policies_that_were_not_asked_for(self) -> None:
        """Nothing is known of what they measure: no balance of 0."""
        week, file = self.week(), self.top / 'other.yaml'
        others = recordings.policies()
        for one in others:
            one.imbalance_query = f'other({one.imbalance_query})'
        file.write_text(loader.dump(others))
        code, out, err = run(week, '--compare', str(file))
        self.assertEqual(1, code)
        self.assertIn('no policy could be used in any recording', err)
        self.assertNotIn('0.0000 -> 0.0000', out)
        self.assertRegex(out, r'(?m)^2023.* 0 +- +-$')
        code, out, err = run(str(self.top / 'a'), '--policies', str(file))
        self.assertEqual(1, code)
        self.assertRegex(out, r'(?m)^combined +- +-$')
        self.assertIn('Policies over their threshold: -\n', out)
        self.assertNotIn('No plan of', out)
        self.assertIn('no policy can be used', err)

    def test_one_policy_that_was_not_asked_for(self) -> None:
        """The other is judged; which one is not is told."""
        week, file = self.week(), self.top / 'other.yaml'
        others = recordings.policies()
        others[1].imbalance_query = 'nobody_asked'
        file.write_text(loader.dump(others))
        code, out, err = run(week, '--compare', str(file))
        self.assertEqual(0, code)
        self.assertRegex(err, r'warning: .*other.yaml: not judged: policy ram')
        _, out, _ = run(week, '--policies', str(file), '-f', 'json')
        found = json.loads(out)['replays'][0]
        scope = found['recordings'][0]['scopes'][0]
        self.assertEqual(1, scope['policies_used'])
        self.assertEqual(['ram'], list(scope['policies_skipped']))
        code, out, err = run(str(self.top / 'a'), '--policies', str(file))
        self.assertEqual((0, ''), (code, err))
        self.assertRegex(out, r'(?m)^ram +- +\S+ +- +-$')

    def test_rows_for_programs(self) -> None:
        week = self.week()
        code, out, _ = run(week, '-f', 'csv')
        self.assertEqual((0, 4), (code, len(out.splitlines())))
        self.assertTrue(out.startswith('recorded at,recording,moves,'))
        code, out, _ = run(week, '-f', 'value')
        self.assertEqual((0, 3), (code, len(out.splitlines())))

    def test_of_unknown_time(self) -> None:
        shutil.copy(METRIC, self.top / 'copy.json')
        code, out, _ = run(METRIC, str(self.top / 'copy.json'))
        self.assertEqual(0, code)
        self.assertRegex(out, r'(?m)^moves a day, none of them made +-$')
        self.assertIn('unknown', out)
