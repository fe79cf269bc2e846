# SPDX-License-Identifier: Apache-2.0
"""Does the made-up hypervisor tell what a real one would?"""

import pathlib
from collections import deque

import fixtures
from oslotest import base

from kronos.monitor.domains import Away, Domain, Gone, Listing, State
from kronos.monitor.events import Event
from kronos.monitor.sources.base import News, Options
from kronos.monitor.sources.synthetic import Synthetic
from tests.unit.monitor.hypervisor import ONE, TWO, Hypervisor, until
from tests.unit.monitor.test_nova_metadata import GOOD, LAUGHS


class TestSynthetic(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = self.useFixture(fixtures.TempDir()).path
        self.host = Hypervisor(pathlib.Path(folder) / 'events')
        self.news: deque[News] = deque()

    def source(self) -> Synthetic:
        made = Synthetic(self.news, Options(str(self.host.path)))
        made.start()
        self.addCleanup(made.stop)
        return made

    def told(self) -> News:
        until(lambda: self.news)
        return self.news.popleft()

    def listing(self) -> dict[str, Domain]:
        told = self.told()
        assert isinstance(told, Listing), told
        return {domain.instance: domain for domain in told.domains}

    def test_what_has_happened_is_listed(self) -> None:
        self.host.start(ONE)
        self.host.start(TWO)
        self.host.kill(ONE)
        self.source()
        listing = self.listing()
        self.assertEqual(
            [(State.SHUTOFF, None), (State.RUNNING, 2)],
            [(listing[one].state, listing[one].run) for one in (ONE, TWO)],
        )

    def test_what_happens_is_told(self) -> None:
        source = self.source()
        self.assertEqual({}, self.listing())
        self.host.start(ONE)
        self.host.kill(ONE)
        started, stopped = self.told(), self.told()
        assert isinstance(started, Event)
        assert isinstance(stopped, Event)
        self.assertEqual(('STARTED_BOOTED', 1), (started.detail, started.run))
        self.assertEqual('STOPPED_FAILED', stopped.detail)
        result = source.look(ONE)
        assert result is not None
        self.assertIs(State.SHUTOFF, result.state)
        self.assertIsNone(source.look(TWO))

    def test_away(self) -> None:
        source = self.source()
        self.listing()
        self.host.tell({'away': 'it fell over'})
        self.host.start(ONE)
        told = self.told()
        assert isinstance(told, Away)
        self.assertEqual('it fell over', told.why)
        self.assertRaises(OSError, source.look, ONE)
        self.host.tell({'back': 1})
        self.assertEqual([ONE], [*self.listing()])

    def test_what_is_wanted(self) -> None:
        source = self.source()
        self.listing()
        self.host.start(ONE)
        self.assertIsInstance(self.told(), Event)
        source.want(ONE)
        source.want(TWO)
        found, gone = self.told(), self.told()
        assert isinstance(found, Domain)
        self.assertEqual((ONE, Gone(TWO)), (found.instance, gone))

    def test_an_encoding_that_is_none(self) -> None:
        self.source()
        self.listing()
        for encoding in ('hex', 'x-unknown', 'utf-16'):
            start = f"<?xml version='1.0' encoding='{encoding}'?>"
            self.host.start(ONE, xml=start + GOOD)
            domains = [
                news
                for news in (self.told(), self.told())
                if isinstance(news, Domain)
            ]
            assert domains[0].metadata is not None
            self.assertEqual('9f0c', domains[0].metadata.project)
        self.host.start(TWO)
        self.assertIsInstance(self.told(), Event)

    def test_metadata(self) -> None:
        """Hostile XML tells nothing, and what is known stays."""
        self.source()
        self.listing()
        for xml in (GOOD, LAUGHS):
            self.host.start(ONE, xml=xml)
            told = [self.told(), self.told()]
            (found,) = [one for one in told if isinstance(one, Domain)]
            assert found.metadata is not None
            self.assertEqual('9f0c', found.metadata.project)

    def test_lines_that_are_none(self) -> None:
        self.source()
        self.listing()
        with self.host.path.open('ab') as file:
            file.write(b'{\n[]\n7\n\xff\n{"state": 1}\n\n')
            file.write(b'[' * 50_000 + b'\n' + b'{"away": ' * 50_000 + b'\n')
            file.write(b'{"instance": "a", "run": ' + b'9' * 400 + b'}\n')
            file.write(b'{"instance": "a", "event": "x", "at": 1e999}\n')
            file.write(b'{"instance": "a", "at": ' + b'9' * 400 + b'}\n')
        self.host.start(ONE)
        self.assertIsInstance(self.told(), Event)

    def test_no_file_yet(self) -> None:
        self.host.path.unlink()
        self.source()
        self.assertIsInstance(self.told(), Away)
        self.host.start(ONE)
        until(lambda: self.news)
        self.assertIsInstance(self.news[0], Listing)
