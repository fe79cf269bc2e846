# SPDX-License-Identifier: Apache-2.0
"""Does the source work with libvirt's own driver for tests?"""

import pathlib
import re
import socket
import threading
from collections import deque
from typing import Any
from unittest import mock

import fixtures
import libvirt
from oslotest import base

from kronos.monitor.domains import Away, Domain, Gone, Listing, State
from kronos.monitor.events import Event
from kronos.monitor.sources import registry
from kronos.monitor.sources.base import News, Options
from kronos.monitor.sources.libvirt import (
    connection,
    domain_queries,
    io_errors,
    loop,
)
from kronos.monitor.sources.libvirt.connection import Connection
from tests.unit.monitor.hypervisor import ONE, TWO, until
from tests.unit.monitor.sources.libvirt.test_callbacks import Told
from tests.unit.monitor.test_nova_metadata import GOOD

HOST = 'test:///default'
DOMAIN = """
<domain type='test'>
  <name>{name}</name><uuid>{uuid}</uuid><memory>4096</memory>
  <os><type>hvm</type></os>{metadata}
</domain>"""


class DriverTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        folder = self.useFixture(fixtures.TempDir()).path
        self.folder = pathlib.Path(folder)
        loop.begin()
        self.host: Any = libvirt.open(HOST)
        self.addCleanup(self.host.close)

    def domain(self, uuid: str = ONE, metadata: str = '') -> Any:
        name = f'guest-{uuid[:8]}'
        text = DOMAIN.format(name=name, uuid=uuid, metadata=metadata)
        made = self.host.defineXML(text)
        self.addCleanup(self.gone, made)
        return made

    @staticmethod
    def gone(domain: Any) -> None:
        if domain.isActive():
            domain.destroy()
        domain.undefine()

    def silent(self) -> str:
        """The URI of one that takes connections, and says nothing."""
        path = str(self.folder / 'socket')
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind(path)
        server.listen()
        return f'qemu+unix:///system?socket={path}'


class TestLoop(DriverTestCase):
    def test_there_is_one(self) -> None:
        before = threading.active_count()
        for _ in range(3):
            loop.begin()
        self.assertEqual(before, threading.active_count())

    def test_what_it_is_given(self) -> None:
        done: list[str] = []
        loop.soon(lambda: done.append(threading.current_thread().name))
        until(lambda: done)
        self.assertEqual(['libvirt'], done)


