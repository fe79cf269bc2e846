# SPDX-License-Identifier: Apache-2.0
"""Is the worst told first, and no secret with it?"""

from oslo_upgradecheck.upgradecheck import Code
from oslotest import base

from kronos.cmd.checks.findings import Findings
from kronos.cmd.upgrade_checks.tally import Tally


class TestTally(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.tally = Tally()

    def assert_told(self, code: Code, text: str) -> None:
        result = self.tally.result()
        self.assertEqual((code, text), (result.code, result.details))

    def test_nothing(self) -> None:
        self.assert_told(Code.SUCCESS, '')

    def test_all_is_fine(self) -> None:
        self.tally.fine('a is there')
        self.tally.fine('b is there')
        self.assert_told(Code.SUCCESS, 'a is there. b is there.')

    def test_the_worst_first(self) -> None:
        """Without what is fine."""
        self.tally.fine('a is there')
        self.tally.warn('b is odd')
        self.tally.fail('c is gone', 'bring it back')
        self.tally.warn('d is odd', 'look at it')
        self.assert_told(
            Code.FAILURE,
            'c is gone. Remedy: bring it back. b is odd. d is odd. Remedy: '
            'look at it.',
        )

    def test_findings(self) -> None:
        """Of kronos-test-config, with their levels."""
        findings = Findings()
        findings.note('x', 'one')
        findings.warning('y', 'two', 'mend it')
        self.tally.take(findings)
        self.assert_told(Code.WARNING, 'two. Remedy: mend it.')

    def test_texts_of_others(self) -> None:
        """They hold no secret, and do nothing to a terminal."""
        self.tally.warn('https://me:s3cret@example.org/\n\x1b[31m is away')
        details = str(self.tally.result().details)
        self.assertNotIn('s3cret', details)
        self.assertIn('@example.org/', details)
        self.assertNotRegex(details, '[\n\x1b]')
