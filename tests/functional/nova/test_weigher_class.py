# SPDX-License-Identifier: Apache-2.0
"""Is the class what Nova's handler of weighers wants?"""

import json
import os
import pathlib
import subprocess
import sys
from unittest import mock

import fixtures

# Before all else: eventlet, if it is wanted, wants to be first.
from tests.functional.nova import weighing  # isort: split

import nova.conf
from nova import exception, objects, test
from nova.scheduler import host_manager, weights

from kronos.weighers import cache, load, slot_hold
from tests import places

CONF = nova.conf.CONF
SPEC = objects.RequestSpec(instance_group=None, flavor=objects.Flavor(vcpus=2))
OPTIONAL = (
    'numpy',
    'openstack',
    'watcher',
    'kronos.engine.planning.propose',
    'kronos.engine.simulation.utilization',
    'kronos.strategies',
)


class Source:
    """Always the same: it is not what is tested here."""


def state(host, **metadata):
    found = host_manager.HostState(host, host, None)
    found.aggregates = [
        objects.Aggregate(name=key, metadata={key.split('__')[0]: value})
        for key, value in metadata.items()
    ]
    return found


class ClassTestCase(test.NoDBTestCase):
    def setUp(self):
        super().setUp()
        self.spawned = []
        self.cache = cache.Cache(Source(), spawn=self.spawned.append)
        self.weigher = load.KronosWeigher(self.cache)
        self.flags(weight_multiplier=1.0, group='kronos')

    def weigh(self, *hosts, spec=SPEC):
        """As Nova does; by host."""
        found = weights.HostWeightHandler().get_weighed_objects(
            [self.weigher], list(hosts), spec
        )
        return {one.obj.host: one.weight for one in found}


class TestClass(ClassTestCase):
    def test_nova_loads_it(self):
        """By its path only."""
        handler = weights.HostWeightHandler()
        names = [
            one.__name__
            for one in handler.get_matching_classes(weighing.CLASSES)
        ]
        self.assertIn('KronosWeigher', names)
        self.assertGreaterEqual(len(names), 13)
        usual = handler.get_matching_classes(weighing.CLASSES[:1])
        self.assertNotIn(load.KronosWeigher, usual)

    def test_the_scale_is_absolute(self):
        """Nova does not stretch what is close."""
        self.assertEqual(
            (0.0, 1.0), (load.KronosWeigher.minval, load.KronosWeigher.maxval)
        )
        self.cache.weigh = lambda states, vcpus: [0.5, 0.51]
        found = self.weigh(state('a'), state('b'))
        self.assertAlmostEqual(0.01, found['b'] - found['a'])

    def test_room_is_held(self):
        """A slot counts for more than the load, beyond the scale, too."""
        self.cache.weigh = lambda states, vcpus: [0.3, 0.2, 0.9]
        self.cache.hold = slot_hold.SlotHold(1.0, ((16.0, 0.0, 0.0),))
        hosts = [state(name) for name in 'abc']
        for host, used in zip(hosts, (15, 14, 15), strict=True):
            host.vcpus_total, host.vcpus_used = 32, used
            host.cpu_allocation_ratio = 1.0
        flavor = objects.Flavor(
            vcpus=2, memory_mb=4, root_gb=1, ephemeral_gb=0, swap=0
        )
        spec = objects.RequestSpec(
            instance_group=None, flavor=flavor, is_bfv=False
        )
        found = self.weigh(*hosts, spec=spec)
        self.assertEqual(['b', 'c', 'a'], sorted(found, key=found.get)[::-1])
        self.assertAlmostEqual(0.6, found['c'] - found['a'])

    def test_a_flavor_of_nova(self):
        """None if there is none; what else is wrong is the reader's."""
        flavor = objects.Flavor(
            flavorid='7',
            name='f16',
            vcpus=16,
            memory_mb=32768,
            root_gb=10,
            ephemeral_gb=1,
            swap=512,
            extra_specs={'hw:boot_menu': 'true'},
        )

        def get_by_name(admin, name):
            self.assertTrue(admin.is_admin)
            if name != 'f16':
                raise exception.FlavorNotFoundByName(flavor_name=name)
            return flavor

        with mock.patch.object(objects.Flavor, 'get_by_name', get_by_name):
            self.assertIsNone(load._flavor('f61'))
            found = load._flavor('f16')
        self.assertEqual(
            (16, 32768, 10, 1, 512, {'hw:boot_menu': 'true'}),
            (
                found.vcpus,
                found.memory_mb,
                found.root_gb,
                found.ephemeral_gb,
                found.swap_mb,
                found.extra_specs,
            ),
        )

    def test_one_host(self):
        """For a server of that size."""
        self.cache.weigh = lambda states, vcpus: [vcpus / 8] * len(states)
        self.assertEqual(0.25, self.weigher._weigh_object(state('a'), SPEC))

    def test_construction_does_nothing(self):
        """No thread, no file, no socket."""
        load.KronosWeigher()
        self.assertEqual([], self.spawned)

    def test_whatever_happens(self):
        """Never an exception; the thread tells of it."""
        noted = []
        self.cache.note_fault = noted.append
        for error in (
            KeyError('x'),
            RuntimeError(),
            TimeoutError(),
            OSError(),
        ):

            def fail(states, vcpus, error=error):
                raise error

            self.cache.weigh = fail
            self.assertEqual(
                {'a': 0.0, 'b': 0.0}, self.weigh(state('a'), state('b'))
            )
            self.assertEqual(0.0, self.weigher._weigh_object(state('a'), SPEC))
            self.assertEqual([error, error], noted[-2:])
        self.assertEqual(1.0, self.weigher.weight_multiplier(None))


