# SPDX-License-Identifier: Apache-2.0
"""Do audits of the loop plan as those of a real cloud would?"""

import dataclasses
from typing import Any

from oslotest import base

from kronos.engine.eligibility import cooldown
from kronos.engine.planning import propose
from kronos.engine.types import (
    Disruption,
    Event,
    Origin,
    Outcome,
    ServerGroup,
)
from kronos.policies.windows import Window, of_query
from kronos.simulate.audits import Auditor
from kronos.simulate.cloud import Cloud
from kronos.simulate.meter import Meter, QueryWindows
from kronos.snapshots import settings_from_conf
from tests.builders import loads, simulations

NOW = loads.START


class AuditTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.load = loads.load(
            [[3.0, 2.0, 1.0, 1.0]] * 2,
            [0, 0, 1, 2],
            [8.0, 8.0, 8.0],
            groups=[ServerGroup('g', 'affinity', [loads.uuid(3)])],
        )
        self.cloud = Cloud(self.load)
        for server, host in enumerate([0, 0, 1, 2]):
            self.cloud.boot(server, host)
        self.meter = Meter(self.load, self.cloud)
        self.meter.measure(0)

    def auditor(self, **fields: Any) -> Auditor:
        audit = simulations.audit(self.load, **fields)
        return Auditor(audit, self.load.recording, self.cloud, self.meter)

    def moved(self, ago: float) -> Event:
        return Event(
            loads.uuid(0),
            'h0001',
            'h0000',
            Outcome.MOVED,
            NOW - ago,
            Origin.NOVA,
        )


class TestPlans(AuditTestCase):
    def test_plan(self) -> None:
        plan = self.auditor().plan(0, NOW, [])
        assert plan
        step = plan.report.steps[0]
        self.assertEqual('h0000', step.source)
        self.assertGreater(step.seconds, 0)

    def test_snapshot(self) -> None:
        """All that the engine asks for is there."""
        auditor = self.auditor()
        scope = auditor.scopes[loads.AGGREGATE]
        snapshot = auditor.snapshot(scope, 0, NOW, [])
        self.assertEqual(4, len(snapshot.instances))
        self.assertEqual(['g'], [group.uuid for group in snapshot.groups])
        readings = snapshot.readings['cpu']
        assert readings.profile and readings.host_capacity
        self.assertEqual(
            {'h0000': 5 / 8, 'h0001': 1 / 8, 'h0002': 1 / 8},
            {each.label: each.value for each in readings.imbalance.samples},
        )
        self.assertEqual(
            {loads.uuid(0): 3.0, loads.uuid(1): 2.0},
            {
                each.label: each.value
                for each in readings.profile.samples
                if each.value > 1
            },
        )
        report = propose.propose(
            [snapshot], auditor.policies, auditor.audit.settings
        )
        self.assertEqual(1, report.scopes[0].policies_used)

    def test_old_samples_are_new(self) -> None:
        auditor = self.auditor()
        scope = auditor.scopes[loads.AGGREGATE]
        auditor.snapshot(scope, 0, NOW, [])
        self.cloud.put(0, 1)
        self.meter.measure(1)
        readings = auditor.snapshot(scope, 1, NOW + 300, []).readings['cpu']
        self.assertEqual(
            [(2 / 8, NOW + 300), (4 / 8, NOW + 300), (1 / 8, NOW + 300)],
            [(s.value, s.timestamp) for s in readings.imbalance.samples],
        )

    def test_windows_are_those_of_the_simulation(self) -> None:
        """The engine asks queries how much of the past they show."""
        hour, now = Window('avg', 3600.0), Window()
        [policy] = self.auditor(windows=QueryWindows(hour, None, now)).policies
        self.assertEqual(
            [hour, now, now],
            [
                of_query(query)
                for query in (
                    policy.vm_profile_query,
                    policy.imbalance_query,
                    policy.capacity_query or '',
                )
            ],
        )


