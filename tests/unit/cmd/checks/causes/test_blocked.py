# SPDX-License-Identifier: Apache-2.0
"""Is the remedy of a scope that stands still that of its hosts?"""

from oslotest import base

from kronos.cmd.checks.causes import blocked
from kronos.engine.reasons import Code, Reason
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.types import StopReason


def card(**codes: Code) -> Scorecard:
    """Of a scope whose hosts are out for these reasons."""
    return Scorecard(
        excluded={host: Reason('no', code) for host, code in codes.items()},
        blocked=StopReason.TOO_FEW_HOSTS,
    )


class TestRemedy(base.BaseTestCase):
    def test_of_what_most_hosts_lack(self) -> None:
        down, off = Code.HOST_DOWN, Code.HOST_DISABLED
        self.assertEqual(
            'enable it (b, c)', blocked.remedy(card(a=down, b=off, c=off))
        )
        self.assertEqual('bring it up (a)', blocked.remedy(card(a=down)))

    def test_a_small_aggregate(self) -> None:
        self.assertIn('add hosts to its aggregate', blocked.remedy(card()))

    def test_scopes_that_are_blocked_alike(self) -> None:
        down = Code.HOST_DOWN
        self.assertEqual(
            blocked.key_of(card(a=down)), blocked.key_of(card(b=down, c=down))
        )
        self.assertNotEqual(
            blocked.key_of(card(a=down)), blocked.key_of(card())
        )
