# SPDX-License-Identifier: Apache-2.0
"""Is there one trigger for many incidents, and none too early or lost?"""

import http.client
import logging
import pathlib
from unittest import mock

import fixtures
from oslotest import base

from kronos.monitor.deliveries.delivery import Backoff
from kronos.monitor.deliveries.trigger_delivery import (
    LATE_SECONDS,
    TriggerDelivery,
)
from kronos.monitor.domains import State
from kronos.monitor.metrics import Address, Metrics, Server
from kronos.monitor.sinks.base import Options, Outcome, Result, Trigger
from kronos.monitor.spool import Changes, Entry, Spool, SpoolError
from tests.unit.monitor import agents
from tests.unit.monitor.hypervisor import ONE, until
from tests.unit.monitor.sinks import services
from tests.unit.monitor.sinks.cloud import AUDIT, Cloud

PENDING = Result(Outcome.PENDING, 'it has not begun', 3.0)
DONE = Result(Outcome.DELIVERED)
AWAY = Result(Outcome.AWAY, 'it sleeps')


class Told(Trigger):
    """Does what it is told to do."""

    delay = 60.0

    def __init__(self) -> None:
        super().__init__('watcher', {})
        self.answers: list[Result] = []
        self.begun = 0
        self.asked = 0

    @classmethod
    def faults(cls, options: Options) -> list[str]:
        return []

    def begin(self) -> None:
        self.begun += 1

    def trigger(self) -> Result:
        self.asked += 1
        return self.answers.pop(0)

    def check(self, host: str) -> str:
        return ''


