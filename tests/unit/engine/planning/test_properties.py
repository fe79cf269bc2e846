# SPDX-License-Identifier: Apache-2.0
"""What holds of every plan, whatever the cloud? (hypothesis)"""

import copy
import dataclasses
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import fixtures
import hypothesis
from hypothesis import strategies as st
from oslotest import base

from kronos.engine import phase_rules
from kronos.engine.planning import move_reasons
from kronos.engine.planning.propose import propose
from kronos.engine.settings import (
    EffectUse,
    SearchName,
    Settings,
    SoftRules,
    SwapMoves,
    VetoReference,
)
from kronos.engine.types import (
    AggregateResult,
    CycleReport,
    EffectRatio,
    Event,
    MigrationPhase,
    Origin,
    Outcome,
    Reading,
    Sample,
    Snapshot,
)
from kronos.policies.models import Mode, Policy
from tests.builders import scopes, trouble
from tests.unit.engine.oracles import legality

NOW = 100000.0
ROUNDS = 'kronos.engine.planning.search.local.neighbourhood.ROUNDS'
FEW_ROUNDS = 5
NODES = 'kronos.engine.planning.proof.exact_model.NODES'
FEW_NODES = 200
UUID = r'\bv\d\d\b'
FAST = hypothesis.settings(
    max_examples=350,
    derandomize=True,
    database=None,
)
Cloud = tuple[Snapshot, list[Policy], Settings]


@st.composite
def clouds(draw: Any) -> Cloud:
    """A scope by lot, with what every phase looks at."""
    # What hypothesis draws itself has few hosts, and little to move.
    rng = random.Random(draw(st.integers(0, 2**32)))
    snapshot, policies, settings = scopes.draw(rng)
    snapshot.taken_at = NOW
    if rng.random() < 0.5:
        policies = [_packed(one, snapshot, rng) for one in policies]
    for host in snapshot.hosts:
        service = (snapshot.services or {})[host]
        if rng.random() < 0.05:
            service.status = 'disabled'
    if rng.random() < 0.1:
        for host in snapshot.hosts.values():
            host.cell = rng.choice(['one', 'two'])
    snapshot.events = [_event(snapshot, rng) for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.15:
        snapshot.events += trouble.stuck(snapshot, rng)
    settings = dataclasses.replace(settings, **draw(_options(snapshot)))
    snapshot.effects = [
        draw(_effects(one.name)) for one in policies if draw(st.booleans())
    ]
    if policies[0].mode is Mode.PACK and rng.random() < 0.5:
        _ease(snapshot, settings)
    if not settings.evacuate and not settings.enforces:
        settings.rebalance = True
    for one in snapshot.instances.values():
        one.created = rng.choice([0.0, NOW - 60.0, NOW - 30000.0, NOW + 5.0])
    policies = [_overfull(one, snapshot, rng) for one in policies]
    return snapshot, policies, settings


def _overfull(one: Policy, snapshot: Snapshot, rng: random.Random) -> Policy:
    """The policy with a limit of its own, and some hosts above it."""
    relief = rng.choice([0.3, 0.6, 0.85, 0.9, 1.0])
    capacity = snapshot.readings[one.name].capacity
    in_use = {each.host for each in snapshot.instances.values()}
    for each in capacity.samples if capacity else []:
        if each.label in in_use and rng.random() < 0.15:
            limit = max(one.capacity_threshold, relief % 1.0)
            each.value = limit + rng.uniform(0.0, 0.1)
    return one.model_copy(update={'relief_threshold': relief})


def _ease(snapshot: Snapshot, settings: Settings) -> None:
    """Leave out most of what keeps one instance, and so a whole host."""
    snapshot.groups.clear()
    snapshot.events = [
        one for one in snapshot.events if one.outcome is Outcome.MOVED
    ]
    for instance in snapshot.instances.values():
        instance.locked, instance.unmovable = False, ''
    settings.keep_hosts, settings.headroom_hosts = 1, 0


def _effects(policy: str) -> Any:
    """Any ratio, also one that was never right."""
    return st.builds(
        EffectRatio,
        st.just(policy),
        st.floats(-3.0, 5.0) | st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0]),
        st.integers(0, 5),
        st.integers(0, 2),
    )


def _options(snapshot: Snapshot) -> Any:
    flag = st.booleans()
    return st.fixed_dictionaries(
        {
            'evacuate': flag,
            'drain_hosts': st.one_of(
                st.none(),
                st.lists(st.sampled_from(sorted(snapshot.hosts)), max_size=2),
            ),
            'drain_may_exceed_threshold': flag,
            'enforce_hard_affinity': flag,
            'enforce_soft_affinity': flag,
            'rebalance': st.sampled_from([True, True, False]),
            'unlimited': st.sampled_from([True, False, False]),
            'max_migrations': st.one_of(st.none(), st.integers(1, 8)),
            'soft_rules': st.sampled_from(list(SoftRules)),
            'soft_rule_penalty': st.sampled_from([0.0, 0.05, 0.2]),
            'pack_partial_drains': flag,
            'keep_hosts': st.sampled_from([0, 1, 1, 3]),
            'headroom_hosts': st.sampled_from([0, 0, 0, 1, 2]),
            'instance_cooldown_seconds': st.sampled_from([0.0, 600.0]),
            'quarantine_seconds': st.sampled_from([0.0, 600.0, -1.0]),
            'return_guard_seconds': st.sampled_from([0.0, 3600.0]),
            'min_age_seconds': st.sampled_from([0.0, 3600.0]),
            'cooldown_seconds': st.sampled_from([0.0] * 9 + [600.0]),
            'repeat_moves': st.just(False),
            'swap_moves': st.sampled_from(list(SwapMoves)),
            'search': st.sampled_from(list(SearchName)),
            'veto_reference': st.sampled_from(list(VetoReference)),
            'min_gain': st.sampled_from([0.0, 0.0005, 0.02]),
            'cost_weight': st.sampled_from([0.0, 0.001, 0.2]),
            'exhaust': st.sampled_from([True, False, False]),
            'use_effect': st.sampled_from(list(EffectUse)),
            'canary_moves': st.integers(0, 4),
        }
    )