class TestOneOfTheGuide(ClassTestCase):
    """The weigher that the documentation shows how to write."""

    FOLDER = places.TOP / 'doc' / 'source' / 'extending' / 'weigher'

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.PythonPathEntry(str(self.FOLDER)))
        found = weights.HostWeightHandler().get_matching_classes(
            [*weighing.CLASSES[:1], 'kronos_large.LargeOnly']
        )
        (large,) = (one for one in found if one.__name__ == 'LargeOnly')
        self.weigher = large(self.cache)
        self.cache.weigh = lambda states, vcpus: [0.2, 0.6]

    def test_large_servers_are_weighed(self):
        spec = objects.RequestSpec(
            instance_group=None, flavor=objects.Flavor(vcpus=4)
        )
        found = self.weigh(state('a'), state('b'), spec=spec)
        self.assertAlmostEqual(0.4, found['b'] - found['a'])

    def test_small_ones_are_not(self):
        found = self.weigh(state('a'), state('b'))
        self.assertEqual({'a': 0.0, 'b': 0.0}, found)


class TestMultiplier(ClassTestCase):
    def multiplier(self, **metadata):
        self.weigh(state('a'), state('b'))
        return self.weigher.weight_multiplier(state('a', **metadata))

    def test_of_the_options(self):
        """Read with each request."""
        self.assertEqual(1.0, self.multiplier())
        self.flags(weight_multiplier=-2.5, group='kronos')
        self.assertEqual(-2.5, self.multiplier())

    def test_of_aggregates(self):
        """The least of several, as for Nova's own weighers."""
        key = load.MULTIPLIER_KEY
        self.assertEqual(7.5, self.multiplier(**{key: '7.5'}))
        both = {f'{key}__1': '7', f'{key}__2': '3'}
        self.assertEqual(3.0, self.multiplier(**both))
        self.assertEqual(1.0, self.multiplier(cpu_weight_multiplier='9'))

    def test_nonsense(self):
        """What is no number does not spoil the order."""
        self.flags(weight_multiplier=4.0, group='kronos')
        for value in ('nan', 'inf', '-inf', 'much', '', '1,5'):
            self.assertEqual(
                4.0, self.multiplier(**{load.MULTIPLIER_KEY: value}), value
            )
        for value in (float('nan'), float('inf'), None):
            # None is what an empty option is to oslo.config.
            self.flags(weight_multiplier=value, group='kronos')
            self.assertEqual(1.0, self.multiplier())


class TestProcesses(test.NoDBTestCase):
    def program(self, text, **env):
        """What a program of its own prints."""
        done = subprocess.run(
            [sys.executable, '-W', 'ignore', '-c', text],
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def test_what_it_needs(self):
        """Neither what plans nor a network, a thread or a file."""
        text = (
            'import builtins, socket, sys, threading\n'
            'import nova.conf, nova.utils\n'
            'from nova.scheduler import utils, weights\n'
            'nova, threads = set(sys.modules), threading.active_count()\n'
            'def refuse(*args): raise AssertionError(args)\n'
            'socket.socket.connect = refuse\n'
            'from kronos.weighers import load\n'
            'builtins.open = refuse\n'
            'load.KronosWeigher()\n'
            'assert threading.active_count() == threads\n'
            'print(*(set(sys.modules) - nova))\n'
        )
        env = {'OS_NOVA_DISABLE_EVENTLET_PATCHING': '1'}
        loaded = self.program(text, **env).split()
        self.assertIn('kronos.weighers.load', loaded)
        self.assertEqual(
            [], [name for name in loaded if name.startswith(OPTIONAL)]
        )

    def test_two_workers_of_native_threads(self):
        """They begin before the first request."""
        for one in self._two_workers('1', 'False'):
            self.assertTrue(one['begins'])
            self.assertAlmostEqual(0.8, one['first'][0])

    def test_two_workers_of_eventlet(self):
        """As in Nova 31, and in 34 for those who ask for it."""
        for one in self._two_workers('0', 'True'):
            self.assertFalse(one['begins'])
            # The thread may be quicker than the weighing that begins it.
            self.assertIn(one['first'], ([0.0, 0.0], one['weights']))

    def _two_workers(self, disable, is_patched):
        """Both get scores, each by connections of its own; what they tell.

        How many is not said: one may be lost and opened anew.
        """
        prometheus = self.useFixture(weighing.Prometheus())
        prometheus.give({'a': 0.2, 'b': 0.9})
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        policies = folder / 'policies.yaml'
        policies.write_text(weighing.policies())
        options = folder / 'nova.conf'
        options.write_text(
            f'[kronos]\npolicies_file = {policies}\nrefresh_seconds = 1\n'
            'weight_multiplier = 1.0\n'
            f'[kronos_prometheus]\nurl = {prometheus.url}\n'
        )
        program = pathlib.Path(__file__).with_name('two_workers.py')
        lines = self.program(
            program.read_text().replace('NOVA_CONF', str(options)),
            OS_NOVA_DISABLE_EVENTLET_PATCHING=disable,
        ).splitlines()
        told = [json.loads(line) for line in lines if line.startswith('{')]
        parent, *found = told
        self.assertEqual(2, len(found), lines)
        self.assertEqual(2, len({one['pid'] for one in found}))
        for one in found:
            self.assertEqual(is_patched, str(one['is_patched']))
            self.assertEqual(['a', 'b'], one['order'])
            self.assertAlmostEqual(0.8, one['weights'][0])
            self.assertAlmostEqual(0.1, one['weights'][1])
            self.assertNotEqual([], one['opened'])
        self.assertNotEqual([], parent['opened'])
        opened = [port for one in told for port in one['opened']]
        self.assertEqual(sorted(opened), prometheus.seen['callers'])
        return found
