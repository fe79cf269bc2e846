# SPDX-License-Identifier: Apache-2.0
"""Is what an error says read, whatever its body and its headers are?"""

import email.utils
import time

import requests
import testscenarios
from oslotest import base

from kronos.clients import answers

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


class TestDescribed(base.BaseTestCase):
    def test_what_came(self) -> None:
        """Its kind, and no more of it than that."""
        for value, text in (
            (None, 'null'),
            (True, 'True'),
            (5, '5'),
            (2**64, 'a number of more than 18 digits'),
            ([1, 2], 'a list of 2'),
            ('a\nb', 'the text "a b"'),
            ('x' * 99, f'the text "{"x" * 40}"'),
            ({}, 'an object with nothing'),
            ({'a': 1, 'b': 2}, 'an object with a, b'),
            (
                dict.fromkeys('abcdef'),
                'an object with a, b, c, d, e, ...',
            ),
        ):
            self.assertEqual(text, answers.described(value))

    def test_line(self) -> None:
        """Short, on one line, and without secrets."""
        self.assertEqual(300, len(answers.line_of('x' * 9999)))
        self.assertEqual(
            'at http://***@a/ : no', answers.line_of('at http://u:p@a/\n: no')
        )

    def test_a_body_in_no_encoding(self) -> None:
        response = answer()
        response._content = b'\xff\xfe gone'
        self.assertIn('gone', answers.message_of(response))

    def test_a_body_that_is_far_too_deep(self) -> None:
        response = answer()
        response._content = b'[' * 100_000
        self.assertEqual('[' * 300, answers.message_of(response))
