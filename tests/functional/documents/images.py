# SPDX-License-Identifier: Apache-2.0
"""A virtual environment like that in an image of Watcher, without Kronos."""

import pathlib
import subprocess
import sys
import sysconfig

OURS = ('kronos', '__editable__', '_kronos', 'easy-install')
"""Beginnings of the names by which this environment has Kronos."""


class Image:
    """What a line RUN of a Containerfile runs in.

    All packages of the tests' own environment are in it but Kronos, as links.

    :param folder: for the environment, and for the files of the image
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self.root = folder / 'root'
        self.venv = folder / 'venv'
        self.root.mkdir()
        subprocess.run(
            [sys.executable, '-m', 'venv', '--without-pip', str(self.venv)],
            check=True,
        )
        self.packages = next(self.venv.glob('lib/python*/site-packages'))
        for path in pathlib.Path(sysconfig.get_paths()['purelib']).iterdir():
            if not path.name.startswith(OURS):
                self.packages.joinpath(path.name).symlink_to(path)

    def run(
        self, command: str, arguments: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """A line RUN, as an image's shell runs it.

        :param command: absolute paths in it are those of the image
        :param arguments: of the build
        """
        env = {
            'PATH': f'{self.venv}/bin:/usr/bin:/bin',
            'HOME': str(self.root),
            # All that is needed is there; a network is not.
            'PIP_NO_INDEX': '1',
            'PIP_DISABLE_PIP_VERSION_CHECK': '1',
            'PIP_NO_COMPILE': '1',
            **(arguments or {}),
        }
        return subprocess.run(
            ['/bin/sh', '-c', command],
            cwd=self.root,
            env=env,
            capture_output=True,
            text=True,
        )
