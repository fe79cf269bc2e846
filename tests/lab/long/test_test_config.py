# SPDX-License-Identifier: Apache-2.0
"""What does kronos-test-config say of one thing or another that is wrong?"""

from tests.lab.test_test_config import SERVERS, TestConfigTestCase


class TestWrong(TestConfigTestCase):
    def test_a_label_that_is_not_there(self) -> None:
        """And an audit skips the policy for the very same reason."""
        self.change('memory', host_label='node')
        report = self.check()
        found = self.finding(report, 'query-failed')
        self.assertIn('no series has the label "node"', found['text'])
        self.assertEqual(['cpu'], list(report['scopes'][0]['imbalances']))
        audit, _, _ = self.audited('aggregates=alpha')
        [_, memory] = self.report(audit)['policies']
        self.assertIn(
            found['text'].partition('imbalance_query: ')[2], memory['skipped']
        )

    def test_a_label_of_another_type(self) -> None:
        """None of the servers is known; which type would do is told."""
        self.boot(SERVERS)
        self.change('memory', vm_profile_label_type='nova_instance_uuid')
        report = self.check()
        found = self.finding(report, 'servers-unknown')
        self.assertIn('3 of 3 servers', found['text'])
        self.assertIn('instance-', found['text'])
        self.assertIn('nova_internal_name 3 would have one', found['mend'])

    def test_a_policy_that_is_not_valid(self) -> None:
        self.change('cpu', threshold=15)
        found = self.finding(self.check(), 'policies-invalid')
        self.assertIn('policy cpu: threshold: must be', found['text'])

    def test_a_weigher_that_is_not_enabled(self) -> None:
        report = self.check(*self.nova_config(''))
        self.finding(report, 'weigher-disabled')
        self.assertFalse(report['weigher']['is_enabled'])
