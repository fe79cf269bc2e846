# SPDX-License-Identifier: Apache-2.0
"""Is what a load cannot tell said, in numbers?"""

from typing import Any

import numpy as np
from oslotest import base

from kronos.simulate.fetch import limits
from kronos.simulate.fetch.lives import Life, Stay
from kronos.simulate.fetch.workplace import (
    FORMAT_VERSION,
    Plan,
    PolicyPlan,
    Wish,
)
from kronos.simulate.load_schema import ServerRow


def seen(*texts: str, servers: int = 2, hosts: int = 2) -> limits.Seen:
    wish = Wish(7200.0, 3600, {}, '')
    plan = Plan(FORMAT_VERSION, 0.0, 3600, 4, [], wish)
    policy_plan = PolicyPlan(
        'cpu', 'u', 'l', 'h', 'l', 'now', 'now', list(texts)
    )
    return limits.Seen(policy_plan, plan, servers, hosts)


def used(*rows: Any) -> Any:
    return np.array(rows, np.float32)


NAN = np.nan


class TestSeen(base.BaseTestCase):
    def test_nothing(self) -> None:
        note = seen()
        note.usage(used([1, 1], [1, NAN]), used([0, 1], [0, 1]), [])
        note.hosts(used([0.5, 0.5]))
        self.assertEqual([], note.sentences())

    def test_everything(self) -> None:
        note = seen('a doubt', servers=3)
        places = used([0, 1, 1], [0, 1, 1], [-1, -1, -1])
        note.usage(used([1, NAN, NAN], [NAN] * 3, [NAN] * 3), places, ['x'])
        note.usage(used([NAN] * 3), places[:1], ['x', 'y', 'z'])
        note.hosts(used([0.5, NAN]))
        note.repeated = {'z'}
        self.assertEqual(
            [
                'a doubt',
                'for 2 h of 4 h Prometheus has no usage of any server',
                '2 of 3 servers have no usage',
                '2 series are of servers that Nova does not list; their load '
                'stays on its host',
                '1 name is that of several servers, so their usage is not '
                'known',
                '1 of 2 hosts has no reading',
            ],
            note.sentences(),
        )


class TestOfLives(base.BaseTestCase):
    def test_those_that_are_nowhere(self) -> None:
        lives = [Life(ServerRow(name), [Stay('a')]) for name in 'abc']
        self.assertEqual([], limits.of_lives(lives, lives))
        self.assertIn('2 servers were', limits.of_lives(lives, lives[:1])[0])
