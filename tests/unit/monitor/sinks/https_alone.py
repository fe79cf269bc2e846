# SPDX-License-Identifier: Apache-2.0
"""Does TLS refuse who it should, and does every answer come to an end?"""

import pathlib

from kronos.monitor.sinks.base import Outcome
from tests.unit.monitor.certificates import Authority
from tests.unit.monitor.sinks import hooks

DONE = b'HTTP/1.1 204 No Content\r\n\r\n'
HEAD = b'HTTP/1.1 200 OK\r\n'


class TestMutualTls(hooks.HookTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.authority = Authority(self.folder)
        self.server = self.authority.issue('server')
        self.client = self.authority.issue('client')

    def result(self, **more: str | None) -> tuple[Outcome, str]:
        given = {
            'cafile': self.authority.path,
            'certfile': self.client[0],
            'keyfile': self.client[1],
            **more,
        }
        receiver = self.receiver(self.server, self.authority.path)
        result = self.hook(receiver.url, **given).deliver(hooks.message())
        wanted = ['id'] if result.outcome is Outcome.DELIVERED else []
        self.assertEqual(wanted, receiver.ids)
        return result.outcome, result.text

    def test_good(self) -> None:
        self.assertEqual((Outcome.DELIVERED, ''), self.result())

    def test_a_wrong_authority(self) -> None:
        other = Authority(self.folder, 'other')
        outcome, text = self.result(cafile=other.path)
        self.assertIs(Outcome.AWAY, outcome)
        self.assertIn('TLS: self-signed certificate in certificate', text)

    def test_the_systems_authorities(self) -> None:
        outcome, text = self.result(cafile=None)
        self.assertIs(Outcome.AWAY, outcome)
        self.assertIn('TLS: ', text)

    def test_a_wrong_name(self) -> None:
        self.server = self.authority.issue('server', host='example.org')
        outcome, text = self.result()
        self.assertIs(Outcome.AWAY, outcome)
        self.assertIn("certificate is not valid for '127.0.0.1'", text)

    def test_expired(self) -> None:
        self.server = self.authority.issue('server', expired=True)
        outcome, text = self.result()
        self.assertIs(Outcome.AWAY, outcome)
        self.assertIn('TLS: certificate has expired', text)

    def test_no_client_certificate(self) -> None:
        outcome, _ = self.result(certfile=None, keyfile=None)
        self.assertIs(Outcome.AWAY, outcome)

    def test_a_client_certificate_of_others(self) -> None:
        other = Authority(self.folder, 'other').issue('stranger')
        outcome, _ = self.result(certfile=other[0], keyfile=other[1])
        self.assertIs(Outcome.AWAY, outcome)

    def test_files_that_are_none(self) -> None:
        bad = self.folder / 'bad'
        bad.write_text('no certificate')
        for name in ('cafile', 'certfile', 'keyfile'):
            outcome, text = self.result(**{name: str(bad)})
            self.assertIs(Outcome.AWAY, outcome, name)
            self.assertIn('TLS: ', text)


class TestRotation(hooks.HookTestCase):
    """Nothing is started anew, and what was wrong is mended."""

    def test_all_of_it(self) -> None:
        old = Authority(self.folder, 'old')
        receiver = self.receiver(old.issue('server'), old.path)
        client = old.issue('client')
        hook = self.hook(
            receiver.url,
            cafile=old.path,
            certfile=client[0],
            keyfile=client[1],
        )

        def delivers() -> bool:
            outcome = hook.deliver(hooks.message()).outcome
            return outcome is Outcome.DELIVERED

        self.assertTrue(delivers())
        # The client's expires, and is renewed.
        old.issue('client', expired=True)
        self.assertFalse(delivers())
        old.issue('client')
        self.assertTrue(delivers())
        # Another authority for all.
        new = Authority(self.folder, 'new')
        again = self.receiver(new.issue('server'), new.path)
        hook = self.hook(
            again.url, cafile=old.path, certfile=client[0], keyfile=client[1]
        )
        self.assertFalse(delivers())
        new.issue('client')
        pathlib.Path(new.path).replace(old.path)
        self.assertTrue(delivers())
        self.assertEqual(['id'], again.ids)

    def test_the_servers(self) -> None:
        authority = Authority(self.folder)
        receiver = self.receiver(authority.issue('s', host='example.org'))
        hook = self.hook(receiver.url, cafile=authority.path)
        self.assertIs(Outcome.AWAY, hook.deliver(hooks.message()).outcome)
        receiver.rotate(authority.issue('s'))
        self.assertIs(Outcome.DELIVERED, hook.deliver(hooks.message()).outcome)


class TestEndless(hooks.HookTestCase):
    def outcome(self, first: bytes, then: bytes) -> tuple[Outcome, str]:
        babbler = self.babbler(first, then)
        result = self.hook(babbler.url, timeout=0.5).deliver(hooks.message())
        return result.outcome, result.text

    def test_each(self) -> None:
        for first, then in (
            (b'', b''),
            (b'', b'x'),
            (HEAD, b'a: b\r\n'),
            (HEAD + b'a: ', b'b'),
            (b'', b'HTTP/1.1 100 Continue\r\n\r\n'),
            (b'HTTP/1.1 200 OK', b' '),
            (b'\x00\xff' * 99, b'\n'),
        ):
            outcome, text = self.outcome(first, then)
            self.assertIs(Outcome.AWAY, outcome, first)
            self.assertNotEqual('', text)

    def test_a_body_changes_nothing(self) -> None:
        """Its status says that the message was taken."""
        for head in (b'', b'Content-Length: 999999999\r\n'):
            outcome, _ = self.outcome(HEAD + head + b'\r\n', b'x' * 999)
            self.assertIs(Outcome.DELIVERED, outcome)

    def test_a_connection_that_is_not_kept(self) -> None:
        outcome, _ = self.outcome(DONE, b'')
        self.assertIs(Outcome.DELIVERED, outcome)
