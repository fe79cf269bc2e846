# SPDX-License-Identifier: Apache-2.0
"""Is what an error says read, whatever its body is?"""

import json
from urllib import parse

import requests
import testscenarios
from oslotest import base

from kronos.clients import answers

SCHEMA = "\n\nFailed validating 'x' in schema:\n    {'a': {}}\n\nOn instance"


def answer(**headers: str) -> requests.Response:
    response = requests.Response()
    response.headers.update(
        {name.replace('_', '-'): text for name, text in headers.items()}
    )
    return response


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
            ('{"error_message": "Gone."}', 'Gone.'),
            (
                r'{"error_message": "{\"faultstring\": \"No.\", \"a\": 1}"}',
                'No.',
            ),
            ('{"error_message": "[1]"}', '[1]'),
            (
                r'{"error_message": "{\"faultstring\": 1}"}',
                '{"faultstring": 1}',
            ),
            ('{"error_message": 5}', '{"error_message": 5}'),
            (
                json.dumps({'error_message': f"Bad: 'a' is missing{SCHEMA}"}),
                "Bad: 'a' is missing",
            ),
            (
                json.dumps(
                    {'error_message': f"Bad: 5 is odd{SCHEMA}['a'][0]:\n 5"}
                ),
                'Bad: 5 is odd (in a)',
            ),
            (
                json.dumps(
                    {'error_message': f"{'9' * 999}{SCHEMA}['a']:\n 9"}
                ),
                f'{"9" * 200} (in a)',
            ),
            ('[null]', '[null]'),
            ('<html>\nGone', '<html> Gone'),
            ('', ''),
        )
    ]

    def test_whatever_came(self) -> None:
        response = answer()
        response._content = self.text.encode()
        self.assertEqual(self.wanted, answers.message_of(response))


class TestSecrets(base.BaseTestCase):
    TOKEN = 'gAAAAABnT0ken-of_the+caller/42'

    def test_what_was_sent_is_not_repeated(self) -> None:
        """In whatever form the service writes it."""
        request = requests.Request(
            'GET',
            'http://nova/servers',
            headers={
                'X-Auth-Token': self.TOKEN,
                'Authorization': f'Odd {self.TOKEN[::-1]}',
            },
        ).prepare()
        for token in (self.TOKEN, self.TOKEN[::-1]):
            for text in (
                f'no {token} here',
                f'cut {token[:20]}',
                f'no {parse.quote(token, safe="")} here',
                json.dumps({'error': {'message': f'no {token} here'}}),
                ''.join(f'\\u{ord(letter):04x}' for letter in token),
            ):
                response = answer()
                response.request = request
                response._content = text.encode()
                for line in (
                    answers.message_of(response),
                    answers.start_of(response),
                ):
                    self.assertIn('***', line)
                    self.assertNotIn(token[:8], line)
                    self.assertNotIn(token[8:16], line)


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
