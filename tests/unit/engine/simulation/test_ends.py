# SPDX-License-Identifier: Apache-2.0
"""Do the ends of a policy follow its hosts, and those alone?"""

import random

import numpy as np
from oslotest import base

from kronos.engine.simulation.ends import Ends

HOSTS = 6


def drawn(rng: random.Random) -> tuple[np.ndarray, np.ndarray]:
    """Scores and judged hosts of two policies."""
    values = [[rng.randint(0, 6) / 10 for _ in range(HOSTS)] for _ in 'pq']
    judged = np.array(
        [[rng.random() < 0.6 for _ in range(HOSTS)] for _ in 'pq']
    )
    judged[:, rng.randrange(HOSTS)] = True
    return np.array(values), judged


def widths(scores: np.ndarray, judged: np.ndarray) -> list[float]:
    return [
        max(row[some]) - min(row[some])
        for row, some in zip(scores, judged, strict=True)
    ]


class TestEnds(base.BaseTestCase):
    def test_every_pair(self) -> None:
        """Also pairs of which a policy judges one host, or none."""
        for seed in range(50):
            rng = random.Random(seed)
            scores, judged = drawn(rng)
            ends = Ends.of(scores, judged)
            self.assertEqual(widths(scores, judged), ends.widths.tolist())
            one, other = rng.sample(range(HOSTS), 2)
            after = scores.copy()
            after[:, [one, other]] = [[0.9, 0.05], [0.25, 0.35]]
            found = ends.widths_after(
                np.array([one]),
                np.array([other]),
                list(after[:, [one]]),
                list(after[:, [other]]),
            )
            wanted = widths(after, judged)
            self.assertEqual(wanted, np.concatenate(list(found)).tolist())
            moved = ends.followed(after, one, other)
            self.assertEqual(wanted, moved.widths.tolist())
