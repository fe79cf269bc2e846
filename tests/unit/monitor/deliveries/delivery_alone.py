# SPDX-License-Identifier: Apache-2.0
"""Does each sink get what it should, in order, whatever others do?"""

import logging
import pathlib
import threading
import time
from typing import ClassVar

import fixtures
from oslotest import base

from kronos.monitor import messages
from kronos.monitor.deliveries.delivery import Backoff, Delivery
from kronos.monitor.domains import Domain, State
from kronos.monitor.messages import Message
from kronos.monitor.metrics import Metrics
from kronos.monitor.sinks.base import Options, Outcome, Result, Sink
from kronos.monitor.spool import Changes, Entry, Spool
from tests.unit.monitor.hypervisor import ONE, TWO, until
from tests.unit.monitor.sinks.hooks import message

FAST = Backoff(0.01, 0.05)


class Told(Sink):
    """Takes what it is told to take."""

    answers: dict[str, list[Result]]

    def __init__(self, name: str) -> None:
        super().__init__(name, {})
        self.answers = {}
        self.away = False
        self.got: list[Message] = []
        self.tries = 0
        self.hold = threading.Event()
        self.hold.set()

    @classmethod
    def faults(cls, options: Options) -> list[str]:
        return []

    def deliver(self, told: Message) -> Result:
        self.tries += 1
        self.hold.wait()
        if self.away:
            return Result(Outcome.AWAY, 'it sleeps')
        if waiting := self.answers.get(told.instance.uuid):
            return waiting.pop(0)
        self.got.append(told)
        return Result(Outcome.DELIVERED)

    def check(self, host: str) -> str:
        return ''


class Fussy(Told):
    WANTS_RESOLVED: ClassVar[bool] = False


class DeliveryTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        folder = self.useFixture(fixtures.TempDir()).path
        path = pathlib.Path(folder) / 'monitor.db'
        self.spool = Spool(str(path), 32 * 2**20)
        self.addCleanup(self.spool.close)
        self.metrics = Metrics('node1')
        self.domains: dict[str, Domain] = {}
        self.is_away = False
        self.number = 0
        self.deliveries: list[Delivery] = []

    def look(self, instance: str) -> Domain | None:
        if self.is_away:
            raise OSError('away')
        return self.domains.get(instance)

    def start(self, sink: Sink, stale: float = 1e9) -> Delivery:
        delivery = Delivery(
            sink, self.spool, self.look, self.metrics, stale, FAST
        )
        delivery.start()
        self.deliveries.append(delivery)
        self.addCleanup(delivery.join, 60.0)
        self.addCleanup(delivery.end)
        return delivery

    def put(self, *instances: str, sinks: tuple[str, ...] = ('a',)) -> None:
        entries = []
        for instance in instances:
            self.number += 1
            told = message()
            told.id, told.instance.uuid = str(self.number), instance
            entries.append(
                Entry(
                    told.id,
                    instance,
                    1,
                    time.time(),
                    1,
                    State.SHUTOFF,
                    messages.text_of(told),
                    sinks,
                )
            )
        self.spool.commit(Changes(entries=entries))
        for delivery in self.deliveries:
            delivery.wake()

    def count(self, result: str, sink: str = 'a') -> float:
        labels = {'sink': sink, 'result': result}
        name = 'kronos_monitor_deliveries_total'
        return self.metrics.registry.get_sample_value(name, labels) or 0.0

    def ids(self, sink: Told) -> list[str]:
        return [one.id for one in sink.got]

    def empty(self) -> None:
        until(lambda: self.spool.oldest() is None)


