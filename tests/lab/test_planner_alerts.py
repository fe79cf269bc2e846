# SPDX-License-Identifier: Apache-2.0
"""Each alert of the planner fires when it should, and a near miss does not.

Prometheus' promtool evaluates them: nothing of the lab has to run.
"""

import pathlib
import random
import re
import shutil
import subprocess

import fixtures
import yaml
from oslotest import base

from kronos.metrics.catalogue import BY_NAME
from kronos.metrics.metric import PROCESS_LABELS, Source
from tests import dashboards

ALERTS = dashboards.ALERTS
PRIOR, DECAY = 0.01, 0.9
"""Of the ratio of the effect: a weak prior at 1, and less weight for each
older plan."""


def series(name, values, **labels):
    """Input of promtool: a series that a process wrote, sample by minute."""
    labels = {
        **labels,
        'service': 'kronos',
        'slot': labels.get('slot', '0'),
        'instance': 'ctl-1:9100',
    }
    text = ', '.join(f'{key}="{value}"' for key, value in labels.items())
    return {'series': f'{name}{{{text}}}', 'values': values}


def of_scope(name, values, **labels):
    return series(name, values, scope='alpha', **labels)


def of_policy(name, values, **labels):
    return of_scope(name, values, policy='cpu', **labels)


def audits(values, outcome='failed'):
    return [
        series(
            'kronos_audits_total',
            values,
            strategy='kronos_spread',
            outcome=outcome,
        )
    ]


def balance(imbalance, planned):
    """A scope with a threshold of 0.1, and the moves in its newest plan."""
    return [
        of_policy('kronos_policy_imbalance_ratio', imbalance),
        of_policy('kronos_policy_threshold_ratio', '0.1x600'),
        of_scope('kronos_scope_planned_moves', planned, phase='spread'),
    ]


def effect(ratio, plans, imbalance='0.2x600', trust='0.4x600'):
    return [
        of_policy('kronos_effect_ratio', ratio),
        of_policy('kronos_effect_trust_ratio', trust),
        of_policy('kronos_effect_measured_plans', plans),
        of_policy('kronos_policy_imbalance_ratio', imbalance),
        of_policy('kronos_policy_threshold_ratio', '0.1x600'),
    ]


def migrations(succeeded, failed):
    return [
        of_scope(
            'kronos_migrations_total',
            values,
            phase='spread',
            outcome=outcome,
            error_type=error_type,
        )
        for values, outcome, error_type in (
            (succeeded, 'succeeded', 'none'),
            (failed, 'failed', 'MigrationError'),
        )
    ]


def draining(leaving, staying='0x600'):
    name = 'kronos_scope_draining_instances'
    return [
        of_scope(name, leaving, state='leaving'),
        of_scope(name, staying, state='staying'),
    ]


def waiting(plans, since):
    return [
        series('kronos_plans_waiting', plans),
        series('kronos_plans_waiting_oldest_timestamp_seconds', since),
    ]


def closed(values, reason='scope_window'):
    """Whether its window ended the planning of the scope."""
    return [of_scope('kronos_scope_stopped', values, reason=reason)]


def window(is_open, changes_at, stopped='1x600'):
    """Whether it was open at each audit, and when that changes next."""
    return [
        of_scope('kronos_scope_window_open', is_open),
        of_scope('kronos_scope_window_change_timestamp_seconds', changes_at),
        *closed(stopped),
    ]


def slots(values, by_sum):
    """Room for servers of a watched flavor."""
    return [
        of_scope('kronos_slots', values, flavor='f16'),
        of_scope('kronos_pooled_slots', by_sum, flavor='f16'),
    ]


def of_run(name, values, **labels):
    return of_scope(f'kronos_maintenance_{name}', values, run='r', **labels)


def of_host(state, values, since='0x600'):
    """A host of a run: its state, and since when it is closed."""
    return [
        of_run('host_state', values, host='h', state=state),
        of_run(CLOSED_AT, since, host='h'),
    ]


def hosts(to_do='0x600', handed_over='0x600', answered='1x600'):
    """The hosts of a run by state, and whether its done query answers."""
    return [
        of_run('hosts', to_do, state='to-do'),
        of_run('hosts', handed_over, state='handed-over'),
        of_run('done_query_answered', answered),
    ]


