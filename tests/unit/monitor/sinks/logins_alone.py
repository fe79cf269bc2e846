# SPDX-License-Identifier: Apache-2.0
"""Does a sink say so when Keystone is not well, and deliver when it is?"""

import pathlib
import time
from collections.abc import Callable
from typing import Any

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

HANGS = 120.0
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

    def options(self, driver: str, limit: float) -> dict[str, Any]:
        return services.options(
            driver, self.services.url, timeout=limit, **self.keystone.auth
        )

    def check_moods(
        self, build: Callable[[float], Masakari | Watcher]
    ) -> None:
        """With sinks that live through all that have their limit."""
        sinks = {
            limit: build(limit)
            for limit in map(
                loopback_keystone.limit_of, loopback_keystone.MOODS
            )
        }
        for sink in sinks.values():
            self.addCleanup(sink.close)
        for mood in loopback_keystone.MOODS:
            with self.subTest(mood):
                sink = sinks[loopback_keystone.limit_of(mood)]
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
                self.assertNotIn(self.keystone.auth['password'], text)
                self.assertIn('Keystone', sink.check('node1'))
                self.services.tokens.add('a-token')
                self.keystone.be('')
                self.get_well(sink)

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

    def get_well(self, sink: Masakari | Watcher) -> None:
        for _ in range(TRIES):
            outcome = self.once(sink).outcome
            if outcome is not Outcome.AWAY and sink.check('node1') == '':
                return
            time.sleep(0.05)
        self.fail('not within so many tries')


class TestSinks(LoginTestCase):
    def test_masakari(self) -> None:
        self.check_moods(
            lambda limit: Masakari('masakari', self.options('masakari', limit))
        )
        # One whose answer was too late came again.
        self.assertLessEqual(
            len(loopback_keystone.MOODS), len(self.services.notifications)
        )

    def test_watcher(self) -> None:
        self.check_moods(self.watcher)
        self.assertLessEqual(1, self.services.triggers)

    def watcher(self, limit: float) -> Watcher:
        options = self.options('watcher', limit)
        sink = Watcher('watcher', options, lambda: 1000.0)
        sink.begin()
        return sink


class TestCheck(LoginTestCase, agents.AgentTestCase):
    """``kronos-instance-monitor --check``."""

    def test_each_mood(self) -> None:
        for mood in loopback_keystone.MOODS:
            with self.subTest(mood):
                self.keystone.be(mood)
                code, out, err = self.check(mood)
                self.assertEqual((1, ''), (code, err), out)
                lines = [line for line in out.splitlines() if 'Keysto' in line]
                self.assertEqual(2, len(lines), out)
                self.keystone.be('')
                code, out, err = self.check('')
                self.assertEqual((0, ''), (code, err), out)

    def check(self, mood: str) -> tuple[int, str, str]:
        path = pathlib.Path(self.conf())
        lines = [path.read_text(), 'sinks = ha, audits', '']
        for name, driver in (('ha', 'masakari'), ('audits', 'watcher')):
            lines += [f'[kronos_monitor_{name}]', f'driver = {driver}']
            lines += [f'timeout = {loopback_keystone.limit_of(mood)}']
            auth = self.keystone.auth
            lines += [f'{key} = {value}' for key, value in auth.items()]
            lines += ['insecure = true']
            lines += [f'audit = {AUDIT}'] * (driver == 'watcher')
        path.write_text('\n'.join(lines))
        arguments = ['--config-file', str(path), '--check']
        return deadline.within(
            HANGS, lambda _: commands.run(instance_monitor.main, arguments)
        )
