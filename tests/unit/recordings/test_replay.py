# SPDX-License-Identifier: Apache-2.0
"""Is a recording planned as the audit was, and as one wishes?"""

from typing import Any

import fixtures
from oslotest import base

from kronos.common import exceptions
from kronos.engine.planning import propose
from kronos.engine.settings import EffectUse
from kronos.engine.types import EffectRatio, StopReason
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import ForeignMove, needs_of
from kronos.recordings import load, writer
from kronos.recordings.anonymize import anonymizer
from kronos.recordings.formats import cluster
from kronos.recordings.replay import Replay, ReplayOptions, replay
from tests import places
from tests.builders import cells

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

    def test_measured_effects(self) -> None:
        """Written and read, the ratios of the audit give its plan again."""
        was = cluster.recording(METRIC)
        was.settings.use_effect = EffectUse.DAMP
        [scope] = played().report.scopes
        was.gathered.effects = {
            scope.name: [
                EffectRatio(policy.name, 1.0 / 3.0, 4)
                for policy in was.policies
            ]
        }
        audited = replay(was, ReplayOptions()).report.scopes[0]
        place = self.useFixture(fixtures.TempDir()).join('recording')
        writer.write(place, was)
        again = replay(load.read(place), ReplayOptions()).report.scopes[0]
        self.assertEqual(audited, again)
        self.assertNotEqual(scope.steps, again.steps)
        undamped = ReplayOptions(overrides={'use_effect': 'off'})
        [plain] = replay(load.read(place), undamped).report.scopes
        self.assertEqual(scope.steps, plain.steps)

    def test_wishes(self) -> None:
        self.assertEqual(1, len(played(max_migrations=1).report.steps))
        calm = {f'threshold.{name}': '1' for name in ('cpu', 'ram', 'net')}
        self.assertEqual([], played(overrides=calm).report.steps)
        one = played(overrides={'keep_hosts': '3'})
        self.assertEqual(3, one.settings.keep_hosts)

    def test_windows(self) -> None:
        """It plans by the time of the recording, or by another one."""
        night = {'windows': 'Thu 22:00-23:00 UTC; Sun 01:00-02:00 UTC'}
        friday, thursday = 1795791600.0, 1795730400.0
        plan = played(overrides=night, at=friday)
        self.assertEqual([], plan.report.steps)
        [scope] = plan.report.scopes
        self.assertIs(StopReason.WINDOW, scope.stopped)
        self.assertIn('opens at 2026-11-29 01:00 (UTC)', scope.reason)
        inside = played(overrides=night, at=thursday + 1.0)
        self.assertEqual(played().report.steps, inside.report.steps)
        drain = played(overrides=night, at=friday, mode='evacuate')
        [scope] = drain.report.scopes
        self.assertIsNot(StopReason.WINDOW, scope.stopped)

    def test_mode(self) -> None:
        one = played(mode='evacuate')
        self.assertEqual([], one.report.steps)
        self.assertTrue(one.settings.evacuate)
        self.assertFalse(one.settings.rebalance)
        error = self.assertRaises(
            exceptions.ConfigurationError, played, mode='pack'
        )
        self.assertIn('--mode spread', str(error))
        self.assertIn('--convert-policies', str(error))

    def test_packing_by_policies_of_spread(self) -> None:
        """What was not recorded is not asked: the load is the fill."""
        replay = played(mode='pack', convert_policies=True)
        for policy in replay.policies:
            self.assertEqual('pack', policy.mode)
            self.assertEqual(policy.imbalance_query, policy.capacity_query)
        [scope] = replay.report.scopes
        self.assertTrue(scope.policies_used)
        self.assertEqual('spread', played().policies[0].mode)

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


class TestCells(base.BaseTestCase):
    """A recording of an audit that empties a cell."""

    def setUp(self) -> None:
        super().setUp()
        servers = [
            cells.server('a'),
            cells.stopped('b', 'o2'),
            cells.server('c', locked=True),
            cells.server('d', 'o2', project_id='full'),
        ]
        self.snapshot = cells.cells(servers)
        needs_of(self.snapshot).quota_left = {'full': {'cores': 0}}
        needs_of(self.snapshot).unfinished = [
            cells.unfinished('e'),
            cells.unfinished('f', has_ended=True),
        ]
        needs_of(self.snapshot).of_others = [
            ForeignMove('g', 'g', 'o1', 'n2', 'old')
        ]
        self.asked = cells.settings(
            flavor_map={'*': 'large'}, close_source=True
        )
        folder = self.useFixture(fixtures.TempDir())
        self.place = folder.join('recording')
        writer.write(self.place, cells.recording(self.snapshot, self.asked))

    def played(self, **options: Any) -> Replay:
        return replay(load.read(self.place), ReplayOptions(**options))

    def moves(self, one: Replay) -> list[str]:
        return [step.instance for step in one.report.steps]

    def test_the_very_steps(self) -> None:
        report = propose.propose([self.snapshot], [cells.CPU], self.asked)
        one = self.played()
        self.assertEqual(['b', 'a'], self.moves(one))
        self.assertEqual(report.steps, one.report.steps)
        self.assertEqual(report.scopes[0].stayed, one.report.scopes[0].stayed)
        self.assertEqual(report.scopes[0].beside, one.report.scopes[0].beside)
        self.assertEqual(1, len(cell_drain.finishing(*one.report.scopes)))
        again = self.played(mode='cell_drain')
        self.assertEqual(report.steps, again.report.steps)

    def test_anonymized(self) -> None:
        was = load.read(self.place)
        now = replay(anonymizer.anonymized(was), ReplayOptions())
        self.assertEqual(2, len(now.report.steps))
        self.assertEqual(1, len(cell_drain.finishing(*now.report.scopes)))

    def test_other_parameters(self) -> None:
        ends = {'source_cell': 'old', 'target_cells': 'new'}
        one = self.played(mode='cell_drain', parameters=ends)
        self.assertEqual(['b', 'a', 'd'], self.moves(one))
        one = self.played(
            mode='cell_drain', parameters=ends | {'hosts': '["o2"]'}
        )
        self.assertEqual(['b', 'd'], self.moves(one))

    def test_refused(self) -> None:
        ends = {'source_cell': 'old', 'target_cells': 'new'}
        for options, text in (
            ({'parameters': ends}, 'and --mode make_room only'),
            ({'mode': 'spread', 'parameters': ends},
             'and --mode make_room only'),
            ({'mode': 'cell_drain',
              'parameters': ends | {'flavor_map': 'small=huge'}},
             'there is no flavor huge'),
            ({'mode': 'cell_drain', 'parameters': ends | {'aggregates': 'a'}},
             'name the scopes with --scope'),
            ({'mode': 'cell_drain', 'parameters': {'source_cell': 'old'}},
             'target_cells'),
        ):  # fmt: skip
            error = self.assertRaises(
                exceptions.ConfigurationError, self.played, **options
            )
            self.assertIn(text, str(error))
        recording = cluster.recording(METRIC)
        error = self.assertRaises(
            exceptions.ConfigurationError,
            replay,
            recording,
            ReplayOptions(mode='cell_drain'),
        )
        self.assertIn('--parameter source_cell=OLD', str(error))
