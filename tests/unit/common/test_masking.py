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
        for text, masked in {
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
            'got eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl!': 'got ***!',
            '/x?api_key=abc': '/x?api_key=***',
            'cookie=a;b': 'cookie=***;b',
            'bearer_token: its value is bad': 'bearer_token: its value is bad',
            'authorization failed': 'authorization failed',
        }.items():
            self.assertEqual(masked, masking.masked(text))

    def test_credentials_without_a_header(self):
        token = 'gAAAAABnSecretOfKeystone0123456789_-=='
        for text, masked in {
            'bearer dGhpc2lz0K': 'bearer ***',
            'BEARER abcDefgh': 'BEARER ***',
            'basic dXNlcjpwdw==': 'basic ***',
            'Basic authentication': 'Basic authentication',
            f'token {token} is old': 'token *** is old',
        }.items():
            self.assertEqual(masked, masking.masked(text))

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


class TestSecrets(base.BaseTestCase):
    def test_no_secrets(self):
        self.assertEqual('a %41 b', masking.Secrets().masked('a %41 b'))
        self.assertEqual('a b', masking.Secrets(['', 'a']).masked('a b'))

    def test_each_occurrence(self):
        secrets = masking.Secrets(['hunter2', 'hunter2-and-more'])
        self.assertEqual(
            'x***y***z *** HUN',
            secrets.masked('xhunter2yHUNTER2-and-morez hunter%32 HUN'),
        )

    def test_what_looks_like_an_escape(self):
        for secret in ('ab%41cd', 'a\\u0041b', '100%25', 'a&lt;b', '%%%'):
            secrets = masking.Secrets([secret])
            self.assertEqual('x *** y', secrets.masked(f'x {secret} y'))

    def test_other_secrets_too(self):
        self.assertEqual(
            '*** password=***',
            masking.Secrets(['hunter2']).masked('hunter2 password=x'),
        )

    def test_it_ends(self):
        """Each character is looked at some times, not once for each other."""
        secrets = masking.Secrets(['a' * 16_000, 'a' * 8000 + 'b'])
        self.assertEqual('***', secrets.masked('a' * 50_000))
        secrets.masked('%25' * 50_000)

    def test_pieces_of_a_url(self):
        self.assertEqual(
            {
                *('path', 'p%40th', 'p@th', 'val-ue', 'user', 'w%6frd'),
                *('word', '/path/p%40th/x', '/path/p@th/x', 'fragment'),
                'key=val-ue&v=1',
            },
            {
                *masking.pieces_of_url(
                    'https://user:w%6frd@h/path/p%40th/x?key=val-ue&v=1'
                    '#fragment'
                )
            },
        )
