# SPDX-License-Identifier: Apache-2.0
"""Is a snapshot of a recording the one that an audit would have taken?"""

from oslotest import base

from kronos.engine.types import Health, Reading, Seeds
from kronos.recordings import load
from kronos.recordings.recording import ANY_LABEL, Answers
from kronos.recordings.replay import ReplayOptions, replay
from tests.builders import recordings
from tests.unit.recordings import test_load


class TestSnapshots(test_load.ArchiveTestCase):
    def test_prometheus_was_away(self) -> None:
        self.write(answers={})
        plan = replay(load.read(str(self.path)), ReplayOptions())
        self.assertIn(
            'the recording has no answer to this query',
            plan.report.scopes[0].reason,
        )

    def test_what_every_snapshot_knows(self) -> None:
        seeds = Seeds({'a': 60.0}, {'u2': 30.0})
        recording = recordings.small(unknown=['a part is missing'])
        recording.seeds = seeds
        found = recording.snapshots()
        self.assertEqual(['a', 'b'], [one.scope for one in found])
        for snapshot in found:
            self.assertIs(seeds, snapshot.seeds)
            self.assertIn('a part is missing', snapshot.warnings)

    def test_names_that_nobody_has(self) -> None:
        seeds = Seeds({'x': 1.0, 'a': 1.0}, {'u2': 1.0}, {'y': 1.0})
        for snapshot in recordings.small(seeds=seeds).snapshots():
            self.assertEqual(
                [
                    'cooldowns.json: aggregate_cooldowns: there is no '
                    'aggregate x',
                    'cooldowns.json: instance_quarantines: there is no '
                    'instance y',
                ],
                [one for one in snapshot.warnings if 'there is no' in one],
            )


class TestAnswers(base.BaseTestCase):
    def test_by_label_or_any(self) -> None:
        one, other = Reading('q'), Reading('r')
        answers = Answers({('q', 'host'): one, ('r', ANY_LABEL): other})
        self.assertIs(one, answers.instant_query('q', 'host'))
        self.assertIs(other, answers.instant_query('r', 'host'))
        missing = answers.instant_query('q', 'node')
        self.assertIs(Health.UNREACHABLE, missing.health)
        self.assertIn('(label node)', missing.error)
