# SPDX-License-Identifier: Apache-2.0
"""Does no instance migrate live to an older hypervisor?"""

import random

import numpy as np
from oslotest import base

from kronos.engine import edits
from kronos.engine.arrays import Index
from kronos.engine.constraints.hypervisor_version import HypervisorVersion
from kronos.engine.planning import propose
from kronos.engine.settings import Settings
from kronos.engine.simulation.placement import Placement
from kronos.engine.types import Reading, Snapshot
from kronos.policies.models import Mode
from tests.builders import constraints, scopes


def scope(**versions: int) -> Snapshot:
    """One instance a host, of the same name."""
    snapshot = scopes.scope(
        [],
        {host: [] for host in versions},
        [scopes.vm(host, host, []) for host in versions],
    )
    for host, version in versions.items():
        snapshot.hosts[host].hypervisor_version = version
    return snapshot


MIXED = {'a': 7002022, 'b': 8002000, 'c': 8002000, 'd': 0}


class TestHypervisorVersion(base.BaseTestCase):
    def constraint(self, **versions: int) -> HypervisorVersion:
        given = constraints.given(scope(**versions))
        constraint = HypervisorVersion.build(given)
        assert constraint is not None
        return constraint

    def test_pairs(self) -> None:
        """What is not known is neither older nor newer."""
        given = constraints.given(scope(**MIXED))
        constraint = HypervisorVersion.build(given)
        assert constraint is not None
        expected = [
            [True, True, True, True],
            [False, True, True, True],
            [False, True, True, True],
            [True, True, True, True],
        ]
        self.assertEqual(expected, constraints.pairs(constraint, given.shape))
        self.assertEqual(
            'its hypervisor 7.2.22 is older than that of the source, 8.2.0',
            constraint.why_not(1, 0),
        )

    def test_nothing_to_compare(self) -> None:
        for versions in ({'a': 0, 'b': 0}, {'a': 7, 'b': 7, 'c': 0}):
            given = constraints.given(scope(**versions))
            self.assertIsNone(HypervisorVersion.build(given))

    def test_option(self) -> None:
        settings = Settings(check_hypervisor_version=False)
        given = constraints.given(scope(**MIXED), settings)
        self.assertIsNone(HypervisorVersion.build(given))

    def test_follows_moves(self) -> None:
        """From where it has come to; a trial takes the move back."""
        snapshot = scope(**MIXED)
        placement = Placement.of(snapshot, Index(snapshot))
        given = constraints.given(snapshot, host_of=placement.host_of)
        constraint = HypervisorVersion.build(given)
        assert constraint is not None
        placement.move(0, 1)
        self.assertIsNotNone(constraint.why_not(0, 0))
        self.assertFalse(constraint.rows(np.array([0]))[0, 0])
        self.assertFalse(constraint.column(0)[0])
        self.assertTrue(constraint.ever(0)[0])
        self.assertFalse(constraint.ever(0)[1])

    def test_relaxation(self) -> None:
        snapshot = scope(**MIXED)
        reason = self.constraint(**MIXED).why_not(1, 0)
        assert reason is not None
        self.assertIn(reason.code, HypervisorVersion.codes)
        case = constraints.relaxed(
            HypervisorVersion,
            snapshot,
            Settings(),
            reason,
            edits.Pair('b', 'b', 'a'),
        )
        self.assertEqual(8002000, case.snapshot.hosts['a'].hypervisor_version)
        self.assertEqual(7002022, snapshot.hosts['a'].hypervisor_version)


class TestPlans(base.BaseTestCase):
    """Random scopes of two versions: spread, packed and drained."""

    def test_never_to_an_older_one(self) -> None:
        moves = 0
        for seed in range(30):
            rng = random.Random(seed)
            mode = rng.choice((Mode.SPREAD, Mode.PACK))
            policy = scopes.policy(
                'cpu', threshold=0.0, mode=mode, **self.capacity(mode)
            )
            names = [f'h{number}' for number in range(6)]
            servers = [
                scopes.vm(f'v{number}', rng.choice(names), [0.06])
                for number in range(20)
            ]
            homes = [instance.host for instance, _ in servers]
            load = {name: [0.06 * homes.count(name)] for name in names}
            snapshot = scopes.scope([policy], load, servers)
            used = snapshot.readings['cpu'].imbalance.samples
            snapshot.readings['cpu'].capacity = Reading('', samples=[*used])
            for host in snapshot.hosts.values():
                host.hypervisor_version = rng.choice((0, 7002000, 8002000))
            if seed % 3 == 0:
                assert snapshot.services is not None
                snapshot.services['h0'].status = 'disabled'
            settings = Settings(
                evacuate=True, max_migrations=12, repeat_moves=seed % 2 == 0
            )
            plan = propose.propose([snapshot], [policy], settings)
            for step in plan.steps:
                source, destination = (
                    snapshot.hosts[name].hypervisor_version
                    for name in (step.source, step.destination)
                )
                is_older = 0 < destination < source
                self.assertFalse(is_older, f'{seed}: {step}')
            moves += len(plan.steps)
        self.assertGreater(moves, 30)

    @staticmethod
    def capacity(mode: Mode) -> dict[str, object]:
        if mode is Mode.SPREAD:
            return {}
        return {'capacity_query': 'up', 'capacity_threshold': 0.8}