class TestRounds(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        folder = self.useFixture(fixtures.TempDir()).path
        path = pathlib.Path(folder) / 'monitor.db'
        self.spool = Spool(str(path), 32 * 2**20)
        self.addCleanup(self.spool.close)
        self.metrics = Metrics('node1')
        self.now = 1000.0
        self.sink = Told()
        self.delivery = TriggerDelivery(
            self.sink, self.spool, self.metrics, Backoff(), lambda: self.now
        )
        self.number = 0

    def happen(self, count: int = 1) -> None:
        for _ in range(count):
            self.number += 1
            entry = Entry(
                f'id-{self.number}',
                f'server-{self.number}',
                1,
                1000.0,
                1,
                State.SHUTOFF,
                '{}',
                ('watcher',),
            )
            self.spool.commit(Changes(entries=[entry]))

    def round(
        self, *answers: Result, after: float = 0.0
    ) -> tuple[float | None, float | None]:
        self.now += after
        self.sink.answers += answers
        result = self.delivery._round()
        self.assertEqual([], self.sink.answers, 'all were asked for')
        return result

    def delivered(self) -> float:
        labels = {'sink': 'watcher', 'result': 'delivered'}
        return (
            self.metrics.registry.get_sample_value(
                'kronos_monitor_deliveries_total', labels
            )
            or 0.0
        )

    def test_nothing(self) -> None:
        self.assertEqual((None, None), self.round())

    def test_many_incidents_after_the_metrics_were_read(self) -> None:
        self.happen(50)
        self.assertEqual((None, 1.0), self.round())
        self.metrics.read = self.now + 5.0
        # They are read, but not known yet.
        self.assertEqual((None, 1.0), self.round(after=5.5))
        self.assertEqual((None, 3.0), self.round(PENDING, after=1.0))
        self.assertEqual((None, 0.0), self.round(DONE, after=3.0))
        self.assertEqual(50.0, self.delivered())
        self.assertEqual((None, None), self.round())
        self.assertEqual(1, self.sink.begun)

    def test_metrics_that_are_read_all_the_time(self) -> None:
        """A later reading does not put it off."""
        self.happen()
        self.assertEqual((None, 1.0), self.round())
        self.metrics.read = self.now + 0.5
        self.assertEqual((None, 1.0), self.round(after=0.6))
        self.metrics.read = self.now + 0.9
        self.assertEqual((None, 0.0), self.round(DONE, after=1.0))

    def test_metrics_that_were_read_before(self) -> None:
        self.metrics.read = self.now - 5.0
        self.happen()
        for _ in range(60):
            self.assertEqual((None, 1.0), self.round(after=0.9))
        self.assertEqual((None, 0.0), self.round(DONE, after=7.0))

    def test_nobody_reads_them(self) -> None:
        self.happen()
        self.round()
        self.round(after=59.9)
        self.round(DONE, after=0.2)
        self.assertEqual(1.0, self.delivered())

    def test_an_incident_that_comes_later(self) -> None:
        """It is not told of by a reading that was before it."""
        self.happen()
        self.round()
        self.metrics.read = self.now + 5.0
        self.round(PENDING, after=6.0)
        self.happen()
        self.assertEqual((None, 1.0), self.round(PENDING, after=1.0))
        self.round(DONE, after=1.0)
        self.assertEqual(1.0, self.delivered())
        self.assertEqual(1, self.sink.begun)
        self.metrics.read = self.now + 5.0
        self.round(DONE, after=6.0)
        self.assertEqual((2.0, 2), (self.delivered(), self.sink.begun))

    def test_one_that_is_due_while_nothing_is_certain(self) -> None:
        """One trigger more is enough for both."""
        self.happen()
        self.round()
        self.round(PENDING, after=60.0)
        self.happen()
        self.round(PENDING)
        self.metrics.read = self.now + 5.0
        self.round(PENDING, after=6.0)
        self.assertEqual(2, self.sink.begun)
        self.round(DONE, after=3.0)
        self.assertEqual(2.0, self.delivered())

    def test_it_is_away(self) -> None:
        self.happen()
        self.round()
        away, rest = self.round(AWAY, after=60.0)
        assert away is not None
        self.assertGreater(away, 0.0)
        self.assertIsNone(rest)
        self.round(AWAY, after=2.0)
        self.assertEqual(1, self.log.output.count('it sleeps'))
        self.round(DONE, after=2.0)
        self.assertIn('accepts triggers again', self.log.output)
        self.assertEqual(1.0, self.delivered())

    def test_it_stumbles(self) -> None:
        self.happen()
        self.round()
        with mock.patch.object(self.sink, 'trigger', side_effect=KeyError):
            away, _ = self.round(after=60.0)
        self.assertIsNotNone(away)
        self.round(DONE)

    def test_a_disk_that_does_not_note_it(self) -> None:
        """It is not triggered again for that."""
        self.happen()
        self.round()
        error = SpoolError(path='p', reason='full')
        with mock.patch.object(self.spool, 'done', side_effect=error):
            self.sink.answers = [DONE]
            self.now += 60.0
            self.assertRaises(SpoolError, self.delivery._round)
        self.round()
        self.assertEqual((1.0, 1), (self.delivered(), self.sink.asked))
        self.happen()
        self.round()
        self.round(DONE, after=60.0)

    def test_what_comes_of_nothing_is_told_once(self) -> None:
        self.happen()
        self.round()
        self.round(PENDING, after=60.0)
        for _ in range(3):
            self.round(PENDING, after=LATE_SECONDS)
        self.assertEqual(
            1, self.log.output.count('its trigger has had no effect')
        )

    def test_they_are_let_go(self) -> None:
        self.happen()
        self.round()
        self.spool.keep_sinks([])
        self.assertEqual((None, None), self.round(after=99.0))


class TestAgent(agents.AgentTestCase):
    """The whole of it, with what answers like Watcher."""

    def lines(self, cloud: Cloud, *more: str) -> list[str]:
        return [
            'sinks = watcher',
            '[kronos_monitor_watcher]',
            f'auth_url = {cloud.url}/v3',
            'username = kronos-monitor',
            f'password = {services.SECRET}',
            'insecure = true',
            'retry_max_seconds = 1',
            f'audit = {AUDIT}',
            *more,
        ]

    def cloud(self) -> Cloud:
        cloud = Cloud()
        self.addCleanup(cloud.close)
        return cloud

    def test_it_is_triggered_when_the_metrics_show_it(self) -> None:
        cloud = self.cloud()
        lines = self.lines(cloud, 'trigger_delay = 3600')
        agent = self.agent('', *lines).ready()
        server = Server(Address('127.0.0.1', 0), agent.agent._metrics)
        self.addCleanup(server.close)
        self.host.start(ONE)
        self.host.kill(ONE)
        until(lambda: agent.agent._spool.newest('watcher'))
        self.assertEqual(0, cloud.triggers)
        link = http.client.HTTPConnection('127.0.0.1', server.port, timeout=60)
        self.addCleanup(link.close)

        def read() -> int:
            """As Prometheus does, again and again."""
            link.request('GET', '/metrics')
            shown = link.getresponse().read().decode()
            self.assertIn('kronos_vm_failed{', shown)
            return cloud.triggers

        until(read)
        cloud.end()
        until(lambda: agent.agent._spool.oldest() is None)
        self.assertEqual(1, cloud.triggers)

    def test_many_at_once(self) -> None:
        cloud = self.cloud()
        agent = self.agent('', *self.lines(cloud, 'trigger_delay = 3')).ready()
        guests = [self.host.start() for _ in range(50)]
        for guest in guests:
            self.host.kill(guest)
        until(lambda: cloud.triggers)
        cloud.end()
        labels = {'sink': 'watcher', 'result': 'delivered'}
        name = 'kronos_monitor_deliveries_total'
        until(lambda: agent.value(name, **labels) == 50.0)
        self.assertEqual(1, cloud.triggers)

    def test_the_agent_is_killed_before_it_is_certain(self) -> None:
        cloud = self.cloud()
        cloud.end()
        cloud.is_skipped = True
        lines = self.lines(cloud, 'trigger_delay = 0', 'repeat_seconds = 5')
        agent = self.agent('', *lines).ready()
        self.host.start(ONE)
        self.host.kill(ONE)
        until(lambda: cloud.triggers)
        agent.end()
        before = cloud.triggers
        cloud.is_skipped = False
        again = self.agent('', *lines)
        until(lambda: cloud.triggers > before)
        cloud.end()
        until(lambda: again.agent._spool.oldest() is None)
