# SPDX-License-Identifier: Apache-2.0
"""An audit shows how each scope stands, by codes and never by texts."""

import fixtures
from oslo_log import log as logging

from kronos.engine import types
from kronos.engine.planning import propose
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.metrics import exposition
from kronos.strategies.outcome import audit_metrics
from tests.builders import policies
from tests.unit.metrics import measured
from tests.unit.strategies.outcome import test_status_messages

SECRET = 's3cret'


class AuditMetricsTestCase(measured.MeasuredTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))

    def planned(self, *scopes, snapshots=(), **timings):
        audit_metrics.planned(
            types.CycleReport(list(scopes)), snapshots, Settings(), timings
        )

    def test_a_real_plan(self) -> None:
        snapshot = policies.snapshot({'cpu': {'a': 0.2, 'b': 0.7}})
        report = propose.propose([snapshot], [policies.policy()], Settings())
        audit_metrics.planned(report, [snapshot], Settings(), {})
        scope = snapshot.scope
        self.assertEqual(
            {(scope, 'cpu', 'a'): 0.2, (scope, 'cpu', 'b'): 0.7},
            self.values('kronos_host_score_ratio'),
        )
        self.assertAlmostEqual(
            0.5, self.values('kronos_policy_imbalance_ratio')[scope, 'cpu']
        )
        for name in (
            'kronos_scope_cooldown_seconds',
            'kronos_scope_repeatedly_moved_instances',
            'kronos_scope_quarantined_instances',
        ):
            self.assertEqual({(scope,): 0.0}, self.values(name))
        self.assertEqual('', self.log.output)

    def test_moves_and_reasons(self) -> None:
        moves = [test_status_messages.step(number) for number in range(3)]
        stays = Reason(SECRET, Code.INSTANCE_LOCKED)
        ill = Reason(SECRET, Code.INSTANCE_QUARANTINE)
        scope = test_status_messages.scope(
            steps=moves, stayed={'u': stays, 'v': ill}, unmovable={'v': ill}
        )
        self.planned(scope)
        self.assertEqual({}, self.values('kronos_moves_planned_total'))
        for _ in range(2):
            audit_metrics.written(types.CycleReport([scope]))
        self.assertEqual(
            {('alpha', 'spread'): 6.0},
            self.values('kronos_moves_planned_total'),
        )
        self.assertEqual(
            {('alpha', 'spread'): 3.0},
            self.values('kronos_scope_planned_moves'),
        )
        self.assertEqual(
            {('alpha', 'instance_locked'): 1, ('alpha', ill.code.value): 1},
            self.values('kronos_scope_staying_instances'),
        )
        self.assertEqual(
            {('alpha',): 1.0},
            self.values('kronos_scope_quarantined_instances'),
        )

    def often_moved(self, *events):
        """How many servers were moved again and again, by the metric."""
        outcome, now = types.Outcome.MOVED, 1e6
        snapshot = policies.snapshot(
            {'cpu': {'a': 0.2, 'b': 0.7}},
            instances=[policies.instance('u', 'b')],
            taken_at=now,
            events=[
                types.Event('u', source, destination, outcome, now - ago, who)
                for source, destination, ago, who in events
            ],
        )
        settings = Settings(return_guard_seconds=3600.0)
        report = propose.propose([snapshot], [policies.policy()], settings)
        audit_metrics.planned(report, [snapshot], settings, {})
        [number] = self.values(
            'kronos_scope_repeatedly_moved_instances'
        ).values()
        return number

    def test_a_server_that_moves_to_and_fro(self) -> None:
        nova, watcher = types.Origin.NOVA, types.Origin.WATCHER
        there, back = ('a', 'b', 40, nova), ('b', 'a', 30, nova)
        again = ('a', 'b', 20, nova)
        self.assertEqual(1, self.often_moved(there, back, again))
        self.assertEqual(0, self.often_moved(there, back))
        # Both report the moves of Kronos, at other moments.
        both = [(*move[:2], move[2] - 1, watcher) for move in (there, back)]
        self.assertEqual(0, self.often_moved(there, back, *both))
        # One is from before all that matters.
        long_ago = 'a', 'b', 1e6, nova
        self.assertEqual(0, self.often_moved(long_ago, back, again))

    def test_policies_that_could_not_be_used(self) -> None:
        scope = test_status_messages.scope(
            policies=[
                types.PolicyResult(
                    'cpu', 1, 0.1, skipped=SECRET, health=types.Health.STALE
                ),
                types.PolicyResult('net', 1, 0.1, skipped=SECRET),
                types.PolicyResult('mem', 1, 0.1, health=types.Health.PARTIAL),
            ]
        )
        self.planned(scope)
        self.assertEqual(
            {('alpha', 'cpu', 'stale'): 1, ('alpha', 'net', 'unusable'): 1},
            self.values('kronos_policy_skipped'),
        )
        self.assertEqual(
            1.0, self.values('kronos_policy_partial')['alpha', 'mem']
        )
        # No policy said anything: the scope was not judged.
        name = 'kronos_scope_last_success_timestamp_seconds'
        self.assertEqual({}, self.values(name))
        text = exposition.text_of(self.store, ('x', '0')).decode()
        self.assertNotIn(SECRET, text)

    def test_drains(self) -> None:
        why = Reason('', Code.INSTANCE_LOCKED)
        drains = [
            types.Drain('h1', 'closed', 3, 2, {'u': why}),
            types.Drain('h2', 'closed', 1, 1),
        ]
        self.planned(test_status_messages.scope(drains=drains))
        self.assertEqual(
            {('alpha', 'leaving'): 3.0, ('alpha', 'staying'): 1.0},
            self.values('kronos_scope_draining_instances'),
        )
        self.assertEqual(
            1.0,
            self.values('kronos_host_draining_instances')[
                'alpha', 'h1', 'staying'
            ],
        )

    def test_parts(self) -> None:
        self.planned(history=1.0, collect=2.0, propose=4.0, certify=8.0)
        found = self.values('kronos_audit_part_seconds')
        self.assertEqual(
            {('reading',): 3.0, ('planning',): 4.0, ('proof',): 8.0},
            {part: value.total for part, value in found.items()},
        )

    def test_whatever_is_wrong_the_audit_goes_on(self) -> None:
        self.planned(None)
        self.assertIn('incomplete: AttributeError', self.log.output)
