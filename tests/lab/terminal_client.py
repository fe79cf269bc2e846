# SPDX-License-Identifier: Apache-2.0
"""The openstack client on a terminal of its own, which Ctrl-C reaches."""

import fcntl
import os
import struct
import subprocess
import termios

from labkit import layout, running

from tests import terminal

LIMIT_SECONDS = 300
"""In which the client shows what is expected of it, or ends."""
CTRL_C = '\x03'
_ROWS, _COLUMNS = 40, 160


def environment(cloud: dict[str, str]) -> dict[str, str]:
    """All variables of a client that runs by itself.

    Without those that tests have for themselves, such as OS_DEBUG.

    :param cloud: those that tell the cloud
    """
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith('OS_')
    }
    return own | cloud


class TerminalClient(terminal.Screen):
    """A command of the client, in a session that has this terminal.

    :param words: those behind ``openstack``
    :param env: variables that tell the cloud
    """

    def __init__(self, words: list[str], env: dict[str, str]) -> None:
        super().__init__()
        self._words, self._env = words, env
        self._seen = 0

    def _setUp(self) -> None:
        super()._setUp()
        end = self.end
        size = struct.pack('HHHH', _ROWS, _COLUMNS, 0, 0)
        fcntl.ioctl(end, termios.TIOCSWINSZ, size)
        openstack = str(layout.VENV / 'bin' / 'openstack')
        self._process = subprocess.Popen(
            ['setsid', '--ctty', openstack, *self._words],
            env=environment(self._env) | {'TERM': 'xterm'},
            stdin=end,
            stdout=end,
            stderr=end,
        )
        os.close(end)
        self.addCleanup(self._process.wait)
        self.addCleanup(self._process.kill)
        self.reader.start()

    @property
    def shown(self) -> str:
        """All that was shown so far, as text."""
        return self.text.replace('\r', '')

    def expect(self, text: str) -> None:
        """Wait until it shows a text, behind the one expected before."""

        def position() -> int:
            """Counted from 1; 0: it is not there."""
            is_complete = not self.reader.is_alive()
            number = self.shown.find(text, self._seen) + 1
            if is_complete and not number:
                raise AssertionError(f'{text!r} is not in:\n{self.shown}')
            return number

        begin = running.wait_for(position, LIMIT_SECONDS, repr(text)) - 1
        self._seen = begin + len(text)

    def ended(self) -> int:
        """Its exit status, once it has ended."""
        code = self._process.wait(LIMIT_SECONDS)
        self.reader.join(LIMIT_SECONDS)
        return code
