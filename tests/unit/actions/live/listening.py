# SPDX-License-Identifier: Apache-2.0
"""What the tests of notices share: a host service, and who listens to it."""

import threading
import uuid

import fixtures
import oslo_messaging
from oslo_config import cfg
from oslotest import base

from kronos.actions.core import notifications
from kronos.conf import opts


def configuration(url='fake://', **kronos):
    """The options of a host service that is called controller."""
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    conf.register_opt(cfg.StrOpt('host', default='controller'))
    opts.register_opts(conf)
    for name, value in {'notify': True, **kronos}.items():
        conf.set_override(name, value, 'kronos')
    oslo_messaging.get_notification_transport(conf, 'fake://')
    conf.set_override('transport_url', url, 'oslo_messaging_notifications')
    # All fake brokers of a process are one.
    conf.set_override('control_exchange', str(uuid.uuid4()))
    return conf


class Listener:
    """Keeps what it hears, with the priority."""

    def __init__(self, conf, scope='alpha'):
        self.heard = []
        self._more = threading.Condition()
        self.server = oslo_messaging.get_notification_listener(
            oslo_messaging.get_notification_transport(conf),
            [oslo_messaging.Target(topic=notifications.topic_of(scope))],
            [self],
            executor='threading',
        )
        self.server.start()

    def stop(self):
        self.server.stop()
        self.server.wait()

    def info(self, *told):
        self._keep('info', *told)

    def warn(self, *told):
        self._keep('warn', *told)

    def error(self, *told):
        self._keep('error', *told)

    def _keep(self, priority, context, publisher, event, payload, metadata):
        with self._more:
            self.heard.append((priority, publisher, event, payload))
            self._more.notify_all()

    def wait_for(self, count):
        """What was heard; the limit only ends a hanging test."""
        with self._more:
            if not self._more.wait_for(
                lambda: len(self.heard) >= count, timeout=60
            ):
                raise AssertionError(f'heard only {self.heard}')
            return list(self.heard)


class NoticesTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.conf = configuration()
        # Watcher's own tests may have left theirs in this process.
        self.useFixture(
            fixtures.MonkeyPatch(
                'watcher.common.rpc.NOTIFICATION_TRANSPORT', None
            )
        )
        self.log = self.useFixture(fixtures.FakeLogger())

    def listen(self, **more):
        listener = Listener(self.conf, **more)
        self.addCleanup(listener.stop)
        return listener
