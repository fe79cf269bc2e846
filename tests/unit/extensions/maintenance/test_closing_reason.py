# SPDX-License-Identifier: Apache-2.0
"""Is a reason recognised only letter for letter?"""

import ddt
from oslotest import base

from kronos.engine.types import ComputeService
from kronos.extensions.maintenance import closing_reason
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step

AUDIT = 'a0d17000-1111-4111-8111-111111111111'
REASON = ClosingReason('kernel-6.1', Step.EMPTYING, 1798000000.0, AUDIT)
TEXT = (
    'KRONOS-MAINTENANCE kernel-6.1 emptying since 2026-12-23T04:26:40Z '
    f'(audit {AUDIT}): opened by Kronos when done'
)


@ddt.ddt
class TestClosingReason(base.BaseTestCase):
    def test_to_and_fro(self) -> None:
        self.assertEqual(TEXT, str(REASON))
        self.assertEqual(REASON, closing_reason.parsed(TEXT))

    @ddt.data(*Step)
    def test_each_step(self, step: Step) -> None:
        for reopens in (True, False):
            reason = ClosingReason('r', step, 0.0, AUDIT, reopens)
            self.assertEqual(reason, closing_reason.parsed(str(reason)))

    def test_nova_takes_the_longest(self) -> None:
        longest = ClosingReason('r' * 64, Step.HANDED_OVER, 1e10, AUDIT)
        self.assertLessEqual(len(str(longest)), 255)

    @ddt.data(
        '',
        TEXT + ' ',
        TEXT + '\n',
        TEXT.replace('emptying', 'empty'),
        TEXT.replace('kernel', 'ker nel'),
        TEXT.replace('-12-', '-13-'),
        TEXT.replace(AUDIT, AUDIT.upper()),
        TEXT.lower(),
        TEXT.replace('when done', 'when done, thanks'),
        'KRONOS: at fault',
    )
    def test_somebody_else_wrote_it(self, text: str) -> None:
        self.assertIsNone(closing_reason.parsed(text))

    def test_handed_over(self) -> None:
        """By a run, whose reason nobody has rewritten."""
        for status, step, rest, expected in (
            ('disabled', Step.EMPTYING, '', False),
            ('disabled', Step.HANDED_OVER, '', True),
            ('disabled', Step.RETURNING, '', True),
            ('disabled', Step.HANDED_OVER, ' mine', False),
            ('enabled', Step.HANDED_OVER, '', False),
        ):
            text = f'{REASON.advanced(step, 0.0)}{rest}'
            service = ComputeService('h1', status=status, disabled_reason=text)
            self.assertIs(expected, closing_reason.is_handed_over(service))

    @ddt.data('', '-r', 'a b', 'r' * 65, 'a\nb', 'ä')
    def test_no_name_of_a_run(self, run: str) -> None:
        reason = ClosingReason(run, Step.EMPTYING, 0.0, AUDIT)
        self.assertRaises(ValueError, str, reason)

    def test_the_next_step_begins_now(self) -> None:
        later = REASON.advanced(Step.HANDED_OVER, 1798000100.7)
        self.assertEqual(
            (Step.HANDED_OVER, 1798000100.0), (later.step, later.since)
        )
        self.assertEqual(later, closing_reason.parsed(str(later)))
