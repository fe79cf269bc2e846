# SPDX-License-Identifier: Apache-2.0
"""Does each name stand for a search?"""

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.planning.search import registry
from kronos.engine.settings import SearchName, Settings
from tests.builders import scopes
from tests.builders.scopes import policy, vm


class TestSearches(base.BaseTestCase):
    def test_each_name_has_one(self):
        self.assertEqual([*SearchName], [*registry.SEARCHES])

    def test_the_plan_says_which(self):
        policies = [policy('cpu')]
        vms = [vm('v', 'a', [0.3])]
        snapshot = scopes.scope(policies, {'a': [0.8], 'b': [0.2]}, vms)
        for name in (SearchName.GREEDY, SearchName.BEST):
            settings = Settings(max_migrations=1, search=name)
            [found] = propose([snapshot], policies, settings).scopes
            self.assertEqual(name, found.search)
            self.assertEqual(1, len(found.steps))
            self.assertEqual([], found.warnings)