class TestOrder(DeliveryTestCase):
    def test_all_of_it(self) -> None:
        sink = Told('a')
        self.put(ONE, TWO, ONE)
        self.start(sink)
        self.put(TWO, ONE)
        self.empty()
        self.assertEqual(['1', '2', '3', '4', '5'], self.ids(sink))
        self.assertEqual(5.0, self.count('delivered'))

    def test_one_that_is_not_taken_holds_up_its_instance_alone(self) -> None:
        sink = Told('a')
        sink.answers[ONE] = [Result(Outcome.LATER, 'no')] * 5
        self.put(ONE, ONE, TWO, ONE, TWO)
        self.start(sink)
        self.empty()
        of_one = [one.id for one in sink.got if one.instance.uuid == ONE]
        self.assertEqual(['1', '2', '4'], of_one)
        self.assertEqual(['3', '5'], self.ids(sink)[:2])
        self.assertEqual(5.0, self.count('later'))

    def test_a_sink_that_stumbles(self) -> None:
        sink = Told('a')
        sink.answers[ONE] = [None]  # type: ignore[list-item]
        self.put(ONE, TWO)
        self.start(sink)
        self.empty()
        self.assertEqual({'1', '2'}, {*self.ids(sink)})

    def test_refused(self) -> None:
        sink = Told('a')
        sink.answers[ONE] = [Result(Outcome.REFUSED, 'unknown host')]
        self.put(ONE, ONE)
        self.start(sink)
        self.empty()
        self.assertEqual(['2'], self.ids(sink))
        self.assertIn('unknown host', self.log.output)


class TestAway(DeliveryTestCase):
    def test_it_comes_back(self) -> None:
        sink = Told('a')
        sink.away = True
        self.put(ONE, TWO, ONE)
        self.start(sink)
        until(lambda: sink.tries >= 5)
        sink.away = False
        self.empty()
        self.assertEqual(['1', '2', '3'], self.ids(sink))
        self.assertEqual(1, self.log.output.count('it sleeps'))
        self.assertEqual(1, self.log.output.count('accepts messages again'))

    def test_it_holds_up_no_other(self) -> None:
        dead, mute, good = Told('dead'), Told('mute'), Told('good')
        dead.away = True
        mute.hold.clear()
        for one in (dead, mute, good):
            self.start(one)
        self.addCleanup(mute.hold.set)
        self.put(ONE, TWO, sinks=('dead', 'mute', 'good'))
        until(lambda: len(good.got) == 2)
        self.assertEqual(([], []), (dead.got, mute.got))


class TestStale(DeliveryTestCase):
    def delivered(self, sink: Told) -> list[bool]:
        self.put(ONE)
        self.start(sink, stale=-1.0)
        self.empty()
        return [one.resolved for one in sink.got]

    def domain(self, state: State, run: int | None) -> None:
        self.domains[ONE] = Domain(ONE, 'guest', state, '', run)

    def test_it_runs_anew(self) -> None:
        self.domain(State.RUNNING, 2)
        self.assertEqual([True], self.delivered(Told('a')))

    def test_and_the_sink_does_not_want_to_know(self) -> None:
        self.domain(State.RUNNING, 2)
        self.assertEqual([], self.delivered(Fussy('a')))
        self.assertEqual(1.0, self.count('resolved'))

    def test_it_does_not(self) -> None:
        self.domain(State.SHUTOFF, None)
        self.assertEqual([False], self.delivered(Fussy('a')))

    def test_nobody_knows(self) -> None:
        self.assertEqual([False], self.delivered(Told('a')))
        self.is_away = True
        self.assertEqual([False], self.delivered(Told('b')) or [False])


class TestOdd(DeliveryTestCase):
    def test_a_message_that_is_none(self) -> None:
        entry = Entry('x', ONE, 1, 1.0, 1, State.SHUTOFF, '{}', ('a',))
        self.spool.commit(Changes(entries=[entry]))
        sink = Told('a')
        self.start(sink)
        self.put(ONE)
        self.empty()
        self.assertEqual(['1'], self.ids(sink))
        self.assertEqual(1.0, self.count('invalid'))


class TestBackoff(base.BaseTestCase):
    def test_it_grows(self) -> None:
        backoff = Backoff(1.0, 60.0)
        for tries, own in ((1, 1), (2, 2), (5, 16), (9, 60), (10**6, 60)):
            pause = backoff.after(tries, None)
            self.assertTrue(0.75 * own <= pause <= 1.25 * own, pause)

    def test_what_is_asked_for(self) -> None:
        backoff = Backoff(1.0, 60.0)
        self.assertEqual(600.0, backoff.after(1, 600.0))
        self.assertEqual(3600.0, backoff.after(1, 1e9))
        self.assertGreater(backoff.after(9, 1.0), 40.0)