def followed(values, read, slot='0', name='hosts'):
    """What the audits of a run showed, and when they looked."""
    label = {'state': 'to-do'} if name == 'hosts' else {'host': 'h'}
    return [
        of_run(name, values, slot=slot, **label),
        of_run('read_timestamp_seconds', read, slot=slot),
    ]


CLOSED_AT = 'host_closed_timestamp_seconds'
EMPTY_AT = 'host_expected_timestamp_seconds'
ENDED = '0+60x60 stale'
"""Looks for an hour."""
LAST_SUCCESS = 'kronos_scope_last_success_timestamp_seconds'
SKIPPED, PARTIAL = 'kronos_policy_skipped', 'kronos_policy_partial'
REPEATED = 'kronos_scope_repeatedly_moved_instances'
SAMPLES = 'kronos_weigher_samples_timestamp_seconds'
FAULTS = 'kronos_weigher_faults_total'
WRITTEN = 'kronos_metrics_written_timestamp_seconds'
IGNORED = 'kronos_exporter_ignored_file'
CASES = {
    'KronosAuditsFailing': [
        ('2h', audits('0x20 1x600'), 0),
        ('2h', audits('_x20 1x20 2x600'), 1),
        ('2h', audits('_x20 1x20 2x600', 'blind'), 1),
        ('2h', audits('0+1x600', 'empty'), 0),
        # The service restarts, and its counter with it.
        ('2h', audits('5x50 0x20 1x20 2x600'), 1),
        ('7h', audits('_x20 1x20 2x600'), 0),
    ],
    'KronosNoAuditSucceeding': [
        ('5h', [of_scope(LAST_SUCCESS, '0+60x600')], 0),
        # Its last success is at 60 minutes, and it is shown for an hour more.
        ('3h50m', [of_scope(LAST_SUCCESS, '0+60x60 3600x60 stale')], 0),
        ('4h10m', [of_scope(LAST_SUCCESS, '0+60x60 3600x60 stale')], 1),
        # Audits by hand, seldom.
        ('5h', [of_scope(LAST_SUCCESS, '0x30 1800x600')], 0),
    ],
    'KronosPolicyWithoutSamples': [
        ('20m', [of_policy(SKIPPED, '1x600', reason='stale')], 0),
        ('40m', [of_policy(SKIPPED, '1x600', reason='stale')], 1),
        ('40m', [of_policy(SKIPPED, '1x25 stale', reason='stale')], 0),
    ],
    'KronosPolicyPartial': [
        ('50m', [of_policy(PARTIAL, '1x600')], 0),
        ('70m', [of_policy(PARTIAL, '1x600')], 1),
        ('70m', [of_policy(PARTIAL, '0x600')], 0),
    ],
    'KronosOverThreshold': [
        ('4h', balance('0.2x600', '0x600'), 1),
        ('2h', balance('0.2x600', '0x600'), 0),
        ('4h', balance('0.2x600', '3x600'), 0),
        ('4h', balance('0.1x600', '0x600'), 0),
        ('4h', balance('0.2x100 0.05x10 0.2x600', '0x600'), 0),
        # Nothing is planned outside the window.
        ('4h', balance('0.2x600', '0x600') + closed('1x600'), 0),
        ('4h', balance('0.2x600', '0x600') + closed('1x30 stale'), 1),
        ('4h', balance('0.2x600', '0x600') + closed('1x100 stale'), 0),
    ],
    'KronosDrainStandsStill': [
        ('4h', draining('7x600'), 1),
        ('4h', draining('7x100 6x600'), 0),
        ('4h', draining('0x600', '2x600'), 1),
        ('4h', draining('0x600'), 0),
        ('2h', draining('7x600'), 0),
        ('4h', draining('7x600') + closed('1x100 stale'), 0),
        ('4h', draining('7x600') + closed('1x600', 'scope_balanced'), 1),
    ],
    'KronosWindowUnusable': [
        ('40m', closed('1x600', 'scope_window_unusable'), 1),
        ('20m', closed('1x600', 'scope_window_unusable'), 0),
        ('40m', closed('1x600'), 0),
    ],
    'KronosWindowMissed': [
        # It opens each hour, and is closed again at the next audit.
        ('3h', window('0x600', '1x60 2x60 3x600'), 1),
        ('3h', window('0x600', '1x60 2x600'), 0),
        ('3h', window('0x70 1x9 0x600', '1x60 2x60 3x600'), 0),
        # The last audit was one to which it does not apply.
        ('3h', window('0x600', '1x60 2x60 3x600', '1x99 stale'), 0),
        # It is one long freeze.
        ('3h', window('0x600', '1x600'), 0),
    ],
    'KronosNoSlotLeft': [
        ('2h', slots('0x600', '3x600'), 1),
        ('30m', slots('0x600', '3x600'), 0),
        ('2h', slots('1x600', '3x600'), 0),
        # The cloud is full, and no migration helps.
        ('2h', slots('0x600', '0x600'), 0),
    ],
    'KronosMovesWithoutEffect': [
        ('10m', effect('0.5x600', '2x600'), 1),
        ('10m', effect('0.5x600', '1x600'), 0),
        ('10m', effect('0.8x600', '9x600'), 0),
        # They have half the effect, and that is enough.
        ('10m', effect('0.5x600', '2x600', imbalance='0.1x600'), 0),
    ],
    'KronosTrustLow': [
        ('70m', effect('1.6x600', '3x600'), 1),
        ('50m', effect('1.6x600', '3x600'), 0),
        ('70m', effect('1.6x600', '2x600'), 0),
        ('70m', effect('1.5x600', '3x600', trust='0.5x600'), 0),
    ],
    'KronosMigrationsFailing': [
        ('2h', migrations('0+1x600', '0x600'), 0),
        ('50m', migrations('0x10 5x600', '_x20 1x10 2x600'), 1),
        ('50m', migrations('0x10 5x600', '_x20 1x600'), 0),
        # Two of twelve.
        ('50m', migrations('0x10 10x600', '0x20 1x10 2x600'), 0),
    ],
    'KronosInstancesMoveAgain': [
        ('40m', [of_scope(REPEATED, '2x600')], 1),
        ('20m', [of_scope(REPEATED, '2x600')], 0),
        ('40m', [of_scope(REPEATED, '0x600')], 0),
    ],
    'KronosPlanWaiting': [
        ('30m', waiting('1x600', '300x600'), 1),
        ('20m', waiting('1x600', '300x600'), 0),
        ('60m', waiting('1x600', '0+60x600'), 0),
        ('30m', waiting('0x600', '_x600'), 0),
    ],
    'KronosMaintenanceHostLate': [
        ('20m', of_host('late', '1x600'), 1),
        ('4m', of_host('late', '1x600'), 0),
        ('20m', of_host('handed-over', '1x600'), 0),
        ('20m', of_host('late', '1x9 stale'), 0),
    ],
    'KronosMaintenanceEmptyingSlow': [
        # Closed at 10 minutes, expected to be empty at 40, later at 60.
        (
            '85m',
            [
                *of_host('emptying', '1x600', '600x600'),
                of_run(EMPTY_AT, '2400x10 3600x600', host='h'),
            ],
            1,
        ),
        (
            '69m',
            [
                *of_host('emptying', '1x600', '600x600'),
                of_run(EMPTY_AT, '2400x10 3600x600', host='h'),
            ],
            0,
        ),
        (
            '85m',
            [
                *of_host('handed-over', '1x600', '600x600'),
                of_run(EMPTY_AT, '2400x600', host='h'),
            ],
            0,
        ),
        # Nothing was expected of it, since it was empty.
        ('85m', of_host('emptying', '1x600', '600x600'), 0),
    ],
    'KronosMaintenanceStandsStill': [
        ('70m', hosts('3x600'), 1),
        ('50m', hosts('3x600'), 0),
        ('70m', hosts('3x600', '1x600'), 0),
        ('70m', hosts('0x600'), 0),
        ('70m', hosts('3x600', answered='0x600'), 0),
        ('70m', hosts('3x600', '0x30 1x5 0x600'), 0),
    ],
    'KronosMaintenanceDoneUnknown': [
        ('20m', hosts(answered='0x600'), 1),
        ('14m', hosts(answered='0x600'), 0),
        ('20m', hosts(answered='1x600'), 0),
    ],
    'KronosMaintenanceHostForgotten': [
        ('2h', followed('600x60 stale', ENDED, name=CLOSED_AT), 1),
        ('80m', followed('600x60 stale', ENDED, name=CLOSED_AT), 0),
        (
            '2h',
            followed('600x60 0x9 stale', '0+60x69 stale', name=CLOSED_AT),
            0,
        ),
        ('2h', followed('600x600', '0+60x600', name=CLOSED_AT), 0),
        # Another decision engine took over, and saw it opened.
        (
            '3h',
            followed('600x60 stale', ENDED, name=CLOSED_AT)
            + followed(
                '_x61 0x30 stale', '_x61 3660+60x30 stale', '1', CLOSED_AT
            ),
            0,
        ),
    ],
    'KronosMaintenancePaused': [
        ('50h', followed('4x60 stale', ENDED), 1),
        ('48h', followed('4x60 stale', ENDED), 0),
        ('50h', followed('0x60 stale', ENDED), 0),
        ('50h', followed('4x3600', '0+60x3600'), 0),
        (
            '52h',
            followed('4x60 stale', ENDED)
            + followed('_x61 0x30 stale', '_x61 3660+60x30 stale', '1'),
            0,
        ),
    ],
    'KronosWeigherSamplesOld': [
        ('20m', [series(SAMPLES, '60x600')], 1),
        ('14m', [series(SAMPLES, '60x600')], 0),
        ('20m', [series(SAMPLES, '0+60x600')], 0),
        # One worker of two.
        (
            '20m',
            [
                series(SAMPLES, '60x600'),
                series(SAMPLES, '0+60x600', slot='1'),
            ],
            1,
        ),
    ],
    'KronosWeigherFaults': [
        ('30m', [series(FAULTS, '_x10 1x600', error_type='KeyError')], 1),
        ('30m', [series(FAULTS, '1x600', error_type='KeyError')], 1),
        ('90m', [series(FAULTS, '1x600', error_type='KeyError')], 0),
    ],
    'KronosMetricsNotWritten': [
        ('20m', [series(WRITTEN, '0+60x5 300x600')], 1),
        ('9m', [series(WRITTEN, '0+60x5 300x600')], 0),
        ('20m', [series(WRITTEN, '0+60x600')], 0),
        # A clean stop: the file is gone.
        ('20m', [series(WRITTEN, '0+60x5 stale')], 0),
    ],
    'KronosExporterIgnoresFile': [
        ('20m', [series(IGNORED, '1x600', file='a.prom', reason='stale')], 1),
        ('10m', [series(IGNORED, '1x600', file='a.prom', reason='stale')], 0),
        ('20m', [series(IGNORED, '1x9 stale', file='a.prom')], 0),
    ],
}
"""Of each alert: when, the series, and how many of it fire."""


