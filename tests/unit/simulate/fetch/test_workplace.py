# SPDX-License-Identifier: Apache-2.0
"""Is what a fetch has written whole, and nothing else taken for it?"""

import errno
import json
import os
import pathlib
from typing import Any
from unittest import mock

import fixtures
import numpy as np
from oslotest import base

from kronos.common.exceptions import ArchiveError
from kronos.simulate.fetch import workplace
from kronos.simulate.fetch.lives import Life, Stay
from kronos.simulate.fetch.ranges import Block
from kronos.simulate.fetch.workplace import (
    Piece,
    Plan,
    PolicyNotes,
    Wish,
    Workplace,
)
from kronos.simulate.load_schema import ServerRow
from tests.unit.simulate.fetch import fetching

BLOCK = Block(['a', 'ü"\n'], np.array([[1.0, np.nan]], np.float32))


def plan(ticks: int = 100, step: int = 300) -> Plan:
    wish = Wish(ticks * float(step), step, {}, '')
    return Plan(workplace.FORMAT_VERSION, 1000.0, step, ticks, [], wish)


class WorkplaceTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.folder / 'load'

    def begun(self) -> Workplace:
        place = Workplace(str(self.path))
        lives = [Life(ServerRow('x', born=5.0), [Stay('a', 7.0), Stay('b')])]
        self.path.mkdir()
        place.begin(plan(), fetching.recording(), lives)
        return place

    def fault(self, call: Any, *args: Any) -> str:
        return str(self.assertRaises(ArchiveError, call, *args))


class TestPieces(WorkplaceTestCase):
    def test_ticks(self) -> None:
        """Six hours each, and every tick in one of them."""
        self.assertEqual(
            [Piece(0, 0, 72), Piece(1, 72, 28)], plan(100).pieces()
        )
        self.assertEqual([Piece(0, 0, 72)], plan(72).pieces())
        self.assertEqual(3, len(plan(3, 86400).pieces()))
        self.assertEqual(1600.0, plan().moment(2))

    def test_again(self) -> None:
        place = self.begun()
        place.write('usage-cpu-00001', BLOCK)
        block = Workplace(str(self.path)).read('usage-cpu-00001', 1)
        assert block is not None
        self.assertEqual(BLOCK.labels, block.labels)
        np.testing.assert_array_equal(BLOCK.values, block.values)

    def test_what_is_no_piece(self) -> None:
        place = self.begun()
        place.write('usage-cpu-00001', BLOCK)
        self.assertIsNone(place.read('usage-cpu-00002', 1))
        self.assertIsNone(place.read('usage-cpu-00001', 2))
        path = self.path / 'fetch' / 'pieces' / 'usage-cpu-00001.npz'
        whole = path.read_bytes()
        for data in (b'', whole[:-1], whole[:50], whole.replace(b'"a"', b'a')):
            path.write_bytes(data)
            self.assertIsNone(place.read('usage-cpu-00001', 1))
        objects = np.array([[None, None]], object)
        np.savez(
            path, labels=np.frombuffer(b'["a"]', np.uint8), values=objects
        )
        self.assertIsNone(place.read('usage-cpu-00001', 1))
        path.unlink()
        elsewhere = self.folder / 'elsewhere'
        elsewhere.write_bytes(whole)
        path.symlink_to(elsewhere)
        self.assertIsNone(place.read('usage-cpu-00001', 1))

    def test_those_of_a_policy_go(self) -> None:
        """And those of another one, which is called nearly so, stay."""
        place = self.begun()
        for name in ('cpu', 'cpu-1', 'x-cpu'):
            place.write(f'usage-{name}-00001', BLOCK)
            place.write(f'hosts-{name}-00001', BLOCK)
        self.assertIsNone(place.notes('cpu'))
        place.finish_policy('cpu', PolicyNotes(['a limit']))
        self.assertEqual(PolicyNotes(['a limit']), place.notes('cpu'))
        self.assertIsNone(place.read('hosts-cpu-00001', 1))
        for name in ('cpu-1', 'x-cpu'):
            self.assertIsNotNone(place.read(f'usage-{name}-00001', 1))


class TestBegin(WorkplaceTestCase):
    def test_again(self) -> None:
        self.assertFalse(Workplace(str(self.path)).is_begun)
        self.begun()
        place = Workplace(str(self.path))
        self.assertTrue(place.is_begun)
        self.assertEqual(plan(), place.plan())
        self.assertEqual(
            [Life(ServerRow('x', born=5.0), [Stay('a', 7.0), Stay('b')])],
            place.lives(),
        )
        self.assertEqual(
            fetching.recording().gathered.instances[0].uuid,
            place.recording().gathered.instances[0].uuid,
        )

    def test_what_a_killed_one_was_writing(self) -> None:
        place = self.begun()
        for name in ('.kronos-fetch-1.tmp', 'mine'):
            (place.path / name).write_text('half')
        place.tidy()
        self.assertFalse((place.path / '.kronos-fetch-1.tmp').exists())
        self.assertTrue((place.path / 'mine').exists())

    def test_it_is_for_its_owner(self) -> None:
        """Names are in it, also where those of the load are others."""
        self.begun()
        mode = (self.path / 'fetch').stat().st_mode & 0o777
        self.assertEqual(0o700, mode)

    def test_what_others_wrote(self) -> None:
        self.begun()
        path = self.path / 'fetch' / 'plan.json'
        document = json.loads(path.read_text())
        for change, words in (
            ({'step': 0}, 'step'),
            ({'ticks': 10**9}, 'ticks'),
            ({'format_version': 'fetch/9'}, 'must be fetch/1'),
            ({'more': 1}, 'more'),
        ):
            path.write_text(json.dumps(document | change))
            place = Workplace(str(self.path))
            self.assertIn(words, self.fault(place.plan))

    def test_a_link(self) -> None:
        """Nothing behind it is written or removed."""
        elsewhere = self.folder / 'elsewhere'
        (elsewhere / 'precious').mkdir(parents=True)
        self.path.mkdir()
        (self.path / 'fetch').symlink_to(elsewhere)
        self.fault(Workplace, str(self.path))
        self.assertTrue((elsewhere / 'precious').exists())

    def test_no_room(self) -> None:
        place = self.begun()
        error = OSError(errno.ENOSPC, 'No space left on device')
        with mock.patch.object(os, 'fsync', side_effect=error):
            text = self.fault(place.write, 'usage-cpu-00001', BLOCK)
        self.assertIn('No space left on device. Free space there', text)
        self.assertEqual([], os.listdir(self.path / 'fetch' / 'pieces'))
        self.assertEqual(
            {'plan.json', 'lives.json', 'recording', 'pieces'},
            set(os.listdir(self.path / 'fetch')),
        )
