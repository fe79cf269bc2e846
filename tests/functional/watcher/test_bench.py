# SPDX-License-Identifier: Apache-2.0
"""Do Watcher's own strategies plan the bench's clusters by their readings?"""

import json
import pathlib
import statistics
import sys

import fixtures
from oslotest import base

from kronos.recordings.formats import cluster
from tests import places

if str(places.TOP / 'tools') not in sys.path:
    sys.path.insert(0, str(places.TOP / 'tools'))

from bench import clusters  # noqa: E402
from bench.field import watcher_strategies  # noqa: E402
from bench.placed import Placed  # noqa: E402
from generator import cluster_format, making  # noqa: E402

HOSTS = 12
CPU = 'stabilization, cpu to .02'


class TestStrategies(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        made = making.make(clusters.wanted(HOSTS))
        self.path = str(folder / 'cluster.json')
        pathlib.Path(self.path).write_text(
            json.dumps(cluster_format.document(made))
        )

    def deviation(self, moves: list[tuple[str, str]]) -> float:
        """Of the hosts' CPU use, after the moves."""
        found = cluster.read(self.path)
        placed = Placed(found.snapshot, found.policies).move(moves)
        return statistics.pstdev(placed.scores('cpu').values())

    def test_stabilization_evens_out_what_it_was_told(self) -> None:
        found = cluster.read(self.path).snapshot
        _, moves = watcher_strategies.theirs(
            found, *watcher_strategies.STRATEGIES[CPU]
        )
        self.assertNotEqual([], moves)
        self.assertLess(self.deviation(moves), self.deviation([]))
        stay = {uuid for uuid, one in found.instances.items() if one.unmovable}
        self.assertEqual(set(), stay & {uuid for uuid, _ in moves})

    def test_each_is_measured(self) -> None:
        for by in (CPU, 'consolidation', 'pack', 'spread'):
            row = watcher_strategies.measured(
                self.path, by, 3 if by == 'spread' else 0
            )
            self.assertEqual(HOSTS, row['hosts'])
            self.assertGreater(row['moves'], 0, by)
            self.assertNotEqual(row['before'], row['after'], by)
            if by in ('consolidation', 'pack'):
                self.assertGreater(row['emptied'], 0, by)
            self.assertIn(by, watcher_strategies.text([row]))