class TestLimits(AuditTestCase):
    """It is Tuesday, 22:15 UTC."""

    def auditor_in(self, *windows: str, **fields: Any) -> Auditor:
        options = settings_from_conf.default_settings()
        fields = {'window_exempt': options.window_exempt} | fields
        auditor = self.auditor(**fields)
        auditor.audit.settings.windows = [*windows]
        return auditor

    def test_closed_window(self) -> None:
        auditor = self.auditor_in('Tue 22:30-23:00 UTC')
        self.assertIsNone(auditor.plan(0, NOW, []))
        self.assertEqual({'window': 1}, dict(auditor.counts.ends))
        self.assertEqual(0, auditor.counts.plans)
        self.assertIsNotNone(auditor.plan(0, NOW + 900, []))

    def test_window_of_an_aggregate(self) -> None:
        [aggregate] = self.load.recording.gathered.cloud.aggregates
        aggregate.metadata['kronos:window'] = 'Tue 22:30-23:00 UTC'
        auditor = self.auditor_in('Tue 22:00-22:30 UTC')
        self.assertIsNone(auditor.plan(0, NOW, []))

    def test_exempt_strategy(self) -> None:
        auditor = self.auditor_in(
            'Tue 22:30-23:00 UTC', window_exempt=['kronos_spread']
        )
        self.assertIsNotNone(auditor.plan(0, NOW, []))

    def test_no_more_moves_than_end_inside(self) -> None:
        """Two at a time, of 600 s each, until 22:30."""
        auditor = self.auditor_in(
            'Tue 22:00-22:30 UTC', budget=9, expected_move_seconds=600.0
        )
        plan = auditor.plan(0, NOW, [])
        assert plan
        [result] = plan.report.scopes
        assert result.window
        self.assertEqual(2, result.window.most_moves)
        self.assertIsNone(auditor.plan(0, NOW + 301, []))
        self.assertEqual(1, auditor.counts.ends['window_too_short'])

    def test_used_budget(self) -> None:
        auditor = self.auditor(instance_budget='1/3600')
        movers = {loads.uuid(0), loads.uuid(1)}
        moved = [Disruption(uuid, '', NOW - 60) for uuid in movers]
        self.assertLess(set(), movers & self.moving(auditor, []))
        self.assertEqual(set(), movers & self.moving(auditor, moved))

    def moving(self, auditor: Auditor, moved: list[Disruption]) -> set[str]:
        plan = auditor.plan(0, NOW, [], moved)
        assert plan
        return {step.instance for step in plan.report.steps}


class TestRest(AuditTestCase):
    def test_a_scope_that_rests_is_not_read(self) -> None:
        auditor = self.auditor()
        self.assertIsNone(auditor.plan(0, NOW, [self.moved(599)]))
        self.assertEqual({'cooldown': 1}, dict(auditor.counts.ends))
        self.assertEqual(0, auditor.counts.plans)
        self.assertIsNotNone(auditor.plan(0, NOW, [self.moved(601)]))

    def test_as_the_engine_says(self) -> None:
        """What is asked of a bare scope is what is asked of a whole one."""
        auditor = self.auditor()
        scope = auditor.scopes[loads.AGGREGATE]
        for ago in (0, 300, 599, 600, 900):
            events = [self.moved(ago)]
            snapshot = auditor.snapshot(scope, 0, NOW, events)
            past = cooldown.remember(snapshot, auditor.audit.settings)
            self.assertEqual(
                past.standstill is not None,
                auditor.plan(0, NOW, events) is None,
                str(ago),
            )

    def test_interval(self) -> None:
        auditor = self.auditor(interval=900.0)
        due = [auditor.is_due(NOW + 300 * tick) for tick in range(7)]
        self.assertEqual([True, False, False, True, False, False, True], due)

    def test_memory(self) -> None:
        audit = simulations.audit(self.load)
        self.assertEqual(audit.settings.return_guard_seconds, audit.memory)
        audit.settings = dataclasses.replace(
            audit.settings, quarantine_seconds=-1
        )
        self.assertEqual(float('inf'), audit.memory)


class TestScopes(AuditTestCase):
    def test_part_of_a_cloud(self) -> None:
        aggregate = self.load.recording.gathered.cloud.aggregates[0]
        aggregate.hosts = ['h0000', 'h0001']
        auditor = self.auditor()
        scope = auditor.scopes[loads.AGGREGATE]
        snapshot = auditor.snapshot(scope, 0, NOW, [])
        self.assertEqual({'h0000', 'h0001'}, set(snapshot.hosts))
        self.assertEqual(3, len(snapshot.instances))
        self.assertEqual([], snapshot.groups)
        profile = snapshot.readings['cpu'].profile
        assert profile
        self.assertEqual(3, len(profile.samples))
