# SPDX-License-Identifier: Apache-2.0
"""Is each server with a consent counted, and each that stays named?"""

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.planning.standings import consents
from kronos.engine.types import ConsentStanding
from tests.builders import scopes

KEY = 'kronos:consent'


class TestOfPlan(base.BaseTestCase):
    def test_by_project_and_kind(self) -> None:
        """The strictest first; without a value there is no entry."""
        snapshot, policies, settings = scopes.chance(2)
        first, second, third, fourth, *_ = sorted(snapshot.instances)
        for uuid, value in (
            (first, 'never'),
            (second, 'any'),
            (third, 'never'),
            (fourth, 'nonsense'),
        ):
            instance = snapshot.instances[uuid]
            instance.metadata = {KEY: value}
            instance.project_id = 'p'
        [result] = propose([snapshot], policies, settings).scopes
        rows = consents.of_plan(result, snapshot, settings)
        self.assertEqual(
            [('never', 'p', 2), ('unknown', 'p', 1), ('any', 'p', 1)],
            [(row.kind, row.project, row.instances) for row in rows],
        )
        self.assertEqual([first, third], rows[0].staying)
        self.assertEqual([fourth], rows[1].staying)
        self.assertEqual([], rows[2].staying)
        self.assertIsInstance(rows[0], ConsentStanding)
        self.assertEqual(rows, result.consents)
