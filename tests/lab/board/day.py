# SPDX-License-Identifier: Apache-2.0
"""A day of two scopes: what the processes of Kronos would have shown.

Scope gpu gets uneven again and again, and is spread. A host of scope web is
drained in the morning; two of its servers stay. At four in the afternoon
Prometheus lacks the samples of some hosts for an hour.
"""

import math
import random

from kronos.metrics.metric import Source
from tests.lab.board.samples import Samples

END = 1772409600
"""Midnight UTC, as Unix seconds."""
STEP = 120
AUDIT_STEPS = 5
START = END - 24 * 3600 - 1200
POLICIES = ('cpu', 'memory')
THRESHOLD = {'cpu': 0.1, 'memory': 0.08}
TRUTH = {'cpu': 0.95, 'memory': 0.7}
"""Which share of the predicted effect comes."""


class Day:
    """Takes the steps of the day, one after the other."""

    def __init__(self) -> None:
        self.samples = Samples()
        self._random = random.Random(7)
        self._imbalance = {
            (scope, policy): 0.06
            for scope in ('gpu', 'web')
            for policy in POLICIES
        }
        self._moving = {'gpu': 0, 'web': 0}
        self._leaving = 14
        self._plans = {'gpu': 0, 'web': 0}

    def text(self) -> str:
        """All samples of the day."""
        # Beside the steps of a query, so that no range ends at a sample.
        for number, moment in enumerate(range(START, END, STEP)):
            hour = (moment - END) / 3600 + 24
            self._drift(hour)
            self._migrate()
            if number % AUDIT_STEPS == 0:
                for scope in ('gpu', 'web'):
                    self._audit(scope, moment, hour)
                self._processes(moment)
            self._weigh(moment, hour)
            self._written(moment)
            self.samples.scrape(moment + 7)
        return self.samples.text() + '\n# EOF\n'

    def _drift(self, hour: float) -> None:
        busy = max(0.0, math.sin((hour - 6) / 24 * 2 * math.pi)) + 0.3
        for scope, policy in self._imbalance:
            rate = 0.002 if scope == 'gpu' else 0.0004
            self._imbalance[scope, policy] += (
                rate * busy * self._random.uniform(0.2, 1.4)
            )

    def _migrate(self) -> None:
        samples = self.samples
        for scope, left in self._moving.items():
            phase = (
                'evacuate' if scope == 'web' and self._leaving else 'spread'
            )
            if left:
                failed = self._random.random() < 0.08
                samples.add(
                    'kronos_migrations_total',
                    scope=scope,
                    phase=phase,
                    outcome='failed' if failed else 'succeeded',
                    error_type='MigrationTimeout' if failed else 'none',
                )
                if failed:
                    samples.add(
                        'kronos_migration_retries_total',
                        scope=scope,
                        error_type='MigrationTimeout',
                    )
                forecast = self._random.uniform(40, 100)
                for part, seconds in (
                    ('queued', self._random.uniform(2, 20)),
                    ('running', forecast * self._random.uniform(0.8, 1.3)),
                    ('forecast', forecast),
                ):
                    samples.observe(
                        f'kronos_migration_{part}_seconds',
                        seconds,
                        scope=scope,
                    )
                for kind, size in (('memory', 9e9), ('disk', 2e9)):
                    samples.add(
                        'kronos_migration_bytes_total',
                        size * self._random.uniform(0.5, 1.5),
                        scope=scope,
                        kind=kind,
                    )
                if scope == 'web' and self._leaving:
                    self._leaving -= not failed
                self._moving[scope] = left - 1
            left = self._moving[scope]
            samples.show(
                'kronos_migrations_running', min(left, 2), scope=scope
            )
            samples.show('kronos_moves_waiting', max(left - 2, 0), scope=scope)

    def _audit(self, scope: str, moment: int, hour: float) -> None:
        blind = 16 <= hour < 16.4
        result = 'partial' if 16 <= hour < 17 else 'healthy'
        samples = self.samples
        for _ in range(4):
            samples.add('kronos_prometheus_queries_total', result=result)
            samples.observe(
                'kronos_prometheus_query_seconds',
                self._random.uniform(0.02, 0.4),
            )
        for part, longest in (
            ('reading', 4.0),
            ('planning', 1.5),
            ('proof', 0.8),
            ('writing', 0.4),
        ):
            samples.observe(
                'kronos_audit_part_seconds',
                longest * self._random.uniform(0.5, 1),
                part=part,
            )
        self._limits(scope, moment, hour)
        drained = scope == 'web' and 8 <= hour < 12
        moves = 0 if blind else self._plan(scope, drained)
        samples.add(
            'kronos_audits_total',
            strategy='kronos_evacuate' if drained else 'kronos_spread',
            outcome='blind' if blind else 'planned' if moves else 'empty',
        )
        for policy in POLICIES:
            partial = float(policy == 'cpu' and 16 <= hour < 17)
            samples.show(
                'kronos_policy_partial', partial, scope=scope, policy=policy
            )
        samples.hide('kronos_policy_skipped')
        if hour >= 23:
            samples.show(
                'kronos_policy_skipped',
                1,
                scope='web',
                policy='memory',
                reason='stale',
            )
        if not blind:
            samples.show(
                'kronos_scope_last_success_timestamp_seconds',
                moment,
                scope=scope,
            )
        self._reasons(scope, moves, drained, hour)

    def _limits(self, scope: str, moment: int, hour: float) -> None:
        """Scope web rests at noon; one project moves at most ten an hour."""
        samples = self.samples
        is_open = scope == 'gpu' or not 12 <= hour < 14
        samples.show('kronos_scope_window_open', is_open, scope=scope)
        change = (14 if 12 <= hour < 14 else 12 if hour < 12 else 36) - hour
        if scope == 'web':
            samples.show(
                'kronos_scope_window_change_timestamp_seconds',
                moment + change * 3600,
                scope=scope,
            )
        used = min(10, 2 * self._moving[scope])
        for state, value in (('used', used), ('free', 10 - used)):
            samples.show(
                f'kronos_scope_budget_{state}_moves',
                value,
                scope=scope,
                kind='project',
            )
        for kind, number in (('window', 3), ('drain', 5), ('never', 1)):
            samples.show(
                'kronos_scope_consents', number, scope=scope, kind=kind
            )

    def _plan(self, scope: str, drained: bool) -> int:
        """Let the moves of a plan begin; how many they are."""
        samples, moves = self.samples, 0
        over = [
            policy
            for policy in POLICIES
            if self._imbalance[scope, policy] > THRESHOLD[policy]
        ]
        if drained:
            moves = 0 if self._moving[scope] else min(self._leaving, 4)
        elif over and not self._moving[scope]:
            moves = self._random.randint(3, 7)
        phase = 'evacuate' if drained else 'spread'
        combined = planned = 0.0
        for policy in POLICIES:
            before = self._imbalance[scope, policy]
            after = before * 0.35 if moves and not drained else before
            combined, planned = combined + before / 2, planned + after / 2
            for kind, value in (
                ('imbalance', before),
                ('planned_imbalance', after),
                ('threshold', THRESHOLD[policy]),
            ):
                samples.show(
                    f'kronos_policy_{kind}_ratio',
                    value,
                    scope=scope,
                    policy=policy,
                )
            if moves and not drained:
                self._effect(scope, policy, before - after)
            self._hosts(scope, policy, before)
        samples.show('kronos_scope_imbalance_ratio', combined, scope=scope)
        samples.show(
            'kronos_scope_planned_imbalance_ratio', planned, scope=scope
        )
        samples.show(
            'kronos_scope_planned_moves', moves, scope=scope, phase=phase
        )
        for name in ('evacuate', 'spread'):
            samples.add(
                'kronos_moves_planned_total',
                moves if name == phase else 0,
                scope=scope,
                phase=name,
            )
        self._moving[scope] += moves
        return moves

    def _effect(self, scope: str, policy: str, predicted: float) -> None:
        """What a plan promises, and what comes of it."""
        samples = self.samples
        realised = predicted * TRUTH[policy] * self._random.uniform(0.9, 1.1)
        self._imbalance[scope, policy] -= realised
        self._plans[scope] += policy == 'cpu'
        plans = min(self._plans[scope], 10)
        ratio = (plans * TRUTH[policy] + 0.1) / (plans + 0.1)
        ratio += self._random.uniform(-0.04, 0.04)
        for kind, value in (
            ('ratio', ratio),
            ('trust_ratio', max(0.0, 1 - abs(1 - ratio))),
            ('measured_plans', plans),
            ('predicted_ratio', predicted),
            ('realised_ratio', realised),
            ('not_started_predicted_ratio', predicted * 0.8),
            ('not_started_realised_ratio', self._random.uniform(-0.02, 0.02)),
        ):
            samples.show(
                f'kronos_effect_{kind}', value, scope=scope, policy=policy
            )
        forecast = self._random.uniform(240, 420)
        for kind, value in (
            ('forecast_seconds', forecast),
            ('taken_seconds', forecast * self._random.uniform(0.9, 1.2)),
            ('limited', 0),
        ):
            samples.show(f'kronos_effect_{kind}', value, scope=scope)
        samples.show(
            'kronos_effect_unmeasured_plans',
            2,
            scope=scope,
            reason='effect_disturbed',
        )

    def _hosts(self, scope: str, policy: str, imbalance: float) -> None:
        samples = self.samples
        for number in range(4):
            samples.show(
                'kronos_host_score_ratio',
                0.5 + imbalance * (number - 1.5),
                scope=scope,
                policy=policy,
                host=f'{scope}-{number + 1}',
            )
        samples.show(
            'kronos_scope_hosts_over_threshold',
            2 if imbalance > THRESHOLD[policy] else 0,
            scope=scope,
        )

    def _reasons(
        self, scope: str, moves: int, drained: bool, hour: float
    ) -> None:
        samples = self.samples
        servers = 180 if scope == 'gpu' else 260
        for name, value in (
            ('instances', servers),
            ('quarantined_instances', 2 if 10 <= hour < 13 else 0),
            ('repeatedly_moved_instances', 1 if hour >= 20 else 0),
            ('cooldown_seconds', 600 if moves else 0),
        ):
            samples.show(f'kronos_scope_{name}', value, scope=scope)
        for state, count in (('in_use', 12), ('unavailable', int(drained))):
            samples.show('kronos_scope_hosts', count, scope=scope, state=state)
        for reason, share in (
            ('no_gain', 0.7),
            ('instance_pinned', 0.1),
            ('destination_full', 0.15),
            ('instance_cooldown', 0.05),
        ):
            samples.show(
                'kronos_scope_staying_instances',
                int(servers * share),
                scope=scope,
                reason=reason,
            )
        samples.show(
            'kronos_scope_stopped',
            1,
            scope=scope,
            reason='scope_balanced' if scope == 'gpu' else 'scope_stuck',
        )
        if scope == 'web':
            self._draining(hour)

    def _draining(self, hour: float) -> None:
        states = {
            'leaving': self._leaving if 8 <= hour < 12 else 0,
            'staying': 2 if hour >= 8 else 0,
        }
        for state, count in states.items():
            self.samples.show(
                'kronos_scope_draining_instances',
                count,
                scope='web',
                state=state,
            )
            self.samples.show(
                'kronos_host_draining_instances',
                count,
                scope='web',
                host='web-4',
                state=state,
            )

    def _processes(self, moment: int) -> None:
        samples = self.samples
        samples.show('kronos_plans_waiting', 1)
        samples.show(
            'kronos_plans_waiting_oldest_timestamp_seconds', moment - 90
        )
        samples.show('kronos_plans_not_started', 2)
        samples.show(
            'kronos_plans_not_started_newest_timestamp_seconds', moment - 5400
        )
        for reason in ('instance_pinned', 'destination_full'):
            samples.add(
                'kronos_moves_skipped_total',
                self._random.random() < 0.05,
                scope='gpu',
                reason=reason,
            )
        for state, count in (('good', 5), ('stale', 1), ('broken', 0)):
            samples.show('kronos_exporter_files', count, state=state)
        samples.show(
            'kronos_exporter_ignored_file',
            1,
            file='kronos-scheduler-2.prom',
            reason='stale',
        )

    def _weigh(self, moment: int, hour: float) -> None:
        samples = self.samples
        for slot in ('0', '1'):
            for _ in range(self._random.randint(0, 6)):
                neutral = 16 <= hour < 16.5
                samples.add(
                    'kronos_weighings_total',
                    result='neutral' if neutral else 'scored',
                    slot=slot,
                )
                samples.observe(
                    'kronos_weighing_seconds',
                    self._random.uniform(0.0004, 0.004),
                    slot=slot,
                )
            samples.add(
                'kronos_weigher_refreshes_total',
                result='troubled' if 16 <= hour < 17 else 'good',
                slot=slot,
            )
            samples.add(
                'kronos_weigher_faults_total',
                slot == '1' and 16 <= hour < 16.1,
                error_type='PrometheusError',
                slot=slot,
            )
            samples.show(
                'kronos_weigher_samples_timestamp_seconds',
                moment - 20,
                slot=slot,
            )
            scored = 20 if 16 <= hour < 17 else 24
            for state, count in (('scored', scored), ('neutral', 24 - scored)):
                samples.show(
                    'kronos_weigher_hosts', count, state=state, slot=slot
                )

    def _written(self, moment: int) -> None:
        for service, slot in (
            (Source.DECISION_ENGINE, '0'),
            (Source.APPLIER, '0'),
            (Source.SCHEDULER, '0'),
            (Source.SCHEDULER, '1'),
        ):
            self.samples.show(
                'kronos_build_info',
                1,
                version='1.0.0',
                service=service,
                slot=slot,
            )
            self.samples.show(
                'kronos_metrics_written_timestamp_seconds',
                moment,
                service=service,
                slot=slot,
            )
            self.samples.add(
                'kronos_metrics_write_errors_total',
                0,
                service=service,
                slot=slot,
            )
