# SPDX-License-Identifier: Apache-2.0
"""The samples of the instance monitor, each judged by who will read it.

By Prometheus' promtool and by systemd: nothing of the lab has to run.
"""

import pathlib
import shutil
import subprocess
import sys

import fixtures
import yaml
from oslotest import base

from kronos.cmd.checks import monitors
from tests import places

SAMPLES = places.TOP / 'deploy' / 'monitor'
ALERTS = SAMPLES / 'prometheus-alerts.yaml'
UNIT = 'kronos-instance-monitor.service'
MOST_EXPOSED = 15
"""Tenths of systemd's own level: 0 is safe, 100 is not."""

WHERE = 'instance="compute-17:9877", job="kronos-monitor"'
SERVER = 'host="compute-17", instance_uuid="u{}", kind="{}"'


def series(name, values, **labels):
    more = ''.join(f', {key}="{value}"' for key, value in labels.items())
    name, _, own = name.partition('{')
    own = f'{own.rstrip("}")}, ' if own else ''
    return {'series': f'{name}{{{own}{WHERE}{more}}}', 'values': values}


FAILED = 'kronos_vm_failed{%s}'
CASES = {
    'KronosInstanceFailed': [
        ('5m', [series(FAILED % SERVER.format(1, 'crash'), '1x60')], 0),
        ('11m', [series(FAILED % SERVER.format(1, 'crash'), '1x60')], 1),
        # It was put right.
        ('20m', [series(FAILED % SERVER.format(1, 'crash'), '1x5 stale')], 0),
    ],
    'KronosHostFailing': [
        ('5m', [series(FAILED % SERVER.format(1, 'io_error'), '1x60')], 0),
        (
            '5m',
            [
                series(FAILED % SERVER.format(1, 'io_error'), '1x60'),
                series(FAILED % SERVER.format(2, 'io_error'), '1x60'),
            ],
            1,
        ),
        (
            '5m',
            [
                series(FAILED % SERVER.format(1, 'io_error'), '1x60'),
                series(FAILED % SERVER.format(2, 'crash'), '1x60'),
            ],
            0,
        ),
    ],
    'KronosMonitorAbsent': [
        ('10m', [series('up', '1x60')], 0),
        ('4m', [series('up', '0x60')], 0),
        ('6m', [series('up', '0x60')], 1),
    ],
    'KronosMonitorBlind': [
        ('10m', [series('kronos_monitor_libvirt_up', '1x60')], 0),
        ('3m', [series('kronos_monitor_libvirt_up', '0x60')], 1),
    ],
    'KronosMonitorGaps': [
        ('60m', [series('kronos_monitor_gaps_total', '0 1 2x60')], 0),
        ('30m', [series('kronos_monitor_gaps_total', '0 1 3 4 5x60')], 1),
    ],
    'KronosMonitorUndelivered': [
        (
            '30m',
            [
                series(
                    'kronos_monitor_oldest_undelivered_seconds', '0+60x9 0x60'
                )
            ],
            0,
        ),
        (
            '15m',
            [series('kronos_monitor_oldest_undelivered_seconds', '0+60x60')],
            1,
        ),
    ],
    'KronosMonitorRefused': [
        (
            '10m',
            [
                series(
                    'kronos_monitor_deliveries_total',
                    values,
                    sink='ha',
                    result=result,
                )
            ],
            fires,
        )
        for result, values, fires in (
            ('away', '0+1x60', 0),
            ('refused', '0x60', 0),
            ('refused', '0x5 1x60', 1),
            ('invalid', '0x5 1x60', 1),
        )
    ],
    'KronosMonitorDropped': [
        ('10m', [series('kronos_monitor_dropped_total', '0x60')], 0),
        ('10m', [series('kronos_monitor_dropped_total', '0x5 50x60')], 1),
    ],
    'KronosMonitorDisk': [
        ('20m', [series('kronos_monitor_spool_errors_total', '0 1x60')], 0),
        ('20m', [series('kronos_monitor_spool_errors_total', '0+60x60')], 1),
    ],
    'KronosMonitorRulesInvalid': [
        ('10m', [series('kronos_monitor_rules_valid', '1x60')], 0),
        ('10m', [series('kronos_monitor_rules_valid', '0x60')], 1),
    ],
    'KronosMonitorFaults': [
        ('10m', [series('kronos_monitor_errors_total', '3x60')], 0),
        ('10m', [series('kronos_monitor_errors_total', '0x5 1x60')], 1),
    ],
}
"""Of each alert: when, the series, and how many of it fire."""


class SamplesTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def run_tool(self, *command):
        if not shutil.which(command[0]):
            self.skipTest(f'{command[0]} is not installed')
        return subprocess.run(
            command,
            cwd=self.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
        )

    def assert_good(self, *command):
        done = self.run_tool(*command)
        self.assertEqual(0, done.returncode, done.stdout)
        return done.stdout


