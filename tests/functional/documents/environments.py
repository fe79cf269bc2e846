# SPDX-License-Identifier: Apache-2.0
"""Virtual environments that packages are installed into."""

import os
import pathlib
import subprocess
import sys

import _bootstrap


class Environment:
    """A new one, in a folder of its own, away from the clone.

    :param folder: for it, and to run commands in
    :param python: the interpreter
    """

    def __init__(self, folder: pathlib.Path, python: str) -> None:
        self.folder = folder / 'empty'
        self.folder.mkdir()
        self.path = folder / 'venv'
        self._uv('venv', '-q', '--python', python, str(self.path))

    def install(self, *what: str) -> None:
        """Install packages, of the versions of the tests."""
        self._uv(
            *('pip', 'install', '-q', '--python', str(self.path)),
            *('-c', str(_bootstrap.CONSTRAINTS), *what),
        )

    def pip(self, action: str, *arguments: str) -> None:
        """Let pip itself do something to it; it asks no index."""
        command = [sys.executable, '-m', 'pip', '--python', str(self.path)]
        self._done([*command, action, '-q', *arguments], {'PIP_NO_INDEX': '1'})

    def run(self, program: str, *arguments: str) -> str:
        """What a program of the environment prints."""
        path = self.path / 'bin' / program
        return self._done([str(path), *arguments])

    def files(self) -> set[str]:
        """Of everything in it."""
        return {
            str(one.relative_to(self.path))
            for one in self.path.rglob('*')
            if not one.is_dir()
        }

    def _uv(self, *arguments: str) -> None:
        uv = str(pathlib.Path(sys.executable).with_name('uv'))
        self._done([uv, *arguments], _bootstrap.uv_settings(sys.executable))

    def _done(
        self, command: list[str], more: dict[str, str] | None = None
    ) -> str:
        hidden = ('PYTHON', 'VIRTUAL_ENV', 'OS_')
        env = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(hidden)
        }
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**(more or {}), **env},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        return done.stdout
