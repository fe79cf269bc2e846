# SPDX-License-Identifier: Apache-2.0
"""Does the webhook deliver, and say what keeps it from that?"""

import html
import json
import os
from urllib import parse

from kronos.monitor.sinks.base import Outcome
from kronos.monitor.sinks.webhook import Webhook
from tests.unit.monitor.receiver import Receiver
from tests.unit.monitor.sinks import hooks

TOKEN = 'secret-token-123456'


class TestDeliver(hooks.HookTestCase):
    def test_delivered(self) -> None:
        receiver = self.receiver()
        hook = self.hook(receiver.url)
        for _ in range(3):
            result = hook.deliver(hooks.message())
            self.assertIs(Outcome.DELIVERED, result.outcome)
        self.assertEqual(['id'] * 3, receiver.ids)
        self.assertEqual(1, len(receiver.ports), 'one connection')
        self.assertEqual(
            'application/json', receiver.headers[0]['Content-Type']
        )

    def test_each_status(self) -> None:
        receiver = self.receiver()
        receiver.said = b'no \x1b[31m\xff\n' + b'x' * 9999
        hook = self.hook(receiver.url)
        for status, outcome in (
            (200, Outcome.DELIVERED),
            (302, Outcome.AWAY),
            (400, Outcome.LATER),
            (401, Outcome.AWAY),
            (404, Outcome.AWAY),
            (413, Outcome.LATER),
            (429, Outcome.AWAY),
            (500, Outcome.AWAY),
            (503, Outcome.AWAY),
        ):
            receiver.statuses = [status]
            result = hook.deliver(hooks.message())
            self.assertIs(outcome, result.outcome, status)
            if outcome is not Outcome.DELIVERED:
                told = f'HTTP {status}: no ?[31m'
                self.assertTrue(result.text.startswith(told), result.text)
                self.assertLess(len(result.text), 300)

    def test_no_redirect_is_followed(self) -> None:
        """It names the address, without what may be secret in it."""
        receiver, other = self.receiver(), self.receiver()
        hook = self.hook(receiver.url)
        place = other.url.removeprefix('http://').partition('/')[0]
        receiver.more = {'Location': f'http://u:s3cret@{place}/s3cret'}
        for status in (301, 302, 303, 305, 307, 308):
            receiver.statuses = [status]
            result = hook.deliver(hooks.message())
            self.assertIs(Outcome.AWAY, result.outcome)
            self.assertIn(f'redirects to http://{place}, ', result.text)
            self.assertIn('Set url', result.text)
            self.assertNotIn('s3cret', result.text)
        self.assertEqual([], other.headers)

    def test_how_long_it_asks_to_wait(self) -> None:
        receiver = self.receiver()
        receiver.statuses, receiver.more = [503], {'Retry-After': '120'}
        result = self.hook(receiver.url).deliver(hooks.message())
        self.assertEqual(120.0, result.wait)

    def test_nobody_there(self) -> None:
        receiver = Receiver()
        receiver.close()
        result = self.hook(receiver.url).deliver(hooks.message())
        self.assertEqual(
            (
                Outcome.AWAY,
                f'http://127.0.0.1:{receiver.port}: Connection refused',
            ),
            (result.outcome, result.text),
        )

    def test_a_server_that_was_started_anew(self) -> None:
        """The connection that is kept is no good any more."""
        first = Receiver()
        hook = self.hook(first.url)
        hook.deliver(hooks.message())
        first.close()
        again = self.receiver(port=first.port)
        hook.deliver(hooks.message())
        result = hook.deliver(hooks.message())
        self.assertIs(Outcome.DELIVERED, result.outcome)
        self.assertGreater(len(again.bodies), 0)


class TestToken(hooks.HookTestCase):
    def test_it_rotates(self) -> None:
        receiver = self.receiver()
        path = self.folder / 'token'
        hook = self.hook(receiver.url, bearer_token_file=str(path))
        for token in ('first-token', 'second-token'):
            path.write_text(token + '\n')
            hook.deliver(hooks.message())
            self.assertEqual(
                f'Bearer {token}', receiver.headers[-1]['Authorization']
            )

    def test_no_token(self) -> None:
        receiver = self.receiver()
        path = self.folder / 'token'
        hook = self.hook(receiver.url, bearer_token_file=str(path))
        for text, reason in (
            (None, 'No such file'),
            ('', 'it contains no token'),
            ('a\nb', 'it contains no token'),
        ):
            if text is not None:
                path.write_text(text)
            result = hook.deliver(hooks.message())
            self.assertIs(Outcome.AWAY, result.outcome)
            self.assertIn(reason, result.text)
        self.assertEqual([], receiver.headers)

    def test_it_is_shown_nowhere(self) -> None:
        """Also where the answer repeats it."""
        receiver = self.receiver()
        receiver.statuses = [403]
        receiver.said = f'{{"got": "Bearer {TOKEN}", "x": "{TOKEN}"}}'.encode()
        path = self.folder / 'token'
        path.write_text(TOKEN)
        hook = self.hook(receiver.url, bearer_token_file=str(path))
        result = hook.deliver(hooks.message())
        self.assertNotIn(TOKEN, result.text)
        self.assertIn('***', result.text)