class TestConnection(DriverTestCase):
    def connection(self, uri: str = HOST) -> Connection:
        made = Connection(uri)
        self.addCleanup(made.close)
        return made

    def test_domains(self) -> None:
        self.domain(
            ONE, re.findall('<metadata>.*</metadata>', GOOD, re.DOTALL)[0]
        ).create()
        self.domain(TWO)
        found = {
            domain.instance: domain for domain in self.connection().domains()
        }
        one, two = found[ONE], found[TWO]
        self.assertEqual(
            (State.RUNNING, '', 'guest-11111111'),
            (one.state, one.reason, one.name),
        )
        assert one.metadata is not None
        self.assertEqual('9f0c', one.metadata.project)
        self.assertGreater(one.run or 0, 0)
        self.assertEqual((State.SHUTOFF, None), (two.state, two.run))

    def test_one_domain(self) -> None:
        made = self.connection()
        self.assertIsNone(made.domain(ONE))
        self.domain(ONE)
        self.assertIs(State.SHUTOFF, made.domain(ONE).state)  # type: ignore[union-attr]
        self.assertRaises(OSError, made.domain, 'no uuid')

    def test_not_looked_at_since_libvirt_started(self) -> None:
        """A job shows it. No state is older than what is shown of it."""
        self.domain(TWO)
        guest = self.domain(ONE)
        guest.create()
        control = [libvirt.VIR_DOMAIN_CONTROL_OK, 0, 0]

        def look(domain: Any, flags: int = 0) -> list[int]:
            if control[0] == libvirt.VIR_DOMAIN_CONTROL_OK:
                guest.destroy()
            return control

        opened = self.connection()
        with mock.patch.object(libvirt.virDomain, 'controlInfo', look):
            for control[0] in (
                libvirt.VIR_DOMAIN_CONTROL_JOB,
                libvirt.VIR_DOMAIN_CONTROL_OCCUPIED,
                libvirt.VIR_DOMAIN_CONTROL_ERROR,
            ):
                domains = {
                    domain.instance: domain for domain in opened.domains()
                }
                self.assertFalse(domains[ONE].is_current)
                self.assertTrue(domains[TWO].is_current, 'it is off')
            control[0] = libvirt.VIR_DOMAIN_CONTROL_OK
            domain = opened.domain(ONE)
        assert domain is not None
        self.assertEqual(
            (True, State.SHUTOFF), (domain.is_current, domain.state)
        )

    def test_a_hypervisor_without_jobs(self) -> None:
        self.domain(ONE).create()
        error = libvirt.libvirtError('not supported')
        with mock.patch.object(
            libvirt.virDomain, 'controlInfo', side_effect=error
        ):
            domain = self.connection().domain(ONE)
        assert domain is not None
        self.assertEqual(
            (True, State.RUNNING), (domain.is_current, domain.state)
        )

    def test_a_definition_that_is_too_large(self) -> None:
        self.domain(ONE)
        with mock.patch('kronos.monitor.nova_metadata.MAX_BYTES', 10):
            domain = self.connection().domain(ONE)
        assert domain is not None
        self.assertEqual(
            (State.SHUTOFF, None), (domain.state, domain.metadata)
        )
        self.assertIn('it has more than 10 bytes', self.log.output)

    def test_a_domain_that_cannot_be_read(self) -> None:
        """The others are watched, whatever it is with that one."""
        for uuid in (ONE, TWO):
            self.domain(uuid)
        parse = connection.nova_metadata.parse

        def stumble(text: str) -> Any:
            if ONE in text:
                raise LookupError('unknown encoding: x')
            return parse(text)

        with mock.patch('kronos.monitor.nova_metadata.parse', stumble):
            domains = self.connection().domains()
        found = {domain.instance: domain for domain in domains}
        self.assertEqual(State.SHUTOFF, found[ONE].state)
        self.assertIsNone(found[ONE].metadata)
        self.assertIsNotNone(found[TWO].metadata)
        self.assertIn('unknown encoding: x', self.log.output)

    def test_events_that_libvirt_does_not_know(self) -> None:
        made = self.connection()
        made.subscribe({}, {999: print})
        self.assertIn('sends no events 999', self.log.output)
        self.assertRaises(OSError, made.subscribe, {999: print})

    def test_nobody_there(self) -> None:
        error = self.assertRaises(
            OSError, Connection, 'qemu+unix:///system?socket=/nowhere'
        )
        self.assertIn('/nowhere', str(error))

    def test_why_it_ended(self) -> None:
        made = self.connection()
        for reason, told in ((1, 'libvirt ended it'), (9, 'for reason 9')):
            made._closed(None, reason, None)
            self.assertEqual(told, made.wait())

    def test_a_closed_one(self) -> None:
        made = self.connection()
        made.close()
        self.assertRaises(OSError, made.domains)
        self.assertRaises(OSError, made.domain, ONE)


class Hanging(connection.Connection):
    """One whose libvirt does not answer any more."""

    def __init__(self) -> None:
        self.answers = threading.Event()

    def domain(self, instance: str) -> Domain | None:
        self.answers.wait()
        raise ValueError(instance)


