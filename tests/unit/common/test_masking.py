# SPDX-License-Identifier: Apache-2.0
"""Is no secret left in a text, and the rest as it was?"""

from oslotest import base

from kronos.common import masking


class MaskedTestCase(base.BaseTestCase):
    def test_nothing_secret(self):
        for text in ('', 'one\n  line ', 'mail@c', 'http://a/b@c x'):
            expected = text if '://' not in text else 'http://***@c x'
            self.assertEqual(expected, masking.masked(text))

    def test_user_of_a_url(self):
        self.assertEqual(
            'at https://***@prom:9090/x: no',
            masking.masked('at https://joe:pass@prom:9090/x: no'),
        )

    def test_any_password_of_a_url(self):
        """It may hold what ends a URL's user elsewhere."""
        for password in ('p@ss', 'p/ss', 'p?ss', 'p#s@s/@'):
            self.assertEqual(
                'at http://***@host:9090/x: no',
                masking.masked(f'at http://user:{password}@host:9090/x: no'),
            )

    def test_words_that_are_secret(self):
        self.assertEqual(
            'is disabled (new disks, password=***',
            masking.masked('is disabled (new disks, password=hunter2)'),
        )

    def test_headers(self):
        """As a gateway repeats them."""
        for text, told in {
            'Authorization: Basic dXNlcjpwdw==, Accept: x': (
                'Authorization: ***, Accept: x'
            ),
            '"x-auth-token": "gAAAAA"': '"x-auth-token": "***"',
            'no Bearer eyJhbGciOi.J9 here': 'no Bearer *** here',
            'got bearer abcdefghijkl here': 'got bearer *** here',
            'sent BASIC dXNlcjpwYXNz, no': 'sent BASIC ***, no',
            'basic dXNlcjpwdzE=': 'basic ***',
            'wants basic authentication': 'wants basic authentication',
            'Basic Authentication failed': 'Basic Authentication failed',
            'the token gAAAAABlZ-x_0123456789abcdefghij== is': (
                'the token *** is'
            ),
            'gAAAA is short': 'gAAAA is short',
            '/x?api_key=abc': '/x?api_key=***',
            'cookie=a;b': 'cookie=***;b',
            'bearer_token: its value is bad': 'bearer_token: its value is bad',
            'authorization failed': 'authorization failed',
        }.items():
            self.assertEqual(told, masking.masked(text))

    def test_urls_side_by_side(self):
        self.assertEqual(
            'http://***@a http://b/x, mail@c',
            masking.masked('http://u:p@a http://b/x, mail@c'),
        )

    def test_many_urls(self):
        """Each character is looked at some times, not once for each other."""
        text = '://' * 300_000
        self.assertEqual(text, masking.masked(text))
        self.assertEqual('://***@x', masking.masked(text + '@x'))
