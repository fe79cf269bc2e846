# SPDX-License-Identifier: Apache-2.0
"""Is a time zone used only if it is known for sure?"""

import zoneinfo

import fixtures
from oslotest import base

from kronos.windows import zones
from kronos.windows.errors import WindowError


class TestZones(base.BaseTestCase):
    def refusal(self, name: str) -> str:
        return str(self.assertRaises(WindowError, zones.zone, name))

    def test_known(self) -> None:
        for name in ('UTC', 'Europe/Berlin', 'Australia/Lord_Howe'):
            self.assertEqual(name, zones.zone(name).key)

    def test_unknown(self) -> None:
        for name in (
            '',
            'Mars/Base',
            'Europe',
            '../../etc/passwd',
            '/etc/localtime',
            'a\nb',
            '\x00',
            'x' * 10**6,
        ):
            text = self.refusal(name)
            self.assertIn('is not an IANA time zone', text)
            self.assertTrue(text.isprintable(), text)
            self.assertLess(len(text), 200)

    def test_no_data(self) -> None:
        """Neither that of the system nor that of Python's package."""
        empty = self.useFixture(fixtures.TempDir()).path
        self.useFixture(
            fixtures.MonkeyPatch('sys.modules', _without_package())
        )
        zoneinfo.reset_tzpath([empty])
        self.addCleanup(zoneinfo.reset_tzpath)
        zoneinfo.ZoneInfo.clear_cache()
        self.addCleanup(zoneinfo.ZoneInfo.clear_cache)
        for name in ('Europe/Berlin', 'UTC'):
            self.assertIn('install the package tzdata', self.refusal(name))


def _without_package() -> dict[str, object]:
    """The loaded modules, with Python's zone data made impossible to load."""
    import sys

    modules: dict[str, object] = {
        name: module
        for name, module in sys.modules.items()
        if not name.startswith('tzdata')
    }
    return {**modules, 'tzdata': None}