def ratios(truth, noise, plans, seed):
    """The ratio after each plan of six moves between twelve hosts.

    :param truth: effect of a move, as a share of the predicted one
    :param noise: standard deviation of the score of a host
    """
    draw = random.Random(seed)
    product = square = 0.0
    for _ in range(plans):
        product, square = product * DECAY, square * DECAY
        for _ in range(6):
            predicted = draw.uniform(0.03, 0.12)
            for sign in (-1, 1):
                realised = truth * predicted * sign + draw.gauss(0, noise)
                product += predicted * sign * realised
                square += predicted**2
        yield (product + PRIOR) / (square + PRIOR)


class PromtoolTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def assert_good(self, *command):
        if not shutil.which('promtool'):
            self.skipTest('promtool is not installed')
        done = subprocess.run(
            ('promtool', *command),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
        )
        self.assertEqual(0, done.returncode, done.stdout)
        return done.stdout

    def assert_rules(self, tests, alert):
        """Let promtool judge tests of one rule: all take it minutes."""
        rules = yaml.safe_load(ALERTS.read_text())
        for group in rules['groups']:
            group['rules'] = [
                rule for rule in group['rules'] if rule['alert'] == alert
            ]
        only = self.folder / 'rules.yaml'
        only.write_text(yaml.safe_dump(rules, sort_keys=False))
        file = self.folder / 'test.yaml'
        document = {
            'rule_files': [str(only)],
            'evaluation_interval': '1m',
            'tests': tests,
        }
        file.write_text(yaml.safe_dump(document, sort_keys=False))
        self.assert_good('test', 'rules', str(file))


