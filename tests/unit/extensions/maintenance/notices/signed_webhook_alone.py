# SPDX-License-Identifier: Apache-2.0
"""Can a receiver tell what the applier has sent from anything else?"""

import time

from kronos.extensions.maintenance.notices.signed_webhook import Address
from kronos.monitor.sinks.base import Outcome
from tests.unit.extensions.maintenance.notices import hooks
from tests.unit.extensions.maintenance.notices.hooks import KEY, notice
from tests.unit.monitor.certificates import Authority


class TestSignature(hooks.NoticeTestCase):
    def test_authentic(self) -> None:
        receiver = self.receiver()
        hook = self.hook(receiver.url)
        self.assertIs(Outcome.DELIVERED, hook.post(notice().body).outcome)
        moment, signature, body = self.signed(receiver)
        check = hooks.is_authentic()
        self.assertTrue(check(KEY, moment, signature, body))
        self.assertEqual(notice().document(), receiver.bodies[0])
        for wrong in (
            (b'another key of length', moment, signature, body),
            (KEY, str(int(moment) + 1), signature, body),
            (KEY, moment, signature, body.replace(b'h1', b'h2')),
            (KEY, moment, 'sha256=' + '0' * 64, body),
            (KEY, '', signature, body),
        ):
            self.assertFalse(check(*wrong), wrong)

    def test_recorded_long_ago(self) -> None:
        receiver = self.receiver()
        check = hooks.is_authentic()
        for age, is_good in ((290, True), (310, False), (-310, False)):
            hook = self.hook(receiver.url, wall=lambda: time.time() - age)  # noqa: B023
            hook.post(notice().body)
            found = check(KEY, *self.signed(receiver))
            self.assertEqual(is_good, found, age)

    def test_the_key_is_replaced(self) -> None:
        receiver = self.receiver()
        hook = self.hook(receiver.url)
        hook.post(notice().body)
        other = b'another key of length'
        self.key_file.write_bytes(other)
        hook.post(notice().body)
        check = hooks.is_authentic()
        self.assertTrue(check(KEY, *self.signed(receiver, 0)))
        self.assertTrue(check(other, *self.signed(receiver, 1)))
        self.assertFalse(check(KEY, *self.signed(receiver, 1)))

    def test_no_key(self) -> None:
        """Nothing is sent without a signature."""
        receiver = self.receiver()
        hook = self.hook(receiver.url)
        self.key_file.write_bytes(b'short\n')
        result = hook.post(notice().body)
        self.assertIs(Outcome.AWAY, result.outcome)
        self.assertIn('less than 16 bytes', result.text)
        self.assertNotIn('short', result.text)
        self.key_file.unlink()
        result = hook.post(notice().body)
        self.assertIn(f'{self.key_file}: No such file', result.text)
        self.assertEqual([], receiver.raw)


class TestTls(hooks.NoticeTestCase):
    def test_verified(self) -> None:
        good, other = (Authority(self.folder, name) for name in ('a', 'b'))
        receiver = self.receiver(good.issue('server'))
        hook = self.hook(receiver.url, cafile=good.path)
        self.assertIs(Outcome.DELIVERED, hook.post(notice().body).outcome)
        for cafile in (other.path, ''):
            result = self.hook(receiver.url, cafile=cafile).post('{}')
            self.assertIs(Outcome.AWAY, result.outcome)
            self.assertIn('TLS: ', result.text)
        self.assertEqual(1, len(receiver.raw))

    def test_another_name(self) -> None:
        authority = Authority(self.folder)
        receiver = self.receiver(authority.issue('server', '127.0.0.9'))
        hook = self.hook(receiver.url, cafile=authority.path)
        self.assertIn('TLS: ', hook.post('{}').text)
        self.assertEqual([], receiver.raw)


class TestRedirect(hooks.NoticeTestCase):
    def test_not_followed(self) -> None:
        receiver, other = self.receiver(), self.receiver()
        receiver.more = {'Location': other.url}
        receiver.statuses = [302, 307, 308]
        hook = self.hook(receiver.url)
        for _ in range(3):
            result = hook.post(notice().body)
            self.assertIs(Outcome.AWAY, result.outcome)
            self.assertIn('does not follow', result.text)
        self.assertEqual([], other.raw)


class TestFaults(hooks.NoticeTestCase):
    def faults(self, url: str, key_file: str, cafile: str = '') -> str:
        return '; '.join(Address(url, key_file, cafile).faults())

    def test_each(self) -> None:
        key = str(self.key_file)
        self.assertEqual('', self.faults('https://example.org/x', key))
        for url, rest, text in (
            ('http://example.org', (key,), 'maintenance_webhook_url: it is'),
            ('https://u:p@x.org', (key,), 'maintenance_webhook_url: it con'),
            ('https://x.org', ('',), 'maintenance_webhook_key_file: it is u'),
            ('https://x.org', ('/x',), 'key_file: /x: No such file'),
            ('https://x.org', (key, '/y'), 'maintenance_webhook_cafile: /y'),
        ):
            self.assertIn(text, self.faults(url, *rest))
