# SPDX-License-Identifier: Apache-2.0
"""A terminal for a command that runs within the process of a test."""

import contextlib
import os
import pty
import re
import threading

import fixtures

LIMIT_SECONDS = 60.0
"""In which what was written is read, however busy the machine is."""

_CONTROL = re.compile(r'\x1b\[[0-9;?]*[A-Za-z]')


class Screen(fixtures.Fixture):
    """A terminal, and all that is written to its other end, ``end``."""

    def _setUp(self) -> None:
        self._keyboard, self.end = pty.openpty()
        self.addCleanup(os.close, self._keyboard)
        self._parts: list[bytes] = []
        # What nobody reads would stop the command.
        self.reader = threading.Thread(target=self._read, daemon=True)

    def _read(self) -> None:
        # A terminal whose other side is closed ends with an error.
        with contextlib.suppress(OSError):
            while part := os.read(self._keyboard, 4096):
                self._parts.append(part)

    def type(self, text: str) -> None:
        """It waits until the command reads it."""
        os.write(self._keyboard, text.encode())

    @property
    def text(self) -> str:
        """All that was shown so far."""
        text = b''.join(self._parts).decode(errors='replace')
        return _CONTROL.sub('', text)


class Terminal(Screen):
    """A command reads ``answers``, and writes to ``errors``."""

    def _setUp(self) -> None:
        super()._setUp()
        self.answers = os.fdopen(os.dup(self.end))
        self.addCleanup(self.answers.close)
        self.errors = os.fdopen(self.end, 'w', errors='replace')
        self.addCleanup(self.errors.close)
        self.reader.start()

    def shown(self) -> str:
        """All that was shown, as text; afterwards nothing is."""
        self.answers.close()
        self.errors.close()
        self.reader.join(LIMIT_SECONDS)
        return self.text