class TestDomainQueries(DriverTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.news: deque[News] = deque()
        self.queries = domain_queries.DomainQueries(self.news)
        self.queries.start()
        self.addCleanup(self.queries.stop)

    def test_asked_and_wanted(self) -> None:
        self.assertRaises(ConnectionError, self.queries.look, ONE)
        with Connection(HOST) as made:
            self.queries.use(made)
            self.assertIsNone(self.queries.look(ONE))
            self.domain(ONE)
            self.queries.want(TWO)
            self.queries.want(ONE)
            result = self.queries.look(ONE)
        self.assertEqual([Gone(TWO), result], [*self.news])
        self.assertRaises(OSError, self.queries.look, ONE)

    def test_one_that_hangs(self) -> None:
        """Nobody waits for it, and it is asked again when it is back."""
        hanging = Hanging()
        self.queries.use(hanging)
        with mock.patch.object(domain_queries, 'LOOK_SECONDS', 0.05):
            self.assertRaises(TimeoutError, self.queries.look, ONE)
        hanging.answers.set()
        self.assertRaises(OSError, self.queries.look, ONE)
        self.assertIn('Reading domain', self.log.output)
        with Connection(HOST) as made:
            self.queries.use(made)
            self.assertIsNone(self.queries.look(ONE))


class TestIoErrors(DriverTestCase):
    def test_meter(self) -> None:
        meter = io_errors.Meter(3.0)
        for now, is_storm in (
            (0.0, False),
            (0.1, False),
            (0.9, False),
            (0.99, True),
            (1.0, False),
            (1.5, False),
            (1.6, False),
            (1.7, True),
            (9.0, False),
        ):
            self.assertIs(is_storm, meter.is_storm(now), now)

    def test_what_is_told_of_a_storm(self) -> None:
        told: list[Event] = []
        ends: list[str] = []
        listener = io_errors._Listener(told.append, 5.0, ends.append)
        for _ in range(1000):
            listener.take(None, Told(), '/disk', 'hdb', 2, 'enospc', None)
        self.assertEqual((6, [io_errors.STORM]), (len(told), ends))
        self.assertEqual('11111111', listener.last[:8])

    def test_it_ends(self) -> None:
        made = io_errors.IoErrors(HOST, print, 200.0, 20.0)
        made.start()
        made.wait(60.0)
        self.assertIsNotNone(made._connection)
        made.stop()
        self.assertFalse(made._thread.is_alive())
        self.assertFalse(made._listens.is_set())


class TestSource(DriverTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.news: deque[News] = deque()

    def source(self, uri: str = HOST) -> Any:
        return registry.make('libvirt', self.news, Options(libvirt_uri=uri))

    def started(self, uri: str = HOST) -> Any:
        source = self.source(uri)
        source.start()
        self.addCleanup(source.stop)
        return source

    def told(self) -> News:
        until(lambda: self.news)
        return self.news.popleft()

    def test_what_happens(self) -> None:
        self.domain(TWO)
        source = self.started()
        listing = self.told()
        assert isinstance(listing, Listing)
        self.assertIn(TWO, [one.instance for one in listing.domains])
        domain = self.domain(ONE)
        self.assertEqual('DEFINED_ADDED', self.detail())
        self.described(State.SHUTOFF)
        domain.create()
        self.assertEqual('STARTED_BOOTED', self.detail())
        self.described(State.RUNNING)
        domain.suspend()
        domain.resume()
        domain.destroy()
        self.assertEqual(
            ['SUSPENDED_PAUSED', 'RESUMED_UNPAUSED', 'STOPPED_DESTROYED'],
            [self.detail() for _ in range(3)],
        )
        result = source.look(ONE)
        self.assertIs(State.SHUTOFF, result.state)

    def detail(self) -> str:
        told = self.told()
        assert isinstance(told, Event), told
        return told.detail

    def described(self, state: State) -> None:
        told = self.told()
        assert isinstance(told, Domain), told
        self.assertEqual((ONE, state), (told.instance, told.state))

    def test_nobody_there(self) -> None:
        """It is told once, however often it is tried."""
        place = 'kronos.monitor.sources.libvirt.source'
        with (
            mock.patch(f'{place}.RETRY_SECONDS', 0.01),
            mock.patch(f'{place}.Connection', wraps=Connection) as tried,
        ):
            source = self.started('qemu+unix:///system?socket=/nowhere')
            until(lambda: tried.call_count > 5)
        away = self.told()
        assert isinstance(away, Away)
        self.assertIn('/nowhere', away.why)
        self.assertEqual([], [*self.news])
        self.assertRaises(OSError, source.look, ONE)

    def test_check(self) -> None:
        self.assertEqual('', self.source().check())
        fault = self.source('qemu+unix:///system?socket=/nowhere').check()
        self.assertIn('libvirt_uri qemu+unix:///system?socket=/nowhere', fault)
        self.assertIn('libvirtd or virtqemud must run', fault)

    def test_check_of_one_that_hangs(self) -> None:
        with mock.patch(
            'kronos.monitor.sources.libvirt.source.CHECK_SECONDS', 0.2
        ):
            fault = self.source(self.silent()).check()
        self.assertIn('no answer within 0.2 s', fault)

    def test_the_end_of_one_that_hangs(self) -> None:
        source = self.source(self.silent())
        source.start()
        place = 'kronos.monitor.sources.libvirt'
        with (
            mock.patch(f'{place}.source.END_SECONDS', 0.1),
            mock.patch(f'{place}.io_errors.END_SECONDS', 0.1),
        ):
            source.stop()
        self.assertEqual([], [*self.news])