def _packed(one: Policy, snapshot: Snapshot, rng: random.Random) -> Policy:
    """The policy in mode pack, with readings of its capacity."""
    readings = snapshot.readings[one.name]
    # Lightly loaded, or there is nothing to pack.
    light = rng.choice([0.1, 0.1, 0.3, 1.0])
    for reading in (readings.imbalance, readings.profile):
        for sample in reading.samples if reading else []:
            sample.value *= light
    readings.capacity = Reading(
        '',
        samples=[
            Sample(
                each.label,
                min(1.0, each.value * rng.choice([0.8, 1.0, 1.2])),
                0,
            )
            for each in readings.imbalance.samples
            if rng.random() < 0.98
        ],
    )
    return one.model_copy(
        update={
            'mode': Mode.PACK,
            'capacity_query': 'up',
            'capacity_threshold': rng.choice([0.5, 0.8, 0.95]),
        }
    )


def _event(snapshot: Snapshot, rng: random.Random) -> Event:
    hosts = sorted(snapshot.hosts)
    # Members of groups are those whose moves matter most to others.
    some = [uuid for one in snapshot.groups for uuid in one.members]
    if not some or rng.random() < 0.5:
        some = [*sorted(snapshot.instances), 'gone']
    uuid = rng.choice(some)
    there = snapshot.instances.get(uuid)
    return Event(
        instance=uuid,
        source=there.host if there else rng.choice(hosts),
        destination=rng.choice(hosts),
        outcome=rng.choice(list(Outcome)),
        at=NOW - (ago := rng.choice([1.0, 300.0, 3000.0, 30000.0])),
        origin=rng.choice(list(Origin)),
        error_type=rng.choice(['', 'PreFlightError', 'NovaClientError']),
        phase='pack' if ago in (1.0, 3000.0) else '',
    )


def plan(cloud: Cloud) -> CycleReport:
    snapshot, policies, settings = cloud
    return propose([snapshot], policies, settings)


def _sentences(result: AggregateResult) -> Iterator[str]:
    """All that is said of a scope."""
    yield from (result.reason, *result.warnings, *result.violations_after)
    yield from (one.text for one in result.stages)
    for reasons in (
        result.unavailable_hosts,
        result.unmovable,
        result.stayed,
        result.not_drained,
    ):
        yield from map(str, reasons.values())
    yield from move_reasons.of(result.steps)
    if result.rest is not None:
        yield from (one.reason for one in result.rest.set_aside)


class TestEveryPlan(base.BaseTestCase):
    def setUp(self) -> None:
        """What is tried at length breaks no other rules.

        And a solver that stops by its own count says the same each time.
        """
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch(ROUNDS, FEW_ROUNDS))
        self.useFixture(fixtures.MonkeyPatch(NODES, FEW_NODES))

    def test_no_rule_is_broken_at_any_moment(self) -> None:
        """Every rule of a move and of a plan, and a reason for all.

        The lots have something of every phase, or this would hold of empty
        plans.
        """
        seen: Counter[MigrationPhase] = Counter()

        @FAST
        @hypothesis.given(clouds())
        def look(cloud: Cloud) -> None:
            [result] = plan(cloud).scopes
            snapshot, policies, settings = cloud
            judge = legality.Judge(snapshot, policies, settings)
            self.assertEqual([], judge.faults(result))
            if bound := result.packing:
                self.assertLessEqual(bound.emptied, bound.at_most)
            seen.update(step.phase for step in result.steps)

        look()
        for phase in phase_rules.LIVE:
            self.assertGreater(seen[phase], 5, phase)

    @hypothesis.settings(FAST, max_examples=100)
    @hypothesis.given(clouds())
    def test_servers_are_called_by_their_names(self, cloud: Cloud) -> None:
        """Where each has a name of its own, no sentence has a uuid."""
        for number, one in enumerate(cloud[0].instances.values()):
            one.name = f'web{number}'
        [result] = plan(cloud).scopes
        for text in _sentences(result):
            self.assertNotRegex(text, UUID)

    @hypothesis.settings(FAST, max_examples=200)
    @hypothesis.given(clouds(), st.integers(0, 1000))
    def test_equal_input_gives_an_equal_plan(
        self, cloud: Cloud, seed: int
    ) -> None:
        """The order of no dict and no list matters, nothing is changed."""
        before = copy.deepcopy(cloud)
        report = plan(cloud)
        self.assertEqual(before, cloud)
        snapshot, policies, settings = cloud
        mixed = scopes.shuffled(snapshot, seed)
        again = plan((mixed, policies, settings))
        self.assertEqual(report.steps, again.steps)
        self.assertEqual(report.scopes[0].stayed, again.scopes[0].stayed)
