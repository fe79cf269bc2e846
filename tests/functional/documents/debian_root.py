# SPDX-License-Identifier: Apache-2.0
"""Debian in folders: packages are built in one and installed into another."""

import pathlib
import subprocess
from collections.abc import Sequence

from labkit import debian

SUITE = 'trixie'
"""The first Debian whose Python packages are new enough for Kronos."""
PATH = '/usr/sbin:/usr/bin:/sbin:/bin'


class Root:
    """A Debian with apt and a few packages, and no service that runs.

    :param path: of its folder, which is made
    :param packages: names of packages, or paths of files of packages
    """

    def __init__(self, path: pathlib.Path, packages: Sequence[str]) -> None:
        self.path = path
        files = [name for name in packages if '/' in name]
        names = [name for name in packages if '/' not in name]
        options = [f'--include={",".join(names)}'] if names else []
        if files:
            inside = ' '.join(f'/{pathlib.Path(file).name}' for file in files)
            install = 'apt-get install -y --no-install-recommends'
            options += [
                f'--customize-hook=copy-in {" ".join(files)} /',
                f'--customize-hook=chroot "$1" {install} {inside}',
            ]
        run(
            [
                'mmdebstrap',
                '--mode=root',
                '--variant=apt',
                *options,
                SUITE,
                str(path),
                debian.mirror(),
            ]
        )

    def run(self, command: str, path: str = PATH) -> str:
        """What a shell command prints in there."""
        return run(['chroot', str(self.path), 'sh', '-ec', command], path)


def run(command: Sequence[str], path: str = PATH) -> str:
    """What a command prints, with none of the caller's environment."""
    done = subprocess.run(
        command,
        env={
            'PATH': path,
            'HOME': '/root',
            'LC_ALL': 'C.UTF-8',
            'DEBIAN_FRONTEND': 'noninteractive',
        },
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout
