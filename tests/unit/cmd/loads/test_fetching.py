# SPDX-License-Identifier: Apache-2.0
"""Does a command fetch a load of a cloud, over the wire?"""

import argparse
import subprocess
import sys
from typing import Any

import numpy as np

from kronos.cmd.loads import fetching
from kronos.common import exceptions
from kronos.simulate import load as loads
from tests import places
from tests.fakes import large_cloud
from tests.unit.cmd.test_record import RecordTestCase

HOSTS, SERVERS = 12, 95


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    fetching.add_arguments(parser)
    parser.add_argument('--policies')
    return parser.parse_args(arguments)


class TestArguments(RecordTestCase):
    def test_values(self) -> None:
        values = parsed(
            *('--fetch', '7d', '--out', 'x', '--step', '10m'),
            *('--raw', 'cpu=a == 1', '--raw', 'ram=b'),
        )
        self.assertEqual(604800.0, values.fetch)
        self.assertEqual(600, values.step)
        self.assertEqual([('cpu', 'a == 1'), ('ram', 'b')], values.raw)
        self.assertEqual('', fetching.misuse(values))
        self.assertEqual(300, parsed().step)
        self.assertEqual('', fetching.misuse(parsed()))

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
            (('--raw', 'a=b', '--raw', 'a=c'), 'a policy is there twice'),
        ):
            self.assertIn(fault, fetching.misuse(parsed(*words)))


class TestFetch(RecordTestCase):
    """Over sockets: Nova pages by 10 rows."""

    def setUp(self) -> None:
        super().setUp()
        self.wire.stop()
        child = subprocess.Popen(
            [
                *(sys.executable, '-m', 'tests.fakes.large_cloud'),
                *(str(HOSTS), str(SERVERS), '10'),
            ],
            cwd=places.TOP,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdin and child.stdout
        self.addCleanup(child.wait)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stdin.close)
        port = int(child.stdout.readline())
        policies = self.write_policies(*large_cloud.POLICIES)
        self.path = self.write(
            'kronos.conf', large_cloud.configuration(port, policies)
        )
        self.out = self.folder / 'load'
        self.lines: list[str] = []

    def fetch(self, *more: str) -> Any:
        arguments = ('--fetch', '2d', '--out', str(self.out))
        fetching.run(
            parsed(*arguments, '--config-file', self.path, *more),
            self.lines.append,
        )
        return loads.read(str(self.out))

    def test_a_load(self) -> None:
        load = self.fetch()
        self.assertEqual(576, load.ticks)
        self.assertEqual(HOSTS, len(load.meta.hosts))
        self.assertEqual(SERVERS + SERVERS // 10, len(load.meta.instances))
        self.assertEqual(SERVERS, (load.placement[-1] >= 0).sum())
        places_of_first = set(load.placement[:, 8].tolist())
        self.assertEqual(2, len(places_of_first))
        gone = [row for row in load.meta.instances if row.gone]
        self.assertEqual(SERVERS // 10, len(gone))
        # The fake has no series of those.
        values = load.usage['cpu'][-1, :SERVERS]
        self.assertTrue(((values > 0.005) & (values < 0.035)).all())
        self.assertFalse(np.isnan(load.remainder['ram']).any())
        self.assertIn(f'{self.out} is written', self.lines)
        self.assertIn(
            'limit: Policy cpu: 9 of 104 servers have no usage.', self.lines
        )

    def test_no_secret(self) -> None:
        self.fetch('--anonymize')
        everything = b''.join(
            path.read_bytes() for path in self.out.rglob('*.json')
        )
        for secret in (b'pa55word', b'tok3n-of', b'I2Nsb3Vk', b'cmp0003'):
            self.assertNotIn(secret, everything)

    def test_other_policies(self) -> None:
        self.fetch()
        error = self.assertRaises(
            exceptions.ArchiveError, self.fetch, '--raw', 'cpu=x'
        )
        self.assertIn('there is a load already', str(error))
