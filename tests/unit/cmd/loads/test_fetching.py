# SPDX-License-Identifier: Apache-2.0
"""Does a command fetch a load of a cloud, over the wire?"""

import argparse
import random
import subprocess
import sys
from unittest import mock

import numpy as np

from kronos.cmd import simulate
from kronos.cmd.loads import arguments as own_arguments
from kronos.cmd.loads import fetching
from kronos.common import exceptions
from kronos.simulate import load as loads
from kronos.simulate.fetch.ranges import RangeReader
from kronos.simulate.load import Load
from tests import commands, places
from tests.fakes import large_cloud
from tests.unit.cmd.test_record import RecordTestCase

HOSTS, SERVERS, GONE = 12, 95, 9
PROGRAM = 'from kronos.cmd import scripts; exit(scripts.simulate())'


def parsed(*arguments: str) -> argparse.Namespace:
    return own_arguments.parser_of('kronos-simulate').parse_args(arguments)


class TestArguments(RecordTestCase):
    def test_values(self) -> None:
        words = [
            *('--fetch', '7d', '--out', 'x', '--step', '10m'),
            *('--raw', 'cpu=a == 1', '--raw', 'ram=b'),
        ]
        values = parsed(*words)
        self.assertEqual(604800.0, values.fetch)
        self.assertEqual(600, values.step)
        self.assertEqual([('cpu', 'a == 1'), ('ram', 'b')], values.raw)
        self.assertEqual('', fetching.misuse(values, words))
        self.assertEqual(300, parsed().step)
        self.assertEqual('', fetching.misuse(parsed(), []))

    def test_what_is_none(self) -> None:
        for words in (
            ('--fetch', '7'),
            ('--fetch', 'week'),
            ('--fetch', '0d'),
            ('--step', '2h'),
            ('--step', '500ms'),
            ('--raw', 'cpu'),
            ('--raw', '../x=y'),
        ):
            with self.subTest(words=words):
                self.assertRaises(SystemExit, parsed, *words)

    def test_misuse(self) -> None:
        for words, fault in (
            (('--fetch', '7d'), '--fetch needs --out'),
            (('--out', 'x'), '--out needs --fetch'),
            (('--fetch', '7d', '--out', 'x', 'y'), 'remove LOAD'),
            (
                (
                    *('--fetch', '7d', '--out', 'x'),
                    *('--raw', 'a=b', '--raw', 'a=c'),
                ),
                'the same policy is given twice',
            ),
            (('--raw', 'a=b', 'x'), '--raw: it requires --fetch'),
            (
                ('--fetch', '7d', '--out', 'x', '--interval', '300'),
                '--interval: simulate the load afterwards',
            ),
        ):
            self.assertIn(fault, fetching.misuse(parsed(*words), words))


class TestFetch(RecordTestCase):
    """Over sockets: Nova pages by 10 rows."""

    def setUp(self) -> None:
        super().setUp()
        self.wire.stop()
        child = large_cloud.process(HOSTS, SERVERS, 10)
        port = child.__enter__()
        self.addCleanup(child.__exit__, None, None, None)
        policies = self.write_policies(*large_cloud.POLICIES)
        self.path = self.write(
            'kronos.conf', large_cloud.configuration(port, policies)
        )
        self.out = self.folder / 'load'

    def arguments(self, *more: str) -> list[str]:
        return [
            *('--fetch', '2d', '--out', str(self.out)),
            *('--config-file', self.path),
            *more,
        ]

    def fetch(self, *more: str) -> tuple[int, list[str]]:
        """Exit status, and what it says."""
        code, out, err = commands.run(simulate.main, self.arguments(*more))
        self.assertEqual('', out)
        self.assertNotIn('Traceback', err)
        return code, err.splitlines()

    def test_a_load(self) -> None:
        code, lines = self.fetch()
        self.assertEqual(0, code, lines)
        load = loads.read(str(self.out))
        self.assertEqual(576, load.ticks)
        self.assertEqual(HOSTS, len(load.meta.hosts))
        self.assertEqual(SERVERS + GONE, len(load.meta.instances))
        self.assertEqual(SERVERS, (load.placement[-1] >= 0).sum())
        self.assertEqual(2, len(set(load.placement[:, 8].tolist())))
        self.assertEqual(1, len(set(load.placement[:, 9].tolist())))
        dead = [row for row in load.meta.instances if row.gone]
        self.assertEqual(GONE, len(dead))
        self.assert_waves(load)
        self.assertFalse(np.isnan(load.remainder['ram']).any())
        self.assertIn(f'kronos-simulate: {self.out} was written', lines)
        # The fake has no series of those that are gone.
        self.assertIn(
            'kronos-simulate: limit: Policy cpu: 9 of 104 servers have no '
            'usage.',
            lines,
        )

    def assert_waves(self, load: Load) -> None:
        """Every server has at every tick what the fake gave."""
        moments = load.meta.start + 300.0 * np.arange(load.ticks)
        for name in ('cpu', 'ram'):
            for number in (0, 1, SERVERS - 1):
                shift = number % large_cloud.WAVES
                np.testing.assert_allclose(
                    0.02 + 0.01 * np.sin(moments / 2000 + shift),
                    load.usage[name][:, number],
                    rtol=1e-5,
                )

    def test_killed_at_random(self) -> None:
        """Whenever it is killed, the same command goes on, to the end."""
        choice = random.Random(11)
        kills = 0
        while True:
            child = subprocess.Popen(
                [
                    *(sys.executable, '-c', PROGRAM),
                    *self.arguments(),
                ],
                cwd=places.TOP,
                stderr=subprocess.PIPE,
                text=True,
            )
            try:
                # The first ones do not come far, however slow it is here.
                seconds = 600 if kills == 5 else choice.uniform(0.5, 4)
                _, err = child.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                child.kill()
                child.communicate()
                kills += 1
                is_over = (self.out / 'meta.json').exists() and not (
                    self.out / 'fetch'
                ).exists()
                if is_over:
                    break
                continue
            self.assertEqual(0, child.returncode, err)
            break
        self.assert_waves(loads.read(str(self.out)))
        self.assertFalse((self.out / 'fetch').exists())

    def test_no_secret(self) -> None:
        self.assertEqual(0, self.fetch('--anonymize')[0])
        everything = b''.join(
            path.read_bytes() for path in self.out.rglob('*.json')
        )
        for secret in (b'pa55word', b'tok3n-of', b'I2Nsb3Vk', b'cmp0003'):
            self.assertNotIn(secret, everything)

    def test_what_is_there(self) -> None:
        self.fetch()
        code, lines = self.fetch('--raw', 'cpu=x')
        self.assertEqual(1, code)
        self.assertIn('there is a load already', lines[-1])

    def test_cut(self) -> None:
        """It says how to go on."""
        error = exceptions.PrometheusError('away')
        for cut, status in ((error, 1), (KeyboardInterrupt(), 130)):
            with mock.patch.object(RangeReader, 'read', side_effect=cut):
                code, lines = self.fetch()
            self.assertEqual(status, code)
            self.assertEqual(
                f'kronos-simulate: {self.out} is not complete; repeat the '
                'command to continue',
                lines[-2],
            )
        self.assertEqual(0, self.fetch()[0])
