# SPDX-License-Identifier: Apache-2.0
"""Does Masakari get its notifications, and what becomes of its answers?"""

import datetime
import shlex
from typing import Any

from kronos.common import plain_text
from kronos.monitor.events import Kind
from kronos.monitor.sinks.base import Outcome
from kronos.monitor.sinks.masakari import Masakari
from tests.builders.hostile_names import HOSTILE
from tests.unit.monitor.sinks import cloud as clouds
from tests.unit.monitor.sinks import services
from tests.unit.monitor.sinks.cloud import Cloud

AT = datetime.datetime(2026, 11, 23, 20, 0, 1, 500000, datetime.UTC)


class MasakariTestCase(services.ServiceTestCase):
    def sink(self, cloud: Cloud, **more: Any) -> Masakari:
        options = services.options('masakari', cloud.url, **more)
        made = Masakari('masakari', options)
        self.addCleanup(made.close)
        return made


class TestDeliver(MasakariTestCase):
    def test_a_notification(self) -> None:
        cloud = self.cloud()
        sink = self.sink(cloud)
        for _ in range(3):
            result = sink.deliver(services.message(seen=AT))
            self.assertIs(Outcome.DELIVERED, result.outcome, result.text)
        self.assertEqual(
            [
                {
                    'type': 'VM',
                    'hostname': 'node1',
                    'generated_time': '2026-11-23T20:00:01.500000',
                    'payload': {
                        'event': 'LIFECYCLE',
                        'instance_uuid': services.message().instance.uuid,
                        'vir_domain_event': 'STOPPED_FAILED',
                    },
                }
            ]
            * 3,
            cloud.notifications,
        )
        self.assertEqual(1, cloud.logins)

    def test_each_kind(self) -> None:
        """Those that a restart may help, by default."""
        cloud = self.cloud()
        sink = self.sink(cloud)
        for kind in Kind:
            sink.deliver(services.message(kind=kind))
        self.assertEqual(6, len(cloud.notifications))
        unwanted = sink.deliver(services.message(kind=Kind.MEMORY_ERROR))
        self.assertIs(Outcome.UNWANTED, unwanted.outcome)

    def test_an_event_map(self) -> None:
        cloud = self.cloud()
        sink = self.sink(
            cloud, event_map={'io_error': 'IO_ERROR/IO_ERROR_REPORT'}
        )
        sink.deliver(services.message(kind=Kind.CRASH))
        sink.deliver(services.message(kind=Kind.IO_ERROR))
        (one,) = cloud.notifications
        self.assertEqual('IO_ERROR', one['payload']['event'])
        self.assertEqual('IO_ERROR_REPORT', one['payload']['vir_domain_event'])

    def test_each_status(self) -> None:
        cloud = self.cloud()
        sink = self.sink(cloud)
        for status, text, outcome, told in (
            (409, clouds.DUPLICATE, Outcome.DELIVERED, ''),
            (409, clouds.CLOSED, Outcome.REFUSED, 'segment host update'),
            (409, 'something else', Outcome.LATER, 'something else'),
            (400, clouds.UNKNOWN, Outcome.REFUSED, 'segment host create'),
            (400, 'Additional properties', Outcome.REFUSED, 'properties'),
            (401, 'no', Outcome.AWAY, 'HTTP 401'),
            (403, 'Policy', Outcome.AWAY, 'HTTP 403'),
            (404, 'no page', Outcome.AWAY, 'HTTP 404'),
            (413, 'too long', Outcome.AWAY, 'HTTP 413'),
            (429, 'slowly', Outcome.AWAY, 'HTTP 429'),
            (500, 'broken', Outcome.AWAY, 'HTTP 500'),
            (503, 'later', Outcome.AWAY, 'HTTP 503'),
        ):
            cloud.errors = [(status, text)]
            result = sink.deliver(services.message())
            self.assertIs(outcome, result.outcome, text)
            self.assertIn(told, result.text)
            after = sink.deliver(services.message())
            self.assertIs(Outcome.DELIVERED, after.outcome, text)

    def test_how_long_it_asks_to_wait(self) -> None:
        cloud = self.cloud()
        cloud.errors, cloud.more = [(503, '')], {'Retry-After': '70'}
        result = self.sink(cloud).deliver(services.message())
        self.assertEqual(70.0, result.wait)

    def test_a_token_that_ends(self) -> None:
        cloud = self.cloud()
        sink = self.sink(cloud)
        sink.deliver(services.message())
        cloud.tokens.clear()
        self.assertIs(Outcome.AWAY, sink.deliver(services.message()).outcome)
        self.assertIs(
            Outcome.DELIVERED, sink.deliver(services.message()).outcome
        )
        self.assertEqual(2, cloud.logins)

    def test_gone_and_back(self) -> None:
        cloud = self.cloud()
        sink = self.sink(cloud)
        sink.deliver(services.message())
        cloud.close()
        result = sink.deliver(services.message())
        self.assertIs(Outcome.AWAY, result.outcome)
        again = self.cloud(port=cloud.port)
        again.tokens = cloud.tokens
        result = sink.deliver(services.message())
        self.assertIs(Outcome.DELIVERED, result.outcome, result.text)


