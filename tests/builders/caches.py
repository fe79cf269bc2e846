# SPDX-License-Identifier: Apache-2.0
"""The cache of a weigher, with Prometheus at the wire."""

import json
import logging
import pathlib
import random
import threading
import time
import types
from urllib import parse

import fixtures
import responses
from oslo_config import cfg
from oslotest import base

from kronos.conf import opts
from kronos.weighers import cache, score_source

URL = 'http://metrics.example.org:9090'
SECRET = 'geheim-4711'
PATIENCE_SECONDS = 30
LOADS = {'a': 0.2, 'b': 0.5, 'c': 0.9}
WEIGHTS = {'a': 0.8, 'b': 0.5, 'c': 0.1}
NEUTRAL = dict.fromkeys(WEIGHTS, 0.0)
WARNING = 'lacks data; its scores'
WELL = 'has all its data again'
FIRST = 'has its first scores'
SAMPLES = 'has its first samples'


def state(host, used=0, aggregates=(), total=16, kind='QEMU', node=''):
    """What a weigher reads of Nova's ``HostState``."""
    return types.SimpleNamespace(
        host=host,
        nodename=node or host,
        aggregates=list(aggregates),
        hypervisor_type=kind,
        vcpus_total=total,
        vcpus_used=used,
    )


def states(*hosts, **fields):
    return [state(host, **fields) for host in hosts]


def aggregate(name, **metadata):
    return types.SimpleNamespace(name=name, metadata=metadata)


def mode(value, name='agg'):
    """An aggregate that asks for a mode."""
    return aggregate(name, kronos_mode=value)


def policy(name='cpu', weight=1.0, mode='spread', **fields):
    """A row of a policies file; its query is its name."""
    if mode == 'pack':
        fields = {'capacity_query': f'{name}_in_use', **fields}
    return {
        'name': name,
        'mode': mode,
        'weight': weight,
        'imbalance_query': name,
        'vm_profile_query': f'{name}_of_vm',
        **fields,
    }


class Prometheus(fixtures.Fixture):
    """What the wire answers: query to host to value."""

    def _setUp(self):
        self.values = {}
        self.queries = []
        self.fault = None
        """Instead: (status, body), or an exception."""
        self.age = 0.0
        """Of the samples, in seconds."""
        self.before = lambda: None
        """Called before each answer."""
        wire = responses.RequestsMock(assert_all_requests_are_fired=False)
        self.wire = wire
        wire.start()
        self.addCleanup(wire.stop)
        self.addCleanup(wire.reset)
        for method in ('POST', 'GET'):
            wire.add_callback(method, f'{URL}/api/v1/query', self._answer)

    def _answer(self, request):
        self.before()
        text = request.body or parse.urlsplit(request.url).query
        query = dict(parse.parse_qsl(text))['query']
        self.queries.append(query)
        fault = self.fault
        if isinstance(fault, dict):
            fault = fault.get(query)
        if isinstance(fault, BaseException):
            raise fault
        if fault:
            return fault[0], {}, fault[1]
        return 200, {}, json.dumps(self._body(query))

    def _body(self, query):
        rows = self.values.get(query, {})
        rows = list(rows.items()) if isinstance(rows, dict) else rows
        result = [
            {
                'metric': {'host': host, 'nth': str(nth)},
                'value': [time.time() - self.age, str(value)],
            }
            for nth, (host, value) in enumerate(rows)
        ]
        data = {'resultType': 'vector', 'result': result}
        return {'status': 'success', 'data': data}


class _End(BaseException):
    """Ends the thread."""


class Turns(fixtures.Fixture):
    """A clock, and a thread that goes on by one sleep at a time."""

    def _setUp(self):
        self.now = 1000.0
        self.works = []
        self._thread = None
        self.addCleanup(self.stop)

    def clock(self):
        return self.now

    def sleep(self, seconds):
        self._rests.release()
        self._go.acquire()
        if self._is_over:
            raise _End
        self.now += seconds

    def sleep_through(self, seconds):
        """While somebody else takes time."""
        self.now += seconds

    def spawn(self, work):
        self.works.append(work)

    def start(self):
        """Let the thread go until it sleeps for the first time."""
        self._rests, self._go = threading.Semaphore(0), threading.Semaphore(0)
        self._is_over = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._wait()

    def tick(self):
        self._go.release()
        self._wait()

    def stop(self):
        if self._thread:
            self._is_over = True
            self._go.release()
            self._thread.join(PATIENCE_SECONDS)
            self._thread = None

    def _run(self):
        try:
            self.works[-1]()
        except _End:
            return
        finally:
            self._rests.release()

    def _wait(self):
        if not self._rests.acquire(timeout=PATIENCE_SECONDS):
            raise TimeoutError('the thread does not sleep')


class WeigherTestCase(base.BaseTestCase):
    """``self.cache`` with ``self.prometheus`` and ``self.turns``."""

    def setUp(self):
        super().setUp()
        # The first refresh after the start comes at any time; here late.
        random.seed(0)
        self.addCleanup(random.seed)
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.prometheus = self.useFixture(Prometheus())
        self.turns = self.useFixture(Turns())
        self.conf = cfg.ConfigOpts()
        opts.register_opts(self.conf)
        self.conf([], default_config_files=[], default_config_dirs=[])
        self.set(
            policies_file=self.write('policies.yaml', policy()),
            settling_seconds=120.0,
            score_step=0.0,
        )
        self.set('kronos_prometheus', url=URL, max_retries=0)
        self.source = score_source.ScoreSource(self.conf)
        self.cache = self.new_cache()

    def new_cache(self, **fields):
        kwargs = {
            'clock': self.turns.clock,
            'sleep': self.turns.sleep,
            'spawn': self.turns.spawn,
            **fields,
        }
        return cache.Cache(self.source, **kwargs)

    def set(self, group='kronos', **options):
        for name, value in options.items():
            self.conf.set_override(name, value, group)

    def write(self, name, *policies):
        path = self.folder / name
        path.write_text(json.dumps({'policies': list(policies)}))
        return str(path)

    def give(self, values, query='cpu'):
        self.prometheus.values[query] = values

    def weigh(self, *hosts):
        """By host; those that are named only are new to Nova."""
        host_states = [
            state(host) if isinstance(host, str) else host for host in hosts
        ]
        weights = self.cache.weigh(host_states)
        self.assertIsInstance(weights, list)
        self.assertEqual(len(host_states), len(weights))
        return {
            host.nodename: round(weight, 6)
            for host, weight in zip(host_states, weights, strict=True)
        }

    def meet(self, *hosts):
        """A first weighing, and the scores that follow it."""
        self.weigh(*hosts)
        self.turns.start()

    def refresh(self):
        """Go on until Prometheus was asked again; the seconds until then."""
        before, began = len(self.prometheus.queries), self.turns.now
        while self.turns.now < began + 1000.0:
            self.turns.tick()
            if len(self.prometheus.queries) > before:
                return self.turns.now - began
        return self.fail('it does not ask')

    def pass_by(self, seconds):
        """Go on with refreshes for so long at least."""
        end = self.turns.now + seconds
        while self.turns.now < end:
            self.turns.tick()

    def logged(self, text):
        """How often the log says so."""
        return self.log.output.count(text)


class CacheTestCase(WeigherTestCase):
    """Prometheus knows a, b and c."""

    def setUp(self):
        super().setUp()
        self.give(LOADS)

    def fill(self):
        """A cache that knows a, b and c."""
        self.meet(*LOADS)
        self.all_weigh(WEIGHTS)

    def all_weigh(self, weights):
        self.assertEqual(weights, self.weigh(*LOADS))
