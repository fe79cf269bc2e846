# SPDX-License-Identifier: Apache-2.0
"""Are the young left alone, and by spread and pack only?"""

from typing import Any

from oslotest import base

from kronos.engine.eligibility import young_instances
from kronos.engine.explain.why_not import Explainer
from kronos.engine.planning import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    PlanningInput,
    ServerGroup,
    Snapshot,
)
from kronos.policies.models import Mode
from tests.builders import scopes
from tests.builders.scopes import vm

NOW = 100_000.0
CPU = scopes.policy('cpu')


def scope(ages: dict[str, float | None], **more: Any) -> Snapshot:
    """Four servers on a host, none on the other two.

    :param ages: of servers, in seconds; None: not known
    """
    servers = [vm(f'v{number}', 'a', [0.2]) for number in range(4)]
    hosts = {'a': [0.8], 'b': [0.0], 'c': [0.0]}
    snapshot = scopes.scope([CPU], hosts, servers, **more)
    snapshot.taken_at = NOW
    for uuid, age in ages.items():
        created = 0.0 if age is None else NOW - age
        snapshot.instances[uuid].created = created
    return snapshot


def plan(snapshot: Snapshot, **settings: Any) -> AggregateResult:
    settings.setdefault('min_age_seconds', 3600.0)
    return propose.propose([snapshot], [CPU], Settings(**settings)).scopes[0]


class TestYoung(base.BaseTestCase):
    def test_ages(self) -> None:
        ages = {'v0': 0.0, 'v1': 3599.0, 'v2': 3600.0, 'v3': None}
        snapshot = scope(ages)
        young = young_instances.of(snapshot, Settings(min_age_seconds=3600))
        self.assertEqual({'v0', 'v1'}, set(young))
        self.assertEqual(
            'it was created 59 min 59 s ago (min_age is 1 h)', young['v1']
        )
        self.assertEqual({}, young_instances.of(snapshot, Settings()))

    def test_clock_is_ahead(self) -> None:
        young = young_instances.of(
            scope({'v0': -50.0}), Settings(min_age_seconds=3600)
        )
        self.assertIn('0 s ago', young['v0'])

    def test_spread(self) -> None:
        """The old move, the young say why they do not."""
        snapshot = scope({'v0': 60.0, 'v1': 7200.0, 'v2': 60.0, 'v3': 60.0})
        result = plan(snapshot)
        self.assertEqual(['v1'], [step.instance for step in result.steps])
        self.assertEqual(
            {Code.INSTANCE_YOUNG},
            {reason.code for reason in result.stayed.values()},
        )
        self.assertEqual(2, len(plan(snapshot, min_age_seconds=0.0).steps))

    def test_drains_and_repairs(self) -> None:
        """They take the young as well."""
        snapshot = scope({f'v{number}': 60.0 for number in range(4)})
        assert snapshot.services is not None
        snapshot.services['a'].status = 'disabled'
        result = plan(snapshot, evacuate=True, drain_may_exceed_threshold=True)
        self.assertEqual(
            [('evacuate', 3)],
            [(s.name, s.count) for s in result.stages if s.name == 'evacuate'],
        )
        group = ServerGroup('g', 'anti-affinity', ['v0', 'v1', 'v2'])
        snapshot = scope(
            {f'v{number}': 60.0 for number in range(4)}, groups=[group]
        )
        result = plan(snapshot, enforce_hard_affinity=True)
        self.assertEqual(2, len(result.steps))
        self.assertEqual({'affinity'}, {s.phase for s in result.steps})

    def test_explained(self) -> None:
        snapshot = scope({f'v{number}': 60.0 for number in range(4)})
        settings = Settings(min_age_seconds=3600.0)
        result = plan(snapshot)
        case = PlanningInput(snapshot, [CPU], settings)
        verdict = Explainer(case, result).verdict('v0', 'b')
        self.assertIs(Code.INSTANCE_YOUNG, verdict.code)
        self.assertIn('it was created 60 s ago', verdict.text)


class TestPack(base.BaseTestCase):
    def test_its_host_is_kept(self) -> None:
        policy = scopes.policy(
            'cpu',
            mode=Mode.PACK,
            capacity_query='up',
            max_migrations_per_cycle=20,
        )
        servers = [vm('v0', 'a', [0.2]), vm('v1', 'b', [0.2])]
        hosts = {'a': [0.2], 'b': [0.2], 'c': [0.2]}
        snapshot = scopes.scope(
            [policy], hosts, [*servers, vm('v2', 'c', [0.2])]
        )
        readings = snapshot.readings['cpu']
        readings.capacity = readings.imbalance
        snapshot.taken_at = NOW
        snapshot.instances['v0'].created = NOW - 60.0
        settings = Settings(min_age_seconds=3600.0)
        [result] = propose.propose([snapshot], [policy], settings).scopes
        self.assertEqual({'a'}, {step.destination for step in result.steps})
        self.assertEqual(2, len(result.steps))
        reason = result.stayed['v0']
        self.assertIs(Code.INSTANCE_YOUNG, reason.code)
