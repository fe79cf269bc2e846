# SPDX-License-Identifier: Apache-2.0
"""Do broker and webhook hear of a change, and never hold it up?"""

import logging
import time
import types
from collections.abc import Callable
from typing import Any

import fixtures

from kronos.actions.core import notifier
from kronos.common import exceptions
from kronos.engine.types import ComputeService
from kronos.extensions.maintenance.notices import announcements
from kronos.extensions.maintenance.notices.announcements import Announcer
from tests.unit.extensions.maintenance.notices import hooks
from tests.unit.extensions.maintenance.notices.hooks import notice
from tests.unit.monitor.certificates import Authority
from tests.unit.monitor.receiver import Receiver

MORE = {'action_uuid': 'a', 'action_plan_uuid': 'p'}


class AnnouncerTestCase(hooks.NoticeTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.addCleanup(self.forget)
        self.told: list[notifier.Notice] = []
        self.services: dict[str, ComputeService] = {}
        self.asked = 0
        self.fault: Exception | None = None

    def forget(self) -> None:
        """As if the applier ended."""
        own = announcements._own
        if own.outbox is not None:
            own.outbox.close()
        own.forget()
        own.fault = ''

    def secure(self) -> tuple[Receiver, str]:
        authority = Authority(self.folder)
        receiver = self.receiver(authority.issue('server'))
        return receiver, authority.path

    def list_services(self) -> dict[str, ComputeService]:
        self.asked += 1
        if self.fault:
            raise self.fault
        return self.services

    def announcer(
        self,
        url: str = '',
        cafile: str = '',
        notify: bool = False,
        send: Callable[[notifier.Notice], None] | None = None,
        **more: Any,
    ) -> Announcer:
        options = {
            'notify': notify,
            'maintenance_webhook_url': url or None,
            'maintenance_webhook_key_file': str(self.key_file),
            'maintenance_webhook_cafile': cafile or None,
            'maintenance_webhook_timeout': 10.0,
            'maintenance_outbox_file': str(self.folder / 'outbox.db'),
            **more,
        }
        conf = types.SimpleNamespace(kronos=types.SimpleNamespace(**options))
        send = send or self.told.append
        return Announcer(conf, self.list_services, MORE, send)


class TestNotifications(AnnouncerTestCase):
    def test_payload(self) -> None:
        self.announcer(notify=True).announce(notice())
        (told,) = self.told
        self.assertEqual('kronos.results.alpha', told.topic)
        self.assertEqual('maintenance.handed_over', told.event_type)
        self.assertEqual('info', told.priority)
        fields = {**notice().document(), **MORE, 'version': '1.0'}
        del fields['schema']
        rest = told.payload.keys() - fields.keys()
        self.assertEqual({'kronos_version'}, rest)
        self.assertEqual(fields, {key: told.payload[key] for key in fields})

    def test_each_field_is_on_the_page(self) -> None:
        self.announcer(notify=True).announce(notice())
        text = hooks.PAGE.read_text().partition('Maintenance runs\n====')[2]
        for name in self.told[0].payload:
            self.assertIn(f'``{name}``', text)

    def test_off(self) -> None:
        announcer = self.announcer()
        announcer.begin()
        announcer.announce(notice())
        self.assertEqual([], self.told)
        self.assertEqual(0, self.asked)

    def test_a_broker_that_fails(self) -> None:
        def fail(_: notifier.Notice) -> None:
            raise RuntimeError

        self.announcer(notify=True, send=fail).announce(notice())
        self.assertIn('was not sent', self.log.output)


class TestWebhook(AnnouncerTestCase):
    def test_delivered(self) -> None:
        """By one outbox of the process."""
        receiver, cafile = self.secure()
        for event in ('h1', 'h2'):
            announcer = self.announcer(receiver.url, cafile)
            announcer.begin()
            announcer.announce(notice(host=event))
        until = time.monotonic() + 30
        while len(receiver.bodies) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        expected = [notice(host='h1').id, notice(host='h2').id]
        self.assertEqual(expected, receiver.ids)
        self.assertEqual(1, self.asked)

    def test_bad_options(self) -> None:
        """Told once; the action goes on."""
        for _ in range(2):
            announcer = self.announcer('http://127.0.0.1:1/s3cret')
            announcer.begin()
            announcer.announce(notice())
        self.assertEqual(1, self.log.output.count('cannot be used'))
        self.assertIn('maintenance_webhook_url: it is', self.log.output)
        self.assertNotIn('s3cret', self.log.output)

    def test_no_folder(self) -> None:
        announcer = self.announcer(
            'https://127.0.0.1:1/x', maintenance_outbox_file='/nowhere/x.db'
        )
        announcer.announce(notice())
        self.assertIn('/nowhere must exist', self.log.output)

    def test_nova_is_away_for_a_while(self) -> None:
        receiver, cafile = self.secure()
        self.fault = exceptions.NovaClientError(reason='503')
        announcer = self.announcer(receiver.url, cafile)
        announcer.begin()
        self.assertIn('503', self.log.output)
        self.fault = None
        announcer.begin()
        self.assertIsNotNone(announcements._own.outbox)
