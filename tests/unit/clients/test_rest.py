# SPDX-License-Identifier: Apache-2.0
"""How long is a service that is busy left alone?"""

from typing import Any

from kronos.clients import rest
from tests.unit.clients.nova import test_client
from tests.unit.clients.nova.test_client import AGGREGATES


class TestPatience(test_client.NovaTestCase):
    def answers(self, *items: Any) -> None:
        self.wire.get(
            AGGREGATES,
            [
                {'status_code': status, 'headers': {'Retry-After': after}}
                for status, after in items
            ]
            + [{'json': {'aggregates': []}}],
        )

    def test_reads_wait_as_long_as_they_are_asked_to(self) -> None:
        self.answers((503, '10'), (429, '1'), (503, 'soon'))
        self.assertEqual([], self.nova.list_aggregates())
        self.assertEqual([10, 2, 4], self.slept)

    def test_at_the_limit(self) -> None:
        self.answers((503, str(int(rest.PATIENCE))))
        self.assertEqual([], self.nova.list_aggregates())
        self.assertEqual([rest.PATIENCE], self.slept)

    def test_a_long_wait_is_left_to_the_caller(self) -> None:
        self.answers((503, '1'), (429, '31'))
        error = self.fails(self.nova.list_aggregates)
        self.assertEqual(31.0, error.kwargs['retry_after'])
        self.assertEqual(429, error.kwargs['status'])
        self.assertTrue(error.kwargs['transient'])
        self.assertEqual([1], self.slept)

    def test_every_status_that_may_pass(self) -> None:
        self.answers(*((status, '') for status in (500, 502, 504)))
        self.assertEqual([], self.nova.list_aggregates())
        self.assertEqual([1, 2, 4], self.slept)

    def test_every_error_tells(self) -> None:
        self.wire.get(AGGREGATES, status_code=400)
        error = self.fails(self.nova.list_aggregates)
        self.assertEqual(
            {'status', 'transient', 'sent', 'retry_after', 'reason'},
            set(error.kwargs),
        )
        self.assertIsNone(error.kwargs['retry_after'])
        self.assertEqual(
            dict.fromkeys(('status', 'sent', 'retry_after'))
            | {'transient': False},
            rest.facts(),
        )
