# SPDX-License-Identifier: Apache-2.0
"""The openstack client as a process of its own, on a terminal or in a pipe."""

import contextlib
import os
import pathlib
import pty
import signal
import subprocess
import sys
import threading
from typing import IO

import fixtures
import yaml

LIMIT_SECONDS = 240.0
"""In which a command ends, however busy the machine is."""


class OpenStackProcess(fixtures.Fixture):
    """``openstack`` with some words.

    :param url: of the service that answers every request
    :param words: behind ``openstack``
    :param on_terminal: whether a terminal is its standard input and error
    """

    def __init__(self, url: str, *words: str, on_terminal: bool) -> None:
        super().__init__()
        self._url, self._words = url, words
        self._on_terminal = on_terminal
        self._terminal: int | None = None
        self._seen = ''
        self._news = threading.Condition()

    def _setUp(self) -> None:
        errors: int = subprocess.PIPE
        answers: int = subprocess.DEVNULL
        if self._on_terminal:
            self._terminal, answers = pty.openpty()
            errors = answers
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'openstackclient.shell', *self._words],
            stdin=answers,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=self._environment(),
            text=True,
            start_new_session=True,
        )
        self.addCleanup(self._process.wait)
        self.addCleanup(self._process.kill)
        if self._terminal is not None:
            os.close(answers)
            stream: IO[str] = os.fdopen(
                os.dup(self._terminal), errors='replace', newline=''
            )
            self.addCleanup(os.close, self._terminal)
        else:
            assert self._process.stderr is not None
            stream = self._process.stderr
        self._reader = threading.Thread(
            target=self._read, args=[stream], daemon=True
        )
        self._reader.start()

    def _environment(self) -> dict[str, str]:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        clouds = folder / 'clouds.yaml'
        cloud = {
            'auth_type': 'admin_token',
            'auth': {'endpoint': self._url, 'token': 's3cret'},
        }
        clouds.write_text(yaml.safe_dump({'clouds': {'c': cloud}}))
        return {
            'PATH': os.environ['PATH'],
            'PYTHONPATH': os.pathsep.join(sys.path),
            'HOME': str(folder),
            'OS_CLIENT_CONFIG_FILE': str(clouds),
            'OS_CLOUD': 'c',
            'TERM': 'xterm',
            'COLUMNS': '250',
        }

    def _read(self, stream: IO[str]) -> None:
        # A terminal whose other side is closed ends with an error.
        with stream, contextlib.suppress(OSError):
            while part := stream.read(1):
                with self._news:
                    self._seen += part
                    self._news.notify_all()

    def await_text(self, text: str) -> None:
        """Wait until standard error contains it.

        :raises AssertionError: it does not come
        """
        with self._news:
            if not self._news.wait_for(
                lambda: text in self._seen, LIMIT_SECONDS
            ):
                raise AssertionError(f'{text!r} is not in {self._seen!r}')

    def type(self, text: str) -> None:
        assert self._terminal is not None
        os.write(self._terminal, text.encode())

    def interrupt(self) -> None:
        """What Ctrl-C does."""
        self._process.send_signal(signal.SIGINT)

    def end(self) -> tuple[int, str, str]:
        """Exit status, standard output and standard error."""
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            output = stream.read()
        code = self._process.wait(LIMIT_SECONDS)
        self._reader.join(LIMIT_SECONDS)
        return code, output, self._seen
