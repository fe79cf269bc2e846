# SPDX-License-Identifier: Apache-2.0
"""A virtual environment like that in an image of Watcher, without Kronos."""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

from tests import places

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


def wheel(folder: pathlib.Path) -> pathlib.Path:
    """Build one of what is here, in a copy."""
    copy = folder / 'clone'
    listing = subprocess.run(
        [
            'git',
            'ls-files',
            '-z',
            '--cached',
            '--others',
            '--exclude-standard',
        ],
        cwd=places.TOP,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listing.split('\0')):
        if (places.TOP / name).is_file() and not name.startswith('tests/'):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(places.TOP / name, copy / name)
    # What pip calls, too, without all that it does around it.
    build = 'import sys; from pbr import build; build.build_wheel(sys.argv[1])'
    dist = folder / 'dist'
    dist.mkdir()
    done = subprocess.run(
        [sys.executable, '-c', build, str(dist)],
        cwd=copy,
        env={**os.environ, 'PBR_VERSION': '9.9.9'},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    return next(dist.iterdir())
