# SPDX-License-Identifier: Apache-2.0
"""Do notices reach the broker, or else nobody who migrates?"""

import re
import socket
import subprocess
import sys

import fixtures
import oslo_messaging

from kronos.actions.core import notifier
from tests.unit.actions.live import listening


class TestNotifier(listening.NoticesTestCase):
    def warnings(self):
        return re.findall('are being lost.*', self.log.output)

    def send(self, to, count=1):
        for number in range(count):
            to.send(
                notifier.Notice(
                    'kronos.results.alpha',
                    'migration.started',
                    'info',
                    {'number': number},
                )
            )

    def test_one_warning_until_it_works_again(self):
        conf = listening.configuration('nosuch://')
        sender = notifier.Notifier(conf)
        self.send(sender, 3)
        sender._waiting.join()
        self.assertEqual(1, len(self.warnings()), self.log.output)
        conf.set_override(
            'transport_url', 'fake://', 'oslo_messaging_notifications'
        )
        self.conf = conf
        listener = self.listen()
        self.send(sender)
        listener.wait_for(1)
        sender._waiting.join()
        self.assertEqual(1, len(self.warnings()))

    def test_one_for_a_process(self):
        """A fork has one of its own: threads do not live on in it."""
        script = """
import os, sys
from oslo_config import cfg
from kronos.actions.core import notifier
first = notifier.of_process(cfg.CONF)
assert notifier.of_process(cfg.CONF) is first
notifier._own.lock.acquire()
child = os.fork()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
second = notifier.of_process(cfg.CONF)
os._exit(0 if second is not first and second._thread.is_alive() else 1)
"""
        done = subprocess.run(
            [sys.executable, '-W', 'ignore', '-c', script],
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.assertEqual(0, done.returncode, done.stderr)

    def test_a_broker_that_refuses(self):
        """The warning has no address: there is a password in it."""
        with socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            port = taken.getsockname()[1]
            url = f'rabbit://kronos:secret@127.0.0.1:{port}/'
            sender = notifier.Notifier(listening.configuration(url))
            self.send(sender, 2)
            sender._waiting.join()
        [warning] = self.warnings()
        self.assertTrue(warning.endswith(': OperationalError'), warning)
        self.assertNotIn('secret', self.log.output)
        self.assertNotIn('Could not send', self.log.output)

    def test_a_broker_that_hangs(self):
        """Nobody waits for it, and what waits is limited."""
        with socket.socket() as silent:
            silent.bind(('127.0.0.1', 0))
            silent.listen()
            port = silent.getsockname()[1]
            url = f'rabbit://kronos:secret@127.0.0.1:{port}/'
            sender = notifier.Notifier(listening.configuration(url), limit=2)
            self.send(sender, 5)
            [warning] = self.warnings()
            self.assertIn('too many', warning)

    def test_in_the_order_in_which_they_were_given(self):
        listener = self.listen()
        sender = notifier.Notifier(self.conf)
        self.send(sender, 20)
        heard = listener.wait_for(20)
        self.assertEqual(
            list(range(20)), [payload['number'] for *_, payload in heard]
        )

    def test_the_transport_of_the_host_service(self):
        """Watcher has one, once its applier has started."""
        own = oslo_messaging.get_notification_transport(self.conf)
        self.useFixture(
            fixtures.MockPatch(
                'watcher.common.rpc.NOTIFICATION_TRANSPORT', own
            )
        )
        listener = self.listen()
        sender = notifier.Notifier(listening.configuration('nosuch://'))
        self.send(sender)
        self.assertEqual(1, len(listener.wait_for(1)))
