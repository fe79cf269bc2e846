# SPDX-License-Identifier: Apache-2.0
"""Does a project stay within its quota, however many of it move?"""

from typing import Any

import numpy as np
from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.extensions.cells.cell_drain import needs_of
from kronos.extensions.cells.planning.quota import Quota
from tests.builders import cells, constraints
from tests.builders.cells import CPU, server

DRAIN = {'flavor_map': {'small': 'large'}, 'close_source': True}


class TestQuota(base.BaseTestCase):
    def built(self, number: int, **left: int) -> Quota:
        servers = [server(f'v{n}') for n in range(number)]
        snapshot = cells.cells(servers)
        needs_of(snapshot).quota_left = {'project': left}
        given = constraints.given(snapshot, cells.settings(**DRAIN))
        made = Quota.build(given)
        assert made is not None
        return made

    def test_the_sum_counts(self) -> None:
        """What was moved is taken, what was taken back is left again."""
        quota = self.built(2, cores=4)
        first, second = 0, 1
        self.assertIsNone(quota.why_not(second, 2))
        quota.follow(first, 3, 0)
        self.assertEqual(
            'its new flavor needs 3 more of the quota cores of its project, '
            '1 are left',
            quota.why_not(second, 2),
        )
        quota.follow(first, 0, 1)
        self.assertIsNotNone(quota.why_not(second, 2))
        quota.follow(first, 1, 3)
        self.assertIsNone(quota.why_not(second, 2))

    def test_masks(self) -> None:
        quota = self.built(3, cores=4, ram=10000)
        quota.follow(0, 3, 0)
        for instance in range(3):
            allowed = quota.why_not(instance, 2) is None
            self.assertTrue(
                (quota.rows(np.array([instance])) == allowed).all()
            )
            self.assertEqual(allowed, quota.column(2)[instance])

    def test_no_limit(self) -> None:
        self.assertIsNone(self.built(1, ram=5000).why_not(0, 2))

    def test_overdrawn(self) -> None:
        """Who needs nothing more may move even so."""
        quota = self.built(1, cores=-5, ram=0)
        reasons = quota.reasons(0, 2)
        self.assertEqual(['cores', 'ram'], [one.about for one in reasons])
        self.assertIn('0 are left', reasons[0])
        self.assertEqual(8.0, reasons[0].value)

    def test_nothing_is_limited(self) -> None:
        given = constraints.given(
            cells.cells([server('a')]), cells.settings(**DRAIN)
        )
        self.assertIsNone(Quota.build(given))

    def test_nothing_grows(self) -> None:
        for drain in ({}, {'flavor_map': {'*': 'same'}}):
            given = constraints.given(
                cells.cells([server('a')]), cells.settings(**drain)
            )
            self.assertIsNone(Quota.build(given))

    def test_in_a_plan(self) -> None:
        """Of three two have quota; the third says what it lacks."""
        snapshot = cells.cells([server(f'v{n}') for n in range(3)])
        needs_of(snapshot).quota_left = {'project': {'cores': 7}}
        asked: dict[str, Any] = DRAIN
        settings = cells.settings(**asked)
        [result] = propose([snapshot], [CPU], settings).scopes
        self.assertEqual(2, len(result.steps))
        self.assertIn('1 are left', result.stayed['v2'])
