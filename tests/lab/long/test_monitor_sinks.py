# SPDX-License-Identifier: Apache-2.0
"""All sinks of an instance monitor are away while 10,000 servers crash.

Nothing of the lab has to run: the agent is a process of its own, its
hypervisor is made up, and its sinks answer on loopback.
"""

import collections
import contextlib
import sqlite3
import threading
import time

from tests.unit.monitor import agents
from tests.unit.monitor.receiver import Receiver
from tests.unit.monitor.sinks import services
from tests.unit.monitor.sinks.cloud import AUDIT, Cloud

MANY = 10_000
GUESTS = 100
LONG = 1500.0
"""Seconds after which a condition will never be met."""


def until(condition):
    """Wait for a condition; the seconds that it took."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() > began + LONG:
            raise AssertionError('never')
        threading.Event().wait(0.2)
    return time.monotonic() - began


class TestSinksAway(agents.AgentTestCase):
    SPOOL_MB = 64

    def services(self, name, *more):
        return [
            f'[kronos_monitor_{name}]',
            f'auth_url = {self.gone.url}/v3',
            'username = kronos-monitor',
            f'password = {services.SECRET}',
            'insecure = true',
            'retry_max_seconds = 5',
            *more,
        ]

    def waiting(self):
        """Deliveries that are on disk, by sink."""
        path = f'file:{self.state}?mode=ro'
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(path, uri=True)) as reader,
        ):
            return dict(
                reader.execute(
                    'SELECT sink, count(*) FROM deliveries GROUP BY sink'
                )
            )
        return {}

    def size(self):
        return sum(
            path.stat().st_size for path in self.folder.glob('monitor.db*')
        )

    def test_all_are_delivered_in_order(self):
        self.gone, gone_hook = Cloud(), Receiver()
        self.gone.close()
        gone_hook.close()
        agent = self.process(
            gone_hook.url,
            *self.services('ha'),
            'driver = masakari',
            *self.services('audit', f'audit = {AUDIT}', 'trigger_delay = 5'),
            'driver = watcher',
            '[kronos_monitor]',
            'sinks = hook, ha, audit',
        )
        guests = [self.host.start(f'guest-{n}') for n in range(GUESTS)]
        log = self.folder / 'log'
        until(lambda: f'watches {GUESTS} servers' in log.read_text())
        for _ in range(MANY // GUESTS):
            for one in guests:
                self.host.kill(one)
                self.host.start(one)
        names = ('hook', 'ha', 'audit')
        until(lambda: self.waiting() == dict.fromkeys(names, MANY))
        self.assertLessEqual(self.size(), self.SPOOL_MB * 2**20)
        hook = self.receiver(port=gone_hook.port)
        cloud = Cloud(port=self.gone.port)
        self.addCleanup(cloud.close)
        began = time.monotonic()
        until(lambda: cloud.triggers)
        cloud.end()
        took = {}

        def is_over():
            waiting = self.waiting()
            for name in names:
                if name not in waiting:
                    took.setdefault(name, time.monotonic() - began)
            return not waiting

        until(is_over)
        # For whoever runs it; other work on the machine slows it down.
        print(f'seconds until all had come, by sink: {took}')
        self.assertEqual(MANY, len({*hook.ids}))
        self.assertEqual(MANY, len(cloud.notifications))
        self.assertLessEqual(cloud.triggers, 2)
        self.assert_in_order(
            (one['instance']['uuid'], one['seen']) for one in hook.bodies
        )
        self.assert_in_order(
            (one['payload']['instance_uuid'], one['generated_time'])
            for one in cloud.notifications
        )
        agent.terminate()
        self.assertEqual(0, agent.wait())

    def assert_in_order(self, told):
        seen = collections.defaultdict(list)
        for instance, at in told:
            seen[instance].append(at)
        self.assertEqual(GUESTS, len(seen))
        for times in seen.values():
            self.assertEqual(sorted(times), times)
