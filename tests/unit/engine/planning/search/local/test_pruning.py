# SPDX-License-Identifier: Apache-2.0
"""Is what buys too little left out, and nothing else?"""

import numpy as np
from oslotest import base

from kronos.engine.planning.search.local.objective import Objective
from kronos.engine.planning.search.local.pruning import pruned
from kronos.engine.settings import Settings
from tests.builders import scopes, spreading
from tests.builders.scopes import policy, vm


class TestPruned(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        policies = [policy('cpu', threshold=0.0)]
        hosts = {'a': [0.9], 'b': [0.5], 'c': [0.4], 'd': [0.1]}
        sizes = {'big': 0.3, 'small': 0.01, 'tiny': 0.002}
        vms = [vm(name, 'a', [size]) for name, size in sizes.items()]
        vms.append(vm('idle', 'b', [0.05]))
        found = spreading.simulation(
            scopes.scope(policies, hosts, vms), policies, Settings()
        )
        self.model = spreading.model(found)
        self.names = found.utilization.index.instances

    def left(self, moves, min_gain):
        at = self.model.home.copy()
        for name, host in moves.items():
            at[self.names.index(name)] = host
        objective = Objective(self.model, 5, True, min_gain)
        found = pruned(self.model, objective, at)
        return {self.names[n] for n in np.flatnonzero(found != at)}, found

    def test_what_buys_nothing(self):
        gone, found = self.left({'big': 3, 'idle': 2}, 0.0)
        self.assertEqual({'idle'}, gone)
        self.assertEqual(self.model.home[self.names.index('idle')], found[1])

    def test_what_buys_less_than_asked_for(self):
        moves = {'big': 3, 'small': 3, 'tiny': 3}
        self.assertEqual(set(), self.left(moves, 0.0)[0])
        self.assertEqual({'tiny'}, self.left(moves, 0.005)[0])
        self.assertEqual({'tiny', 'small'}, self.left(moves, 0.05)[0])
        self.assertEqual({'tiny', 'small', 'big'}, self.left(moves, 1.0)[0])
