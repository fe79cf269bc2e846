# SPDX-License-Identifier: Apache-2.0
"""Is the progress of a move read from Nova, where Nova allows it?"""

from kronos.osc import plans
from kronos.osc.run import nova_progress
from tests.unit.osc.run import scripted


class TestNovaProgress(scripted.ScriptedTestCase):
    def percents(self, count: int = 1, **script: object) -> list[float | None]:
        self.play(**script)
        plan = plans.read(self.client, self.script._plan(advances=False))
        progress = nova_progress.NovaProgress(self.adapter('compute'))
        return [progress(plan.moves[0]) for _ in range(count)]

    def asked(self) -> int:
        return sum(x.endswith('/migrations') for x in self.script.requests)

    def test_per_cent(self) -> None:
        self.assertEqual([40.0], self.percents(percent=40.0))

    def test_bounds(self) -> None:
        self.assertEqual([0.0], self.percents(percent=-20.0))

    def test_a_refusal_is_the_last(self) -> None:
        self.assertEqual([None, None], self.percents(2))
        self.assertEqual(1, self.asked())

    def test_a_server_that_is_not_found_is_not(self) -> None:
        refusals = {'GET /servers/.*': 404}
        self.assertEqual([None, None], self.percents(2, refusals=refusals))
        self.assertEqual(2, self.asked())