class TestPrometheus(SamplesTestCase):
    def test_each_alert(self):
        alerts = [
            rule['alert']
            for group in yaml.safe_load(ALERTS.read_text())['groups']
            for rule in group['rules']
        ]
        self.assertEqual(sorted(alerts), sorted(CASES))
        for alert in alerts:
            fired = [count for _, _, count in CASES[alert]]
            self.assertTrue(min(fired) == 0 < max(fired), alert)
            for number, case in enumerate(CASES[alert]):
                self.assertEqual(case[2], self.fires(alert, case), number)

    def fires(self, alert, case):
        """How many of an alert fire, as promtool counts them."""
        at, given, _ = case
        query = f'count(ALERTS{{alertname="{alert}", alertstate="firing"}})'
        for count in range(3):
            samples = [{'labels': '{}', 'value': count}] if count else []
            test = {
                'interval': '1m',
                'input_series': given,
                'promql_expr_test': [
                    {'expr': query, 'eval_time': at, 'exp_samples': samples}
                ],
            }
            written = self.folder / 'test.yaml'
            written.write_text(
                yaml.safe_dump(
                    {
                        'rule_files': [str(ALERTS)],
                        'evaluation_interval': '1m',
                        'tests': [test],
                    }
                )
            )
            done = self.run_tool('promtool', 'test', 'rules', str(written))
            if done.returncode == 0:
                return count
        raise AssertionError(done.stdout)

    def test_what_an_alert_says(self):
        """Its texts are whole."""
        given = series('kronos_monitor_libvirt_up', '0x60')
        rule = next(
            one
            for group in yaml.safe_load(ALERTS.read_text())['groups']
            for one in group['rules']
            if one['alert'] == 'KronosMonitorBlind'
        )
        summary = rule['annotations']['summary'].replace(
            '{{ $labels.instance }}', 'compute-17:9877'
        )
        test = {
            'interval': '1m',
            'input_series': [given],
            'alert_rule_test': [
                {
                    'eval_time': '5m',
                    'alertname': 'KronosMonitorBlind',
                    'exp_alerts': [
                        {
                            'exp_labels': {
                                'severity': 'critical',
                                'instance': 'compute-17:9877',
                                'job': 'kronos-monitor',
                            },
                            'exp_annotations': {
                                **rule['annotations'],
                                'summary': summary,
                            },
                        }
                    ],
                }
            ],
        }
        written = self.folder / 'test.yaml'
        written.write_text(
            yaml.safe_dump({'rule_files': [str(ALERTS)], 'tests': [test]})
        )
        self.assert_good('promtool', 'test', 'rules', str(written))

    def test_the_query_of_kronos_test_config(self):
        """The host is as the monitor names it, whatever its target is."""
        given = [
            series('kronos_monitor_libvirt_up', '1x60'),
            series('kronos_monitor_info', '1x60', host='node1'),
        ]
        sample = {'labels': '{host="node1"}', 'value': 1}
        test = {
            'interval': '1m',
            'input_series': given,
            'promql_expr_test': [
                {
                    'expr': monitors.QUERY,
                    'eval_time': '5m',
                    'exp_samples': [sample],
                }
            ],
        }
        written = self.folder / 'test.yaml'
        written.write_text(yaml.safe_dump({'tests': [test]}))
        self.assert_good('promtool', 'test', 'rules', str(written))

    def test_the_scrape_configuration(self):
        text = (SAMPLES / 'prometheus-scrape.yaml').read_text()
        self.assertIn('9877', text)
        text = text.replace('/etc/prometheus/', f'{self.folder}/')
        shutil.copy(ALERTS, self.folder / 'kronos-monitor-alerts.yaml')
        config = yaml.safe_load(text)
        (job,) = config['scrape_configs']
        for path in job['tls_config'].values():
            pathlib.Path(path).touch()
        written = self.folder / 'prometheus.yml'
        written.write_text(text)
        told = self.assert_good('promtool', 'check', 'config', str(written))
        self.assertIn(f'{len(CASES)} rules found', told)


class TestSystemd(SamplesTestCase):
    def unit(self):
        """The unit, with a command that is there."""
        text = (SAMPLES / UNIT).read_text()
        self.assertIn('ExecStart=/usr/bin/kronos-instance-monitor\n', text)
        written = self.folder / UNIT
        written.write_text(
            text.replace('/usr/bin/kronos-instance-monitor', sys.executable)
        )
        return str(written)

    def test_verify(self):
        self.assertEqual(
            '', self.assert_good('systemd-analyze', 'verify', self.unit())
        )

    def test_how_much_it_may(self):
        self.assert_good(
            'systemd-analyze',
            'security',
            '--offline=yes',
            f'--threshold={MOST_EXPOSED}',
            self.unit(),
        )

    def test_its_user(self):
        sample = SAMPLES / 'kronos-monitor.sysusers.conf'
        (self.folder / 'etc').mkdir()
        told = self.assert_good(
            'systemd-sysusers', f'--root={self.folder}', str(sample)
        )
        users = (self.folder / 'etc' / 'passwd').read_text()
        self.assertIn('kronos-monitor:', users, told)
        self.assertIn(':/var/lib/kronos:', users)
        text = (SAMPLES / UNIT).read_text()
        self.assertIn('User=kronos-monitor\n', text)
