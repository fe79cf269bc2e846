# SPDX-License-Identifier: Apache-2.0
"""A nova-scheduler that weighs by Kronos, and a Prometheus on loopback."""

import functools
import json
import pathlib
import subprocess
import sys
import threading
import time

import fixtures

# Before all else: eventlet, if it is wanted, wants to be first.
from tests.functional.nova import base  # isort: split

import nova.conf
import requests

from kronos.weighers import cache, load
from tests import places

CONF = nova.conf.CONF
CLASSES = [
    'nova.scheduler.weights.all_weighers',
    f'{load.__name__}.KronosWeigher',
]
CEILING = 0.8
FASTER = 5
NAP = 0.02
"""Seconds between two looks of the cache at the clock."""


def _clock():
    """Seconds of the cache, which pass faster than ours."""
    return FASTER * time.monotonic()


def policies(mode='spread'):
    """A policies file of one policy, whose queries are its name."""
    policy = {
        'name': 'cpu',
        'mode': mode,
        'weight': 1.0,
        'imbalance_query': 'cpu',
        'vm_profile_query': 'vm_cpu',
    }
    if mode == 'pack':
        policy |= {'capacity_query': 'cpu', 'capacity_threshold': CEILING}
    return json.dumps({'policies': [policy]})


class Prometheus(fixtures.Fixture):
    """A program at ``url``, which answers what it is told to."""

    def _setUp(self):
        program = places.TOP / 'tests/fakes/loopback_prometheus.py'
        self._process = subprocess.Popen(
            [sys.executable, str(program)], stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(self.stop)
        self.url = (
            f'http://127.0.0.1:{self._process.stdout.readline().strip()}'
        )

    def stop(self):
        self._process.terminate()
        self._process.wait()
        self._process.stdout.close()

    def give(self, loads):
        """Answer host to value, or rows of them, from now on."""
        rows = loads.items() if isinstance(loads, dict) else loads
        self.tell(loads=list(rows), body='', status=200)

    def tell(self, **state):
        requests.put(self.url, json=state, timeout=10).raise_for_status()

    @property
    def seen(self):
        """How often it was ``asked``, and the ports of the ``callers``."""
        return requests.get(self.url, timeout=10).json()


class WeighingTestCase(base.NovaTestCase):
    """``self.prometheus`` tells the loads of three hosts of 10 vCPUs.

    They are chosen by Nova's own weighers and ten times by Kronos.
    """

    mode = 'spread'
    loads = {'host1': 0.3, 'host2': 0.1, 'host3': 0.6}

    def setUp(self):
        self.prometheus = self.useFixture(Prometheus())
        self.prometheus.give(self.loads)
        self.useFixture(
            fixtures.MonkeyPatch(
                f'{load.__name__}.cache.Cache',
                functools.partial(
                    cache.Cache, sleep=self._sleep, clock=_clock
                ),
            )
        )
        self._is_over = threading.Event()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.file = folder / 'policies.yaml'
        self.file.write_text(policies(self.mode))
        for group, options in (
            ('filter_scheduler', {'weight_classes': CLASSES}),
            (
                'kronos',
                {
                    'policies_file': str(self.file),
                    'hypervisor_types': ['fake'],
                    'refresh_seconds': 1,
                    'weight_multiplier': 10.0,
                },
            ),
            (
                'kronos_prometheus',
                {'url': self.prometheus.url, 'timeout': 2, 'max_retries': 0},
            ),
        ):
            for name, value in options.items():
                CONF.set_override(name, value, group)
        super().setUp()
        self.addCleanup(self._is_over.set)
        self.small = self.flavor()

    def _sleep(self, seconds):
        """Ends the thread of the cache with its test."""
        if self._is_over.wait(min(seconds, NAP)):
            raise SystemExit

    def begin(self, vcpus=10):
        """Have Kronos meet the hosts, by a first boot.

        :param vcpus: of a server on each of them, whose load theirs is
        """
        flavor = self._create_flavor(vcpu=vcpus, memory_mb=512, ephemeral=1)
        for host in self.hosts:
            self.boot(host, flavor_id=flavor)
        self.tried()
        self.refreshed()

    def refreshed(self):
        """Wait until what Prometheus says now is what weighs."""
        # When it is asked for the second time, the first answer is used.
        enough = self.prometheus.seen['asked'] + 2
        self.until(
            'Prometheus is asked again',
            lambda: self.prometheus.seen['asked'] >= enough,
        )

    def give(self, **loads):
        self.prometheus.give(loads)
        self.refreshed()

    def new(self):
        """The host that a new server is placed on."""
        return self.boot(flavor_id=self.small)['OS-EXT-SRV-ATTR:host']

    def tried(self):
        """The host of a new server, which is gone again."""
        server = self.boot(flavor_id=self.small)
        self._delete_server(server)
        return server['OS-EXT-SRV-ATTR:host']
