# SPDX-License-Identifier: Apache-2.0
"""Whatever happens, the operator is told what and why."""

from tests.lab import base

PLUGINS = {
    'goal': 'kronos_balance',
    'strategy': 'kronos_spread',
}


class TestTelling(base.LabTestCase):
    def test_an_even_cloud_says_so_and_leaves_an_empty_plan(self):
        self.wait_for_metrics()
        audit = self.finished(self.audit('aggregates=alpha'))
        self.assertEqual('SUCCEEDED', audit['State'])
        self.assertIn('alpha: ', audit['Status Message'])
        self.assertIn('threshold', audit['Status Message'])
        [plan] = self.plans(audit)
        self.assertEqual('SUCCEEDED', plan['state'])
        self.assertEqual([], self.actions(plan))

    def test_no_scope(self):
        """It never plans the whole cloud."""
        audit = self.finished(self.audit())
        self.assertEqual('FAILED', audit['State'])
        self.assertIn('aggregates', audit['Status Message'])
        self.assertIn('include_unassigned_hosts', audit['Status Message'])
        self.assertEqual([], self.plans(audit))

    def test_an_unknown_aggregate(self):
        """It is named, and so is the nearest one, or else all of them."""
        for name, words in (
            ('alhpa', 'did you mean alpha?'),
            ('gold', 'known: alpha, beta'),
        ):
            audit = self.finished(self.audit(f'aggregates={name}'))
            self.assertEqual('FAILED', audit['State'])
            self.assertIn(f'"{name}"; {words}', audit['Status Message'])

    def test_a_broken_policies_file(self):
        """It is read at the start of every audit."""
        good = self.policies.read_text()
        self.policies.write_text(good.replace('weight: 0.6', 'weight: 0.5'))
        audit = self.finished(self.audit('aggregates=alpha'))
        self.assertEqual('FAILED', audit['State'])
        self.assertIn('weight', audit['Status Message'])
        self.policies.write_text(good)
        audit = self.finished(self.audit('aggregates=alpha'))
        self.assertEqual('SUCCEEDED', audit['State'])

    def test_names_and_restarts(self):
        """The plugins are known, and three restarts cancel no audit."""
        self.wait_for_metrics()
        for kind, name in PLUGINS.items():
            rows = self.openstack(f'optimize {kind} list')
            self.assertIn(name, [row['Name'] for row in rows])
        done = self.finished(self.audit('aggregates=alpha'))
        going = self.audit(
            'aggregates=alpha', '--audit_type CONTINUOUS --interval 3600'
        )
        self.wait(
            lambda: self.shown(going)['State'] == 'ONGOING',
            'the continuous audit to start',
        )
        for _ in range(3):
            self.lab.restart('watcher-decision-engine')
            self.assertEqual('ONGOING', self.shown(going)['State'])
            self.assertEqual('SUCCEEDED', self.shown(done)['State'])
        self.openstack(
            f'optimize audit update {going["UUID"]} replace state=CANCELLED'
        )


class TestPrometheusAway(base.LabTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.wait_for_metrics()

    def stop_prometheus(self) -> None:
        self.addCleanup(self.lab.start, 'prometheus')
        self.lab.stop('prometheus')

    def test_oneshot_fails_with_the_sentence(self):
        self.stop_prometheus()
        audit = self.finished(self.audit('aggregates=alpha'))
        self.assertEqual('FAILED', audit['State'])
        self.assertIn('Prometheus', audit['Status Message'])
        self.assertEqual([], self.plans(audit))

    def test_continuous_recovers_by_itself(self):
        """FAILED would end it for ever: it stays ONGOING."""
        audit = self.audit(
            'aggregates=alpha',
            '--audit_type CONTINUOUS --interval 5 --auto-trigger',
        )
        self.wait_for_message(audit, 'threshold')
        self.stop_prometheus()
        self.wait_for_message(audit, 'Prometheus')
        self.assertEqual('ONGOING', self.shown(audit)['State'])
        self.lab.start('prometheus')
        self.wait_for_message(audit, 'threshold')
        self.assertEqual('ONGOING', self.shown(audit)['State'])
        self.assertLessEqual(len(self.plans(audit)), 2)
        self.openstack(
            f'optimize audit update {audit["UUID"]} replace state=CANCELLED'
        )

    def wait_for_message(self, audit: dict[str, str], words: str) -> None:
        url = f'/v1/audits/{audit["UUID"]}'
        self.wait(
            lambda: words in (self.cloud.watcher(url)['status_message'] or ''),
            f'the audit to say {words!r}',
        )
