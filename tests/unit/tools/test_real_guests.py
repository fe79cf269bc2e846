# SPDX-License-Identifier: Apache-2.0
"""Is what a real guest boots from whole, and is its load told apart?"""

import pathlib
import stat
import sys

import fixtures
from oslotest import base

from tests import places

sys.path.insert(0, str(places.TOP / 'tools'))

from labkit.real import guests, load, topology  # noqa: E402


def unpacked(archive: bytes) -> dict[str, tuple[int, bytes]]:
    """Name to mode and content, read as a kernel reads it."""
    found: dict[str, tuple[int, bytes]] = {}
    at = 0
    while True:
        assert archive[at : at + 6] == b'070701', at
        fields = [
            int(archive[at + 6 + 8 * n : at + 14 + 8 * n], 16)
            for n in range(13)
        ]
        mode, size, length = fields[1], fields[6], fields[11]
        name = archive[at + 110 : at + 110 + length - 1].decode()
        begin = _aligned(at + 110 + length)
        if name == 'TRAILER!!!':
            return found
        found[name] = mode, archive[begin : begin + size]
        at = _aligned(begin + size)


def _aligned(offset: int) -> int:
    return (offset + 3) // 4 * 4


class TestInitramfs(base.BaseTestCase):
    def test_whole(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        busybox, module = folder / 'busybox', folder / 'virtio.ko'
        busybox.write_bytes(b'program')
        module.write_bytes(b'odd')
        found = unpacked(guests.initramfs(busybox, [module]))
        self.assertEqual(
            (stat.S_IFREG | 0o755, b'program'), found['bin/busybox']
        )
        self.assertEqual(
            (stat.S_IFREG | 0o644, b'odd'), found['lib/virtio.ko']
        )
        mode, init = found['init']
        self.assertEqual(stat.S_IFREG | 0o755, mode)
        self.assertTrue(init.startswith(b'#!/bin/busybox sh'))
        self.assertIn(b'for module in virtio_ring virtio ', init)
        self.assertNotIn(b'@', init)
        self.assertTrue(stat.S_ISCHR(found['dev/console'][0]))
        for name in ('proc', 'sys', 'tmp', 'lib'):
            self.assertTrue(stat.S_ISDIR(found[name][0]), name)

    def test_a_kernel_is_no_boot_sector(self) -> None:
        kernel = bytes(range(256)) * 4
        found = guests.bootable(kernel)
        self.assertEqual(len(kernel), len(found))
        self.assertEqual(b'\0\0', found[510:512])
        self.assertEqual(
            kernel[:510] + kernel[512:], found[:510] + found[512:]
        )


class TestLoad(base.BaseTestCase):
    """What a host's own /proc says."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.usages: dict[int, tuple[float, int]] = {}
        self.now = 100.0
        patch = fixtures.MonkeyPatch
        self.useFixture(
            patch('labkit.real.load.time.monotonic', lambda: self.now)
        )
        self.useFixture(
            patch('labkit.real.load._usage', lambda pid: self.usages[pid])
        )
        self.host = load.Host(self.folder, 1)
        self.useFixture(
            patch('labkit.real.load.Host._guests', lambda host: [*self.usages])
        )

    def busy(self) -> float:
        """Seconds of processors that were used so far."""
        [line] = [
            one
            for one in (self.folder / 'stat').read_text().splitlines()
            if one.startswith('cpu ')
        ]
        used, _, _, idle = [int(word) for word in line.split()[1:5]]
        passed = (self.now - 100.0) * topology.CORES * load.HERTZ
        self.assertAlmostEqual(passed, used + idle, delta=1)
        return used / load.HERTZ

    def test_never_falls(self) -> None:
        """Neither when a guest leaves, nor when its number comes again."""
        self.usages = {7: (0.5, 100)}
        for self.now, self.usages, wanted in (
            (101.0, {7: (0.5, 100)}, 0.5),
            (103.0, {7: (1.5, 100), 8: (0.5, 10)}, 2.0),
            (104.0, {8: (1.0, 10)}, 2.5),
            (105.0, {7: (0.25, 1)}, 2.75),
        ):
            self.host.write()
            self.assertAlmostEqual(wanted, self.busy(), delta=0.011)

    def test_memory(self) -> None:
        self.now = 101.0
        self.usages = {7: (0.5, 1024)}
        self.host.write()
        text = (self.folder / 'meminfo').read_text()
        figures = {
            line.split(':')[0]: int(line.split()[1])
            for line in text.splitlines()
        }
        total = topology.HOST_MEMORY_MB * 1024
        self.assertEqual(total, figures['MemTotal'])
        used = load.BASE_MEMORY_KB + load.PAGE
        self.assertEqual(total - used, figures['MemAvailable'])
