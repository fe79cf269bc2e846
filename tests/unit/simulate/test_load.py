# SPDX-License-Identifier: Apache-2.0
"""Is a load read as it was written, and nothing else taken for one?"""

import json
import pathlib
from typing import Any

import fixtures
import numpy as np
from oslotest import base

from kronos.common.exceptions import ArchiveError
from kronos.simulate import load as loads
from tests.builders import loads as build
from tests.builders.recordings import changed


class LoadTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = folder / 'load'
        self.load = build.load(
            [[1.0, 0.5, 0.25], [2.0, 0.5, 0.25]],
            [[0, 1, -1], [1, -1, 0]],
            [4.0, 8.0],
        )
        loads.write(str(self.path), self.load)

    def fault(self) -> str:
        error = self.assertRaises(ArchiveError, loads.read, str(self.path))
        return str(error)

    def put(self, name: str, array: Any) -> None:
        (self.path / name).unlink()
        np.save(self.path / name, array)


class TestRead(LoadTestCase):
    def test_as_written(self) -> None:
        load = loads.read(str(self.path))
        self.assertEqual(self.load.meta, load.meta)
        np.testing.assert_array_equal(self.load.placement, load.placement)
        for name in ('usage', 'remainder', 'capacity'):
            np.testing.assert_array_equal(
                getattr(self.load, name)['cpu'], getattr(load, name)['cpu']
            )
        self.assertEqual(self.load.recording.policies, load.recording.policies)
        self.assertFalse(load.usage['cpu'].flags.writeable)

    def test_no_load(self) -> None:
        (self.path / 'meta.json').unlink()
        self.assertIn('it is not a load', self.fault())


class TestDamage(LoadTestCase):
    def test_meta(self) -> None:
        meta = json.loads((self.path / 'meta.json').read_text())
        for keys, value, words in (
            (['step'], 0, 'step'),
            (['step'], '300', 'step'),
            (['ticks'], 10**9, 'ticks'),
            (['strange'], 1, 'strange'),
            (['instances', 0, 'vcpus'], -1, 'instances[0].vcpus'),
            (['policies'], {'../x': {'window': 'now'}}, 'no policy ../x'),
            (['format_version'], 'load/9', 'must be load/1'),
        ):
            with self.subTest(keys=keys):
                changed(self.path / 'meta.json', *keys, value=value)
                self.assertIn(words, self.fault())
                changed(self.path / 'meta.json', value=meta)
        loads.read(str(self.path))

    def test_arrays(self) -> None:
        usage = np.array(self.load.usage['cpu'])
        for name, array, words in (
            ('usage-cpu.npy', usage[:1], 'must be (2, 3)'),
            ('usage-cpu.npy', usage.astype(float), 'of <f4'),
            ('usage-cpu.npy', np.asfortranarray(usage), 'by rows'),
            ('usage-cpu.npy', -usage, 'neither NaN'),
            ('usage-cpu.npy', usage * np.inf, 'neither NaN'),
            ('capacity-cpu.npy', np.zeros(2, np.float32), 'neither NaN'),
            ('placement.npy', np.full((2, 3), 2, np.int32), 'not within'),
            ('placement.npy', np.full((2, 3), -2, np.int32), 'not within'),
        ):
            with self.subTest(name=name, words=words):
                whole = (self.path / name).read_bytes()
                self.put(name, array)
                self.assertIn(words, self.fault())
                (self.path / name).write_bytes(whole)
        loads.read(str(self.path))

    def test_bytes(self) -> None:
        path = self.path / 'usage-cpu.npy'
        whole = path.read_bytes()
        for data, words in (
            (b'', 'not an array of NumPy'),
            (whole[:-1], 'cut off'),
            (whole + b'\0', 'too long'),
            (whole[:20], 'not an array of NumPy'),
            (b'\x93NUMPY\x01\x00\x04\x00{}  ', 'not an array of NumPy'),
        ):
            with self.subTest(data=data[:30]):
                path.write_bytes(data)
                self.assertIn(words, self.fault())

    def test_objects(self) -> None:
        array = np.array([[None] * 3] * 2, object)
        (self.path / 'usage-cpu.npy').unlink()
        np.save(self.path / 'usage-cpu.npy', array, allow_pickle=True)
        self.assertIn('not an array of NumPy: objects', self.fault())

    def test_links(self) -> None:
        """Nothing outside the directory is read."""
        for name in ('usage-cpu.npy', 'meta.json', 'recording'):
            with self.subTest(name=name):
                path = self.path / name
                elsewhere = self.path.parent / 'elsewhere'
                path.rename(elsewhere)
                path.symlink_to(elsewhere)
                self.assertIn(f'{name}: it is a symbolic', self.fault())
                path.unlink()
                elsewhere.rename(path)

    def test_missing(self) -> None:
        (self.path / 'remainder-cpu.npy').unlink()
        self.assertIn('remainder-cpu.npy: it is missing', self.fault())


class TestWrite(LoadTestCase):
    def test_something_there(self) -> None:
        error = self.assertRaises(
            ArchiveError, loads.write, str(self.path), self.load
        )
        self.assertIn('there is something already', str(error))

    def test_whole_or_not_at_all(self) -> None:
        target = self.path.parent / 'other'
        self.load.usage = {}
        self.assertRaises(KeyError, loads.write, str(target), self.load)
        self.assertEqual([self.path], list(self.path.parent.iterdir()))
