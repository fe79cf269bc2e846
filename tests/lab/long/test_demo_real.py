# SPDX-License-Identifier: Apache-2.0
"""Real guests are shown to move while they work, and leave no trace."""

import os
import pathlib
import shutil
import socket
import subprocess
import time

from testtools import content

from tests.lab import base, real

PLACES = ('/etc', '/usr', '/opt', '/run', '/var/lib', '/var/cache', '/srv')
"""Where files of the system are."""
NAME = 'traceless'
"""Of a lab that only this scenario has."""


class TestDemoReal(real.RealTestCase):
    def test_twice_and_gone(self) -> None:
        """It passes where it is new and where it was; then all is as before.

        It has a lab of its own, beside one that has real hosts, too.
        """
        self.addCleanup(shutil.rmtree, _folder(), ignore_errors=True)
        before = _traces()
        begun = time.time()
        self.show()
        self.show('--down')
        self.wait(lambda: _traces() == before, 'all of it to be gone')
        changed = [
            str(path)
            for top in PLACES
            for path in pathlib.Path(top).rglob('*')
            if _changed(path) > begun
        ]
        self.assertEqual([], changed)

    def show(self, *words: str) -> None:
        done = subprocess.run(
            [base.TOP / 'tools' / 'lab', 'demo', '--real', *words],
            capture_output=True,
            text=True,
            env={**os.environ, 'KRONOS_LAB': NAME},
        )
        text = done.stdout + done.stderr
        self.addDetail('demo', content.text_content(text))
        wrong = [one for one in text.splitlines() if one.startswith('NOT')]
        self.assertEqual((0, []), (done.returncode, wrong))
        for title in ('Scores before', 'Scores after', 'longest gap'):
            self.assertIn(title, text)


def _folder() -> pathlib.Path:
    return base.TOP / '.lab' / f'lab-{NAME}'


def _traces() -> tuple[str, list[str], list[str]]:
    """The machine's name, its mounts, and the processes of that lab."""
    mounts = pathlib.Path('/proc/self/mounts').read_text().splitlines()
    mine = []
    for entry in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            words = (entry / 'cmdline').read_bytes()
            around = (entry / 'environ').read_bytes()
        except OSError:
            continue
        if str(_folder()).encode() in words + around:
            mine.append(words.replace(b'\0', b' ').decode(errors='replace'))
    return socket.gethostname(), mounts, mine


def _changed(path: pathlib.Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0
