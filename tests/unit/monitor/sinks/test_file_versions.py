# SPDX-License-Identifier: Apache-2.0
"""Do versions differ whenever a file did?"""

import os
import pathlib

import fixtures
from oslotest import base

from kronos.monitor.sinks import file_versions


class TestFileVersions(base.BaseTestCase):
    def test_each_change(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        path, other = folder / 'file', folder / 'other'
        path.write_text('one')
        seen = [file_versions.of(str(path), '')]
        self.assertEqual(seen[0], file_versions.of(str(path), ''))
        path.write_text('longer')
        seen.append(file_versions.of(str(path), ''))
        other.write_text('longer')
        stat = path.stat()
        os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        other.replace(path)
        seen.append(file_versions.of(str(path), ''))
        path.unlink()
        seen.append(file_versions.of(str(path), ''))
        self.assertEqual(4, len({*seen}))
        self.assertEqual((None, None), seen[-1])