class TestUrl(hooks.HookTestCase):
    """A webhook's URL is a secret, such as a chat's."""

    PATH = '/services/T024BE7LDXoZ9aPqY7/k%2B%C3%A9y=%41b'
    QUERY = 'key=Sesam%20oeffne-dich&v=1'
    PIECES = ('T024BE7LDXoZ9aPqY7', 'k+\u00e9y=Ab', 'Sesam oeffne-dich')

    def forms(self) -> list[str]:
        plain = [f'{self.PATH}?{self.QUERY}', self.QUERY, *self.PIECES]
        plain += [parse.unquote(form) for form in plain]
        forms = [*plain, json.dumps(json.dumps(plain))]
        forms += [parse.quote(form, safe='') for form in plain]
        forms += [html.escape(form) for form in plain]
        forms += [
            html.escape(json.dumps(plain)).lower(),
            json.dumps(plain).replace('/', r'\/').upper(),
            json.dumps(self.PATH.split('/')),
            json.dumps(parse.parse_qs(self.QUERY)),
            ''.join(f'&#{ord(letter)};' for letter in self.PIECES[0]),
            ''.join(f'\\x{ord(letter):02x}' for letter in self.PIECES[0]),
            f'no such path: {self.PATH[:20]}...',
        ]
        return forms

    def test_no_answer_brings_it_into_the_log(self) -> None:
        receiver = self.receiver()
        port = receiver.port
        url = f'http://127.0.0.1:{port}{self.PATH}?{self.QUERY}'
        hook = self.hook(url)
        secrets = {
            piece[first : first + 6].lower()
            for piece in (
                *self.PIECES,
                *map(parse.quote, self.PIECES),
                *(json.dumps(piece)[1:-1] for piece in self.PIECES),
            )
            for first in range(len(piece) - 5)
        }
        for form in self.forms():
            receiver.statuses = [404]
            receiver.said = f'{{"path": "{form}", "status": 404}}'.encode()
            text = hook.deliver(hooks.message()).text
            self.assertIn('***', text, form)
            shown = [secret for secret in secrets if secret in text.lower()]
            self.assertEqual([], shown, f'{form}: {text}')

    def test_what_is_no_secret_stays(self) -> None:
        receiver = self.receiver()
        receiver.statuses = [503]
        receiver.said = b'{"error": "the queue is full", "retry": 30}'
        text = self.hook(receiver.url).deliver(hooks.message()).text
        self.assertIn('the queue is full', text)


class TestCheck(hooks.HookTestCase):
    def test_nothing_is_posted(self) -> None:
        receiver = self.receiver()
        hook = self.hook(receiver.url)
        for status in (200, 204, 400, 405, 415, 501):
            receiver.statuses = [status]
            self.assertEqual('', hook.check('node1'))
        self.assertEqual([], receiver.bodies)

    def test_where_no_message_is_taken(self) -> None:
        receiver = self.receiver()
        receiver.said = b'nothing at /hook'
        hook = self.hook(receiver.url)
        for status in (301, 401, 403, 404, 407, 500, 502, 503):
            receiver.statuses = [status]
            self.assertIn(
                f'OPTIONS: HTTP {status}: nothing at ***; the receiver would',
                hook.check('node1'),
            )

    def test_nobody_there(self) -> None:
        receiver = Receiver()
        receiver.close()
        self.assertIn('refused', self.hook(receiver.url).check('node1'))


class TestPipes(hooks.HookTestCase):
    def test_nobody_waits_for_a_writer(self) -> None:
        pipe = self.folder / 'pipe'
        os.mkfifo(pipe)
        receiver = self.receiver()
        for name in ('bearer_token_file', 'cafile'):
            faults = Webhook.faults(
                hooks.options(receiver.url, **{name: str(pipe)})
            )
            self.assertEqual(
                [f'{name}: {pipe} cannot be read: it is no plain file'], faults
            )
        hook = self.hook(receiver.url, bearer_token_file=str(pipe))
        self.assertIn('it is no plain file', hook.check('node1'))
        hook = self.hook(
            receiver.url.replace('http:', 'https:'), cafile=str(pipe)
        )
        self.assertIn('it is no plain file', hook.check('node1'))


class TestFaults(hooks.HookTestCase):
    def test_each(self) -> None:
        there = self.folder / 'there'
        there.touch()
        for more, faults in (
            ({}, []),
            ({'url': 'http://h:80/x', 'insecure': True}, []),
            ({'url': 'http://h'}, ['url: it is http://']),
            ({'url': None}, ['url: it must be https://HOST']),
            ({'url': 'ftp://h'}, ['url: it must be https://HOST']),
            ({'url': 'https://[x'}, ['url: it must be https://HOST']),
            ({'url': 'https://h:999999'}, ['url: it must be https://HOST']),
            ({'url': 'https://u:p@h'}, ['url: it contains a user']),
            ({'url': 'https://h/a b'}, ['url: it contains a character']),
            (
                {'cafile': '/no/ca', 'bearer_token_file': '/no/token'},
                ['cafile: /no/ca cannot', 'bearer_token_file: /no/token'],
            ),
            ({'keyfile': str(there)}, ['keyfile: is set, but certfile']),
        ):
            found = Webhook.faults(
                {**hooks.options('https://h/x', insecure=False), **more}
            )
            self.assertEqual(len(faults), len(found), found)
            for wanted, told in zip(faults, found, strict=True):
                self.assertTrue(told.startswith(wanted), told)
                self.assertNotIn('u:p', told)


class TestBody(hooks.HookTestCase):
    def test_it_is_the_message(self) -> None:
        receiver = self.receiver()
        self.hook(receiver.url).deliver(hooks.message())
        self.assertEqual(
            json.loads(hooks.messages.text_of(hooks.message())),
            receiver.bodies[0],
        )
