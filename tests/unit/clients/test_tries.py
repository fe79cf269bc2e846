# SPDX-License-Identifier: Apache-2.0
"""How often is a request tried, after which waits, and what is logged?"""

import fixtures
from oslotest import base

from kronos.clients.tries import Tries


class Away(Exception):
    def __init__(self, wait: float = 0.0) -> None:
        super().__init__('HTTP 503')
        self.wait = wait


class TestTries(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.waits: list[float] = []
        self.log = self.useFixture(fixtures.FakeLogger('kronos.clients'))
        self.tries = Tries(
            3,
            1.0,
            30.0,
            asked_wait=lambda error: getattr(error, 'wait', 0.0),
            described=lambda error: f'Nova: {error}',
            sleep=self.waits.append,
        )

    def run_with(self, *outcomes: Exception | None) -> None:
        following = iter(outcomes)

        def request(name: str) -> str:
            if error := next(following):
                raise error
            return name

        result = self.tries.run(
            lambda error: isinstance(error, Away), request, 'servers'
        )
        self.assertEqual('servers', result)

    def test_waits(self) -> None:
        """Doubled, never shorter than asked for, and bounded."""
        self.run_with(Away(), Away(), Away(), None)
        self.assertEqual([1.0, 2.0, 4.0], self.waits)
        self.run_with(Away(7.0), Away(99.0), None)
        self.assertEqual([7.0, 30.0], self.waits[3:])

    def test_what_is_raised(self) -> None:
        """The last error; what is not worth it is not tried again."""
        self.assertRaises(Away, self.run_with, *[Away()] * 4)
        self.assertEqual(3, len(self.waits))
        self.assertRaises(ValueError, self.run_with, ValueError())
        self.assertEqual(3, len(self.waits))

    def test_logged_once(self) -> None:
        """That it is away, however often it is asked, and that it is back."""
        self.assertRaises(Away, self.run_with, *[Away()] * 4)
        self.assertRaises(Away, self.run_with, *[Away()] * 4)
        self.tries.succeeded()
        self.tries.succeeded()
        self.assertEqual(
            [
                'Nova: HTTP 503; trying again',
                'The service answers again, after: Nova: HTTP 503',
            ],
            self.log.output.splitlines(),
        )
