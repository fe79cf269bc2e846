# SPDX-License-Identifier: Apache-2.0
"""Is a recording planned as the audit was, and as one wishes?"""

from oslotest import base

from kronos.common import exceptions
from kronos.engine.planning import propose
from kronos.recordings.formats import cluster
from kronos.recordings.replay import Replay, ReplayOptions, replay
from tests import places

FIXTURES = places.CLUSTERS
METRIC = str(FIXTURES / 'metric-2.json')


def played(**options: object) -> Replay:
    return replay(cluster.recording(METRIC), ReplayOptions(**options))  # type: ignore


class TestReplaying(base.BaseTestCase):
    def test_the_very_steps(self) -> None:
        """The planner itself, given the same."""
        found = cluster.read(METRIC)
        one = played()
        report = propose.propose(
            [found.snapshot], found.policies, one.settings
        )
        self.assertEqual(report.steps, one.report.steps)
        self.assertEqual(3, len(one.report.steps))
        self.assertEqual(len(one.report.steps), len(one.parents))
        self.assertEqual({'collect', 'propose', 'schedule'}, {*one.timings})

    def test_a_recording_is_not_changed(self) -> None:
        recording = cluster.recording(METRIC)
        replay(
            recording,
            ReplayOptions(
                max_migrations=1, overrides={'threshold.cpu': '0.9'}
            ),
        )
        self.assertEqual(cluster.recording(METRIC), recording)

    def test_wishes(self) -> None:
        self.assertEqual(1, len(played(max_migrations=1).report.steps))
        calm = {f'threshold.{name}': '1' for name in ('cpu', 'ram', 'net')}
        self.assertEqual([], played(overrides=calm).report.steps)
        one = played(overrides={'keep_hosts': '3'})
        self.assertEqual(3, one.settings.keep_hosts)

    def test_mode(self) -> None:
        one = played(mode='evacuate')
        self.assertEqual([], one.report.steps)
        self.assertTrue(one.settings.evacuate)
        self.assertFalse(one.settings.rebalance)
        error = self.assertRaises(
            exceptions.ConfigurationError, played, mode='pack'
        )
        self.assertIn('--mode spread', str(error))

    def test_bad_wishes(self) -> None:
        for overrides, text in (
            ({'threshold.gpu': '1'}, 'there is no policy "gpu"'),
            ({'treshold.cpu': '1'}, 'did you mean threshold?'),
            ({'threshold.cpu': '7'}, 'must be a number from 0 to 1'),
            ({'weight.cpu': '0.1'}, 'must sum to 1'),
            ({'keep_host': '1'}, 'did you mean keep_hosts?'),
            ({'keep_hosts': '0'}, 'keep_hosts=0'),
            ({'tie_break': 'no'}, 'tie_break=no'),
        ):
            with self.subTest(overrides=overrides):
                error = self.assertRaises(
                    exceptions.ConfigurationError, played, overrides=overrides
                )
                self.assertIn(text, str(error))
        error = self.assertRaises(
            exceptions.ScopeError, played, scopes=['nowhere']
        )
        self.assertIn('known: cluster', str(error))
