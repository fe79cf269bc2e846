# SPDX-License-Identifier: Apache-2.0
"""Does a host of the lab show what it has booted?"""

import pathlib
import sys

import fixtures
from oslotest import base

from tests import places

sys.path.insert(0, str(places.TOP / 'tools'))

from labkit import counters, exporter, layout, releases  # noqa: E402
from labkit.releases import Release  # noqa: E402


class TestReleases(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        file = folder / 'releases.json'
        self.useFixture(fixtures.MonkeyPatch('labkit.layout.RELEASES', file))

    def test_one_that_nobody_has_rebooted(self) -> None:
        self.assertEqual(
            Release(releases.OLD, releases.OLD_VERSION, 7.0),
            releases.of('cmp1', 7.0),
        )

    def test_reboots(self) -> None:
        """Each is of its host, and the last one counts."""
        for host, release in (('cmp1', 'a'), ('cmp2', 'b'), ('cmp1', 'c')):
            releases.write(host, Release(release, 1001, 8.0))
        self.assertEqual(Release('c', 1001, 8.0), releases.of('cmp1', 7.0))
        self.assertEqual(Release('b', 1001, 8.0), releases.of('cmp2', 7.0))
        self.assertTrue(layout.RELEASES.exists())

    def test_metrics(self) -> None:
        releases.write('cmp1', Release('6.1"', 1001, 8.5))
        text = exporter.node_metrics('cmp1', counters.HostState(), 9.0)
        self.assertIn(
            'node_uname_info{sysname="Linux",nodename="cmp1",'
            'release="6.1\\""} 1\n',
            text,
        )
        self.assertIn('node_boot_time_seconds 8.500000\n', text)
