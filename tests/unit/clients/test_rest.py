# SPDX-License-Identifier: Apache-2.0
"""How long is a service that is busy left alone?"""

import email.utils
import time
from typing import Any

import requests
import testscenarios
from oslotest import base

from kronos.clients import answers, rest
from tests.unit.clients.nova import test_client
from tests.unit.clients.nova.test_client import AGGREGATES

NOW = 1699999200.0


def answer(**headers: str) -> requests.Response:
    response = requests.Response()
    response.headers.update(
        {name.replace('_', '-'): text for name, text in headers.items()}
    )
    return response


def date(moment: float) -> str:
    return email.utils.formatdate(moment, usegmt=True)


class TestRetryAfter(testscenarios.WithScenarios, base.BaseTestCase):
    scenarios = [
        ('none', {'headers': {}, 'wanted': None}),
        ('seconds', {'headers': {'Retry-After': '120'}, 'wanted': 120.0}),
        ('zero', {'headers': {'Retry-After': '0'}, 'wanted': 0.0}),
        ('spaces', {'headers': {'Retry-After': ' 7 '}, 'wanted': 7.0}),
        ('a fraction', {'headers': {'Retry-After': '0.5'}, 'wanted': 0.5}),
        (
            "a date by the server's clock",
            {
                'headers': {
                    'Retry-After': date(NOW + 90),
                    'Date': date(NOW),
                },
                'wanted': 90.0,
            },
        ),
        (
            'a date that is past',
            {
                'headers': {
                    'Retry-After': date(NOW - 90),
                    'Date': date(NOW),
                },
                'wanted': 0.0,
            },
        ),
        *(
            (
                f'bad: {text!r}',
                {'headers': {'Retry-After': text}, 'wanted': None},
            )
            for text in (
                '',
                '-5',
                'soon',
                'nan',
                'inf',
                '1e9',
                '0x10',
                '5 minutes',
                'Mon, 99 Foo 2023 25:61:00 GMT',
                '9' * 400,
            )
        ),
    ]

    def test_value(self) -> None:
        response = answer()
        response.headers.update(self.headers)
        self.assertEqual(self.wanted, answers.retry_after_of(response))


class TestMessage(testscenarios.WithScenarios, base.BaseTestCase):
    scenarios = [
        (text, {'text': text, 'wanted': wanted})
        for text, wanted in (
            ('{"conflictingRequest": {"message": "busy"}}', 'busy'),
            ('{"errors": [{"detail": "no room"}]}', 'no room'),
            ('{"errors": ["no healthy upstream"]}', 'no healthy upstream'),
            ('{"errors": 5}', '{"errors": 5}'),
            ('{"errors": {"a": "b"}}', '{"errors": {"a": "b"}}'),
            ('{"error": {"message": null}}', '{"error": {"message": null}}'),
            ('{"error": {"message": {}}}', '{"error": {"message": {}}}'),
            ('[null]', '[null]'),
            ('<html>\nGone', '<html> Gone'),
            ('', ''),
        )
    ]

    def test_whatever_came(self) -> None:
        response = answer()
        response._content = self.text.encode()
        self.assertEqual(self.wanted, answers.message_of(response))


class TestDates(base.BaseTestCase):
    def test_by_our_clock_where_the_server_tells_none(self) -> None:
        for more in ({}, {'Date': 'yesterday'}):
            response = answer(Retry_After=date(time.time() + 3600))
            response.headers.update(more)
            wanted = answers.retry_after_of(response)
            assert wanted is not None
            self.assertTrue(3000 < wanted <= 3600, wanted)

    def test_an_old_form_without_a_zone_is_in_gmt(self) -> None:
        response = answer(
            Retry_After='Tue Nov 14 22:01:30 2023', Date=date(NOW)
        )
        self.assertEqual(90.0, answers.retry_after_of(response))


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
