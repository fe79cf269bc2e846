# SPDX-License-Identifier: Apache-2.0
"""Is each thing told when it is new, and again when it lasts?"""

import fixtures
from oslotest import base

from kronos.weighers import log_messages
from kronos.weighers.log_messages import MOST_TROUBLES, LogMessages


class TestLogMessages(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.now = 0.0
        self.log = self.useFixture(fixtures.FakeLogger('kronos.weighers'))
        self.messages = LogMessages(lambda: self.now)

    def logged(self) -> list[str]:
        return self.log.output.splitlines()

    def trouble(self, *troubles: str) -> None:
        self.messages.troubles(list(troubles) or ['cpu: no sample'], None)

    def test_what_lasts(self) -> None:
        for self.now, lines in (
            (0, 1),
            (log_messages.REPEAT_SECONDS - 1, 1),
            (log_messages.REPEAT_SECONDS, 2),
        ):
            self.trouble()
            self.assertEqual(lines, len(self.logged()))
        self.assertIn('not available yet', self.logged()[0])
        self.assertIn('neutral: cpu: no sample', self.logged()[0])

    def test_what_comes_again(self) -> None:
        """After it was over it is told earlier than if it lasted."""
        self.trouble()
        self.messages.all_is_well()
        self.messages.all_is_well()
        self.assertEqual(2, len(self.logged()))
        self.assertIn('has all its data again', self.logged()[1])
        self.now = log_messages.NEW_SECONDS - 1
        self.trouble()
        self.assertEqual(2, len(self.logged()))
        self.now += 1
        self.trouble()
        self.assertEqual(3, len(self.logged()))

    def test_many(self) -> None:
        names = [f'policy {number}' for number in range(MOST_TROUBLES + 2)]
        self.trouble(*names)
        joined = '; '.join(names[:MOST_TROUBLES])
        self.assertTrue(self.logged()[0].endswith(f'{joined}; and 2 more'))

    def test_a_weighing_that_failed(self) -> None:
        self.messages.fault(None)
        self.assertEqual([], self.logged())
        for self.now in (0, log_messages.REPEAT_SECONDS - 1):
            self.messages.fault(KeyError('host'))
        self.assertIn("neutral: KeyError: 'host'", self.logged()[0])
        self.assertEqual(1, self.log.output.count('A weighing of Kronos'))

    def test_no_scores_yet(self) -> None:
        self.messages.announce(0, None)
        self.assertEqual([], self.logged())