class TestAlerts(PromtoolTestCase):
    def test_each(self):
        rules = [rule['alert'] for rule in dashboards.alerts()]
        self.assertEqual(sorted(rules), sorted(CASES))
        for alert, cases in CASES.items():
            fired = [count for _, _, count in cases]
            self.assertTrue(min(fired) == 0 < max(fired), alert)
            tests = [
                self.case(f'{alert} {number}', alert, *case)
                for number, case in enumerate(cases)
            ]
            self.assert_rules(tests, alert)

    def case(self, name, alert, moment, rows, count):
        query = f'ALERTS{{alertname="{alert}", alertstate="firing"}}'
        return {
            'name': name,
            'interval': '1m',
            'input_series': rows,
            'promql_expr_test': [
                {
                    'expr': f'count({query}) or vector(0)',
                    'eval_time': moment,
                    'exp_samples': [{'labels': '{}', 'value': count}],
                }
            ],
        }

    def test_series_are_of_the_catalogue(self):
        """With the labels that the processes write."""
        for cases in CASES.values():
            for _, rows, _ in cases:
                for row in rows:
                    name, _, rest = row['series'].partition('{')
                    labels = {*re.findall(r'(\w+)=', rest)}
                    metric = BY_NAME[name]
                    beside = {*PROCESS_LABELS, 'instance'}
                    if metric.source is Source.EXPORTER:
                        beside |= {'reason'}
                    self.assertLessEqual({*metric.labels} - {'reason'}, labels)
                    self.assertLessEqual(labels, {*metric.labels} | beside)

    def test_texts(self):
        """They are whole, with rounded numbers."""
        rule = next(
            rule
            for rule in dashboards.alerts()
            if rule['alert'] == 'KronosMigrationsFailing'
        )
        summary = '2 migrations failed within an hour in scope alpha'
        _, rows, _ = CASES[rule['alert']][1]
        alert = {
            'exp_labels': {'severity': 'warning', 'scope': 'alpha'},
            'exp_annotations': {**rule['annotations'], 'summary': summary},
        }
        test = {
            'interval': '1m',
            'input_series': rows,
            'alert_rule_test': [
                {
                    'eval_time': '50m',
                    'alertname': rule['alert'],
                    'exp_alerts': [alert],
                }
            ],
        }
        self.assert_rules([test], rule['alert'])


