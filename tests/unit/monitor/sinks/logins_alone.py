# SPDX-License-Identifier: Apache-2.0
"""Does a sink say so when Keystone is not well, and deliver when it is?"""

import pathlib
import time

from kronos.cmd import instance_monitor
from kronos.common import deadline
from kronos.monitor.sinks.base import Outcome, Result
from kronos.monitor.sinks.masakari import Masakari
from kronos.monitor.sinks.watcher import Watcher
from tests import commands
from tests.fakes import loopback_keystone
from tests.unit.monitor import agents
from tests.unit.monitor.sinks import services
from tests.unit.monitor.sinks.cloud import AUDIT

HANGS = 60.0
TRIES = 50
"""Some of which a Keystone is left alone that said nothing."""


class LoginTestCase(services.ServiceTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.services = self.cloud()
        self.services.tokens.add('a-token')
        self.keystone = self.useFixture(
            loopback_keystone.Keystone(
                {
                    'instance-ha': f'{self.services.url}/ha/v1',
                    'infra-optim': f'{self.services.url}/optim',
                }
            )
        )
        self.more = {**self.keystone.auth, 'timeout': 1.0}

    def check_moods(self, sink: Masakari | Watcher) -> None:
        """With one sink, which lives through them all."""
        self.addCleanup(sink.close)
        for mood in loopback_keystone.MOODS:
            with self.subTest(mood):
                # It has the first token of its life, or a new one.
                self.services.tokens.clear()
                self.keystone.be(mood)
                if mood in ('401', 'silence'):
                    sink.close()
                else:
                    self.once(sink)
                text = self.text_of(sink)
                self.assertIn('Keystone', text)
                self.assertEqual(1, len(text.splitlines()))
                self.assertNotIn(self.more['password'], text)
                self.assertIn('Keystone', sink.check('node1'))
                self.services.tokens.add('a-token')
                self.keystone.be('')
                self.assertIsNot(Outcome.AWAY, self.soon(sink).outcome)
                self.assertEqual('', sink.check('node1'))

    def text_of(self, sink: Masakari | Watcher) -> str:
        result = self.once(sink)
        self.assertIs(Outcome.AWAY, result.outcome)
        return result.text

    def once(self, sink: Masakari | Watcher) -> Result:
        """:raises DeadlinePassed: it hangs."""
        return deadline.within(HANGS, lambda _: self.deliver(sink))

    def deliver(self, sink: Masakari | Watcher) -> Result:
        if isinstance(sink, Watcher):
            return sink.trigger()
        return sink.deliver(services.message())

    def soon(self, sink: Masakari | Watcher) -> Result:
        for _ in range(TRIES):
            result = self.once(sink)
            if result.outcome is not Outcome.AWAY:
                break
            time.sleep(0.05)
        return result


class TestSinks(LoginTestCase):
    def test_masakari(self) -> None:
        options = services.options('masakari', self.services.url, **self.more)
        self.check_moods(Masakari('masakari', options))
        self.assertEqual(
            len(loopback_keystone.MOODS), len(self.services.notifications)
        )

    def test_watcher(self) -> None:
        options = services.options('watcher', self.services.url, **self.more)
        sink = Watcher('watcher', options, lambda: 1000.0)
        sink.begin()
        self.check_moods(sink)
        self.assertLessEqual(1, self.services.triggers)


class TestCheck(LoginTestCase, agents.AgentTestCase):
    """``kronos-instance-monitor --check``."""

    def test_each_mood(self) -> None:
        path = pathlib.Path(self.conf())
        lines = [path.read_text(), 'sinks = ha, audits', '']
        for name, driver in (('ha', 'masakari'), ('audits', 'watcher')):
            lines += [f'[kronos_monitor_{name}]', f'driver = {driver}']
            lines += [f'{key} = {value}' for key, value in self.more.items()]
            lines += ['insecure = true']
            lines += [f'audit = {AUDIT}'] * (driver == 'watcher')
        path.write_text('\n'.join(lines))
        for mood in loopback_keystone.MOODS:
            with self.subTest(mood):
                self.keystone.be(mood)
                code, out, err = self.check(path)
                self.assertEqual((1, ''), (code, err), out)
                told = [one for one in out.splitlines() if 'Keystone' in one]
                self.assertEqual(2, len(told), out)
                self.keystone.be('')
                code, out, err = self.check(path)
                self.assertEqual((0, ''), (code, err), out)

    def check(self, path: pathlib.Path) -> tuple[int, str, str]:
        arguments = ['--config-file', str(path), '--check']
        return deadline.within(
            HANGS, lambda _: commands.run(instance_monitor.main, arguments)
        )
