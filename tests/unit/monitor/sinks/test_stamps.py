# SPDX-License-Identifier: Apache-2.0
"""Do stamps differ whenever a file did?"""

import os
import pathlib

import fixtures
from oslotest import base

from kronos.monitor.sinks import stamps


class TestStamps(base.BaseTestCase):
    def test_each_change(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        path, other = folder / 'file', folder / 'other'
        path.write_text('one')
        seen = [stamps.of(str(path), '')]
        self.assertEqual(seen[0], stamps.of(str(path), ''))
        path.write_text('longer')
        seen.append(stamps.of(str(path), ''))
        other.write_text('longer')
        stat = path.stat()
        os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        other.replace(path)
        seen.append(stamps.of(str(path), ''))
        path.unlink()
        seen.append(stamps.of(str(path), ''))
        self.assertEqual(4, len({*seen}))
        self.assertEqual((None, None), seen[-1])