class TestEffect(PromtoolTestCase):
    """A plan is measured each minute, in ten scopes."""

    ALERT = 'KronosMovesWithoutEffect'

    def rows(self, truth, noise, plans):
        rows = []
        for seed in range(10):
            values = [
                f'{ratio:.4f}' for ratio in ratios(truth, noise, plans, seed)
            ]
            counts = [str(min(plan, 10)) for plan in range(1, plans + 1)]
            for name, numbers in (
                ('kronos_effect_ratio', values),
                ('kronos_effect_measured_plans', counts),
                ('kronos_policy_imbalance_ratio', ['0.2'] * plans),
                ('kronos_policy_threshold_ratio', ['0.1'] * plans),
            ):
                rows.append(
                    series(
                        name, ' '.join(numbers), scope=str(seed), policy='cpu'
                    )
                )
        return rows

    def assert_fires(self, rows, counts):
        query = f'ALERTS{{alertname="{self.ALERT}", alertstate="firing"}}'
        tests = [
            {
                'expr': (
                    f'count(max by (scope) (max_over_time({query}[2h])))'
                    ' or vector(0)'
                ),
                'eval_time': moment,
                'exp_samples': [{'labels': '{}', 'value': count}],
            }
            for moment, count in counts.items()
        ]
        self.assert_rules(
            [
                {
                    'interval': '1m',
                    'input_series': rows,
                    'promql_expr_test': tests,
                }
            ],
            self.ALERT,
        )

    def test_profile_says_twice_the_truth(self):
        """It fires with the second audit after the first."""
        self.assert_fires(self.rows(0.5, 0.02, 5), {'0m': 0, '1m': 10})

    def test_moves_have_no_effect(self):
        self.assert_fires(self.rows(0.0, 0.05, 5), {'0m': 0, '1m': 10})

    def test_never_by_noise(self):
        """In a hundred audits, though the scopes stay above the threshold."""
        self.assert_fires(self.rows(1.0, 0.03, 100), {'99m': 0})
