# SPDX-License-Identifier: Apache-2.0
"""Is it read how long an answer asks to wait, whatever its headers are?"""

import email.utils
import time

import requests
import testscenarios
from oslotest import base

from kronos.common.web import retry_after

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
        self.assertEqual(self.wanted, retry_after.seconds_of(response))


class TestDates(base.BaseTestCase):
    def test_by_our_clock_where_the_server_tells_none(self) -> None:
        for more in ({}, {'Date': 'yesterday'}):
            response = answer(Retry_After=date(time.time() + 3600))
            response.headers.update(more)
            seconds = retry_after.seconds_of(response)
            assert seconds is not None
            self.assertTrue(3000 < seconds <= 3600, seconds)

    def test_an_old_form_without_a_zone_is_in_gmt(self) -> None:
        response = answer(
            Retry_After='Tue Nov 14 22:01:30 2023', Date=date(NOW)
        )
        self.assertEqual(90.0, retry_after.seconds_of(response))
