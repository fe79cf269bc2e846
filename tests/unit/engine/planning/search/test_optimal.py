# SPDX-License-Identifier: Apache-2.0
"""Does a plan say that no exact solver made it?"""

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.settings import SearchName, Settings
from tests.builders import scopes
from tests.builders.scopes import policy, vm


class TestOptimal(base.BaseTestCase):
    def test_the_plan_of_best(self):
        policies = [policy('cpu')]
        vms = [vm('v', 'a', [0.3])]
        snapshot = scopes.scope(policies, {'a': [0.8], 'b': [0.2]}, vms)
        best, found = (
            propose([snapshot], policies, Settings(1, search=name)).scopes[0]
            for name in (SearchName.BEST, SearchName.OPTIMAL)
        )
        self.assertEqual(best.steps, found.steps)
        self.assertEqual(SearchName.BEST, found.search)
        self.assertIn('planned by best', found.warnings[0])
