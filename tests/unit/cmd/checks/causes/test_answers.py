# SPDX-License-Identifier: Apache-2.0
"""Have policies with one fault one cause?

What each fault is told as is in the table of mistakes beside the command.
"""

from kronos.cmd.checks import tables
from kronos.cmd.checks.causes import finding_lines
from tests.unit.cmd.test_test_config_mistakes import MistakeTestCase


class TestAnswers(MistakeTestCase):
    def report(self):
        return self.check('--config-file', self.conf(aggregates='a,b'))

    def test_all_that_follows_is_below(self) -> None:
        """In two scopes and two policies, one finding; the rest counted."""
        self.rename('{}.x.org')
        report = self.report()
        [cause, note] = report['findings']
        self.assertEqual('host-names', cause['code'])
        self.assertEqual('watcher-unasked', note['code'])
        codes = {effect['code'] for effect in cause['follows']}
        self.assertEqual(
            {
                'policy-skipped',
                'scope-blocked',
                'policy-doubtful',
                'nothing-to-plan',
            },
            codes,
        )
        text = tables.text(report)
        number = len(cause['follows']) - finding_lines.EFFECTS
        self.assertIn(f'and {number} more of the same cause', text)
        self.assertIn('1 error, 0 warnings', text)
        self.assertEqual(1, text.count('What to do:'))

    def test_the_cause_may_be_a_warning(self) -> None:
        """One host of many is called otherwise, and the rest is planned."""
        self.hosts = [f'a{number}' for number in range(20)]
        self.measure()
        self.fill()
        self.of_two_aggregates()
        self.series['cpu_of_host'][3] = ('a3.x.org', 0.3)
        report = self.check('--config-file', self.conf(aggregates='a'))
        cause = report['findings'][0]
        self.assertEqual(
            ('warning', 'host-names', 'set [kronos] host_match = short'),
            (cause['level'], cause['code'], cause['mend']),
        )
        self.assertTrue(report['good'])

    def test_two_faults_are_two_causes(self) -> None:
        self.rename('{}.x.org', 'cpu_of_host')
        self.scale(100, 'ram')
        codes = [row['code'] for row in self.report()['findings'][:2]]
        self.assertEqual(['host-names', 'policy-skipped'], sorted(codes))
