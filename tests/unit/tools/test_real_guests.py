# SPDX-License-Identifier: Apache-2.0
"""Is what a real guest boots from whole, and is its load told apart?"""

import pathlib
import stat
import sys
import time

import fixtures
from oslotest import base

from tests import places

sys.path.insert(0, str(places.TOP / 'tools'))

from labkit.real import guests, load, ticks, topology  # noqa: E402


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
        self.useFixture(
            patch('labkit.real.load.Host._guests', lambda host: [*self.usages])
        )
        self.host = load.Host(self.folder, 1)

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

    def test_what_was_used_before_does_not_count(self) -> None:
        """It is started anew where guests have run for a long time."""
        self.usages = {7: (500.0, 100)}
        self.host = load.Host(self.folder, 1)
        self.now, self.usages = 101.0, {7: (500.5, 100)}
        self.host.write()
        self.assertAlmostEqual(0.5, self.busy(), delta=0.011)

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


class TestTicks(base.BaseTestCase):
    """The guest prints a line a second, here and then there."""

    def heard(self, *rows: tuple[float, float, str]) -> list[ticks.Tick]:
        return [ticks.Tick(*row) for row in rows]

    def test_what_a_guest_that_moved_stood_still(self) -> None:
        """Less what has passed for the guest itself."""
        found = self.heard(
            (10.0, 1.0, 'ra'),
            (11.0, 2.0, 'ra'),
            (15.5, 3.0, 'rb'),
            (16.5, 4.0, 'rb'),
        )
        self.assertAlmostEqual(3.5, ticks.standstill(found))
        self.assertAlmostEqual(4.5, ticks.gap(found))

    def test_one_that_stayed(self) -> None:
        found = self.heard((10.0, 1.0, 'ra'), (12.0, 2.0, 'ra'))
        self.assertEqual(0.0, ticks.standstill(found))
        self.assertEqual(float('inf'), ticks.gap(found[:1]))

    def test_it_listens_at_both_hosts(self) -> None:
        """A console's file is begun anew where the guest arrives."""
        self.useFixture(
            fixtures.MonkeyPatch(
                'labkit.real.topology.FOLDER',
                pathlib.Path(self.useFixture(fixtures.TempDir()).path),
            )
        )
        real = topology.hosts({'keystone': 20000}, 2)
        files = [one.folder / 'instances/u/console.log' for one in real]
        for file in files:
            file.parent.mkdir(parents=True)
        files[0].write_text('tick 1.00\nboot\n')
        found = ticks.Ticks(real, 'u')
        self.addCleanup(found.end)
        for at, text in (
            (0, 'tick 1.00\nboot\ntick 2.05\nti'),
            (0, 'tick 1.00\nboot\ntick 2.05\ntick 3.10\n'),
            (1, 'tick 4.15\n'),
            (0, 'tick 5.20\n'),
        ):
            before = len(found.heard)
            files[at].write_text(text)
            end = time.monotonic() + 10
            while len(found.heard) == before and time.monotonic() < end:
                time.sleep(0.01)
        self.assertEqual(
            [(2.05, 'ra'), (3.1, 'ra'), (4.15, 'rb'), (5.2, 'ra')],
            [(one.uptime, one.host) for one in found.end()],
        )
