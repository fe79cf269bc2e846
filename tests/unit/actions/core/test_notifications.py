# SPDX-License-Identifier: Apache-2.0
"""What a listener hears of the moves."""

import importlib.metadata
import json
import re

from oslotest import base

from kronos.actions.core import notifications, notifier
from kronos.common import exceptions
from kronos.engine import types
from tests import places
from tests.unit.actions.live import listening

PAGE = places.TOP / 'doc/source/notifications.rst'
FACTS = {
    'instance_uuid': '5a3c0b1e-8f0f-4a53-9d2b-6a1b6f0e3d11',
    'instance_name': 'web-1',
    'scope': 'alpha',
    'phase': 'spread',
    'source': 'cmp1',
    'destination': 'cmp4',
    'action_uuid': '0c9be1de-31a5-4d57-b9f3-2f4a6a0f6a52',
    'action_plan_uuid': 'c3b1f0a2-7a0d-4b8e-8a55-3d8f7f1f6b7c',
    'audit_uuid': '9f7f6f0a-2f43-4c0c-9a52-1d6a3e5b8c90',
}
REQUEST = 'req-2f0d4c0e-4c55-4c36-9a7e-5a4f1f6f2d33'
RECORD = {
    'request_id': REQUEST,
    'migration_uuid': 'e1b7c2d4-64b2-4f0a-8f57-7c2b0a9d5e44',
    'status': 'error',
    'queued_seconds': 1.2,
    'running_seconds': 41.7,
    'total_seconds': 42.9,
    'memory_bytes': 1073741824,
    'disk_bytes': 0,
}


class TestNotices(listening.NoticesTestCase):
    def notices(self, conf=None, **facts):
        conf = conf or self.conf
        return notifications.Notices(
            notifications.Facts(**{**FACTS, **facts}),
            conf,
            notifier.Notifier(conf).send,
        )

    def test_a_move_that_fails_once_and_then_arrives(self):
        listener = self.listen()
        told = self.notices()
        record = notifications.Record(**RECORD)
        error = exceptions.NovaClientError(reason='503 Service Unavailable')
        told.started(request_id=REQUEST, retry_count=0)
        told.failed(record=record, error=error, retry_count=0, final=False)
        told.started(request_id='req-2', retry_count=1)
        told.completed(record=record, retry_count=1, remark='one odd thing')
        heard = listener.wait_for(4)
        self.assertEqual(
            {
                ('info', 'migration.started', 0, False, None, ''),
                ('info', 'migration.started', 1, False, None, ''),
                (
                    'info',
                    'migration.completed',
                    1,
                    True,
                    None,
                    'one odd thing',
                ),
                (
                    'warn',
                    'migration.failed',
                    0,
                    False,
                    'NovaClientError',
                    'Nova: 503 Service Unavailable',
                ),
            },
            {
                (
                    priority,
                    event,
                    payload['retry_count'],
                    payload['final'],
                    payload['error_type'],
                    payload['message'],
                )
                for priority, _publisher, event, payload in heard
            },
        )
        self.assertEqual({'kronos.controller'}, {one[1] for one in heard})

    def test_the_documented_payload(self):
        [example] = re.findall(
            r'code-block:: json\n\n((?: {3}.*\n)+)', PAGE.read_text()
        )
        listener = self.listen()
        self.notices().failed(
            record=notifications.Record(**RECORD),
            error=exceptions.MigrationFailed(
                reason='migration e1b7c2d4-64b2-4f0a-8f57-7c2b0a9d5e44 is '
                'error'
            ),
            retry_count=0,
            final=True,
        )
        [(priority, _publisher, event, payload)] = listener.wait_for(1)
        self.assertEqual(('error', 'migration.failed'), (priority, event))
        version = importlib.metadata.version('kronos-watcher')
        self.assertEqual(version, payload.pop('kronos_version'))
        expected = json.loads(example)
        expected.pop('kronos_version')
        self.assertEqual(expected, payload)

    def test_every_field_is_documented(self):
        page = PAGE.read_text()
        listener = self.listen()
        self.notices().started(request_id=REQUEST, retry_count=0)
        [(_priority, _publisher, _event, payload)] = listener.wait_for(1)
        for name in payload:
            self.assertIn(f'``{name}``', page)
        self.assertIn(f'``version`` is ``{payload["version"]}``', page)

    def test_what_is_not_known_is_null(self):
        listener = self.listen()
        self.notices().started(request_id=REQUEST, retry_count=0)
        [(_priority, _publisher, _event, payload)] = listener.wait_for(1)
        self.assertEqual(REQUEST, payload['request_id'])
        for name in RECORD:
            if name != 'request_id':
                self.assertIsNone(payload[name], name)

    def test_no_password(self):
        listener = self.listen()
        self.notices().failed(
            record=notifications.Record(),
            error=exceptions.NovaClientError(
                reason='http://admin:secret@nova/ is away'
            ),
            retry_count=0,
            final=True,
        )
        [(_priority, _publisher, _event, payload)] = listener.wait_for(1)
        self.assertEqual('Nova: http://***@nova/ is away', payload['message'])

    def test_a_record_that_goes_on_changing(self):
        """A notice tells what was so when it was given."""
        listener = self.listen()
        record = notifications.Record(**RECORD)
        told = self.notices()
        told.completed(record=record, retry_count=0)
        record.status = 'changed'
        [(_priority, _publisher, _event, payload)] = listener.wait_for(1)
        self.assertEqual('error', payload['status'])

    def test_off_unless_wanted(self):
        sent = []
        told = notifications.Notices(
            notifications.Facts(**FACTS),
            listening.configuration(notify=False),
            sent.append,
        )
        told.started(request_id=REQUEST, retry_count=0)
        told.completed(record=notifications.Record(), retry_count=0)
        told.failed(
            record=notifications.Record(),
            error=ValueError('no'),
            retry_count=0,
            final=True,
        )
        self.assertEqual([], sent)

    def test_a_sender_that_fails(self):
        """It is logged; the migration goes on."""

        def send(notice):
            raise RuntimeError('no thread')

        told = notifications.Notices(
            notifications.Facts(**FACTS), self.conf, send
        )
        told.started(request_id=REQUEST, retry_count=0)
        self.assertIn('migration.started', self.log.output)


class TestTopics(base.BaseTestCase):
    def test_plain_names_stand_for_themselves(self):
        for name in ('alpha', 'AZ_1-b', types.UNASSIGNED, 'x' * 200):
            self.assertEqual(
                f'kronos.results.{name}', notifications.topic_of(name)
            )

    def test_other_names_are_safe_and_stay_apart(self):
        """For RabbitMQ (255 bytes, dots and #) and Kafka (249 bytes)."""
        names = [
            'rack 1',
            'rack_1',
            'rack.1',
            'rack  1',
            'rack/1',
            '#',
            '*',
            '機架',
            '機器',
            'ü' * 255,
            'x' * 255,
            'x' * 254,
            '',
        ]
        topics = {notifications.topic_of(name) for name in names}
        self.assertEqual(len(names), len(topics))
        for topic in topics:
            self.assertRegex(topic, r'^kronos\.results\.[A-Za-z0-9_-]*$')
            self.assertLessEqual(len(topic) + len('.critical'), 249)

    def test_the_documented_topic(self):
        self.assertIn(
            'the topic for the aggregate ``rack 1`` is\n'
            f'``{notifications.topic_of("rack 1")}``',
            PAGE.read_text(),
        )
