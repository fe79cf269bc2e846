# SPDX-License-Identifier: Apache-2.0
"""An installed package of somebody else, with entry points."""

import pathlib
import sys
import textwrap
from collections.abc import Mapping
from typing import Any

import fixtures


class Package(fixtures.Fixture):
    """A module that is installed while a test runs.

    :param name: of the package, and of its module
    :param code: of the module
    :param plugins: names of entry points to attributes of the module, by
        namespace
    """

    def __init__(
        self, name: str, code: str, plugins: Mapping[str, Mapping[str, str]]
    ) -> None:
        super().__init__()
        self.name = name
        self._code = textwrap.dedent(code)
        self._plugins = plugins

    def _setUp(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / f'{self.name}.py').write_text(self._code)
        info = folder / f'{self.name}-1.0.dist-info'
        info.mkdir()
        (info / 'METADATA').write_text(
            f'Metadata-Version: 2.1\nName: {self.name}\nVersion: 1.0\n'
        )
        lines = []
        for namespace, entries in self._plugins.items():
            lines.append(f'[{namespace}]')
            lines += [
                f'{name} = {self.name}:{attribute}'
                for name, attribute in entries.items()
            ]
        (info / 'entry_points.txt').write_text('\n'.join(lines))
        self.useFixture(fixtures.PythonPathEntry(str(folder)))
        self.addCleanup(sys.modules.pop, self.name, None)

    @property
    def module(self) -> Any:
        """What was imported of it; None: nothing was."""
        return sys.modules.get(self.name)
