# SPDX-License-Identifier: Apache-2.0
"""Packages that are found before those of the environment."""

import pathlib
import sys

import fixtures


class Packages(fixtures.Fixture):
    """Nothing of them but what the package manager writes."""

    def _setUp(self) -> None:
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(
            fixtures.MonkeyPatch('sys.path', [str(self.folder), *sys.path])
        )

    def add(
        self, name: str, version: str = '1.0', entry_points: str = ''
    ) -> None:
        """Have a package of this name and version be there."""
        info = self.folder / f'{name.replace("-", "_")}-{version}.dist-info'
        info.mkdir()
        info.joinpath('METADATA').write_text(
            f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n'
        )
        info.joinpath('entry_points.txt').write_text(entry_points)