class TestCheck(MasakariTestCase):
    def test_good(self) -> None:
        cloud = self.cloud()
        self.assertEqual('', self.sink(cloud).check('node1'))
        self.assertEqual([], cloud.notifications)

    def test_no_segment(self) -> None:
        cloud = self.cloud()
        cloud.segments = {'a': [], 'b': []}
        told = self.sink(cloud).check('node1')
        self.assertIn('openstack segment host create node1', told)

    def test_no_segment_and_a_hostile_name(self) -> None:
        cloud = self.cloud()
        cloud.segments = {'a': [], 'b': []}
        for name in HOSTILE:
            told = self.sink(cloud).check(name)
            _, _, command = told.partition(': openstack ')
            self.assertEqual(
                ['segment', 'host', 'create', plain_text.line(name)],
                shlex.split(command)[:4],
                told,
            )

    def test_maintenance(self) -> None:
        cloud = self.cloud()
        cloud.segments['seg'][0]['on_maintenance'] = True
        told = self.sink(cloud).check('node1')
        self.assertIn('is under maintenance', told)

    def test_it_may_not_ask(self) -> None:
        cloud = self.cloud()
        cloud.errors = [(403, 'Policy does not allow it')]
        self.assertEqual('', self.sink(cloud).check('node1'))

    def test_a_wrong_password(self) -> None:
        cloud = self.cloud()
        told = self.sink(cloud, password='wr0ng-secret').check('node1')
        self.assertIn('Keystone', told)
        self.assertNotIn('wr0ng', told)

    def test_no_such_service(self) -> None:
        cloud = self.cloud()
        told = self.sink(cloud, region_name='two').check('node1')
        self.assertIn('Keystone', told)

    def test_who_does_not_answer(self) -> None:
        """Each is named, and none for another."""
        for silent, place, start in (
            ('/v3', 'ha/v1', 'Keystone: '),
            ('/v3', 'ha', 'Keystone: '),
            ('/ha', 'ha/v1', 'GET /segments: '),
            ('/ha', 'ha', 'Masakari: '),
            ('/ha/v1/', 'ha/v1', 'GET /segments: '),
        ):
            cloud = self.cloud()
            cloud.silent, cloud.place = silent, place
            sink = self.sink(cloud, timeout=0.3)
            text = sink.check('node1')
            self.assertTrue(text.startswith(start), text)
            self.assertIn('timed out', text)
            text = sink.deliver(services.message()).text
            self.assertTrue(
                text.startswith(start.replace('GET /seg', 'POST /notif')[:10]),
                text,
            )

    def test_nobody_there(self) -> None:
        cloud = self.cloud()
        cloud.close()
        self.assertIn('Keystone', self.sink(cloud).check('node1'))


class TestFaults(MasakariTestCase):
    def test_the_event_map(self) -> None:
        for told, wanted in (
            ({'crash': 'A/B'}, ''),
            ({}, ''),
            ({'crush': 'A/B'}, 'no kind crush, did you mean crash?'),
            ({'crash': 'A'}, 'A is not EVENT/DETAIL'),
            ({'crash': 'A/B/C'}, 'A/B/C is not EVENT/DETAIL'),
            ({'crash': f'A/{"b" * 256}'}, 'is not EVENT/DETAIL'),
        ):
            options = services.options(
                'masakari', 'https://keystone', event_map=told
            )
            result = ' '.join(Masakari.faults(options))
            self.assertIn(wanted, result)
            self.assertEqual(bool(wanted), bool(result))
