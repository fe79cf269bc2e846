# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that is told what to do over two pipes.

It speaks the Chrome DevTools Protocol with ``--remote-debugging-pipe``: JSON
messages that end in a NUL, read from descriptor 3 and written to 4.
"""

import base64
import contextlib
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import tempfile
from typing import Any, Self

PROGRAMS = ('chromium-headless-shell', 'chromium', 'chromium-browser')
SWITCHES = (
    '--headless',
    '--disable-gpu',
    '--hide-scrollbars',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-dev-shm-usage',
    '--disable-extensions',
    '--disable-sync',
    '--font-render-hinting=none',
    '--force-color-profile=srgb',
    '--remote-debugging-pipe',
)
ANSWER = 120.0
"""Seconds after which a browser that says nothing counts as dead."""


class BrowserError(Exception):
    """The browser is missing, has ended, or refused a command."""


class Browser:
    """One process with one page."""

    def __init__(self) -> None:
        self._number = 0
        self._rest = b''
        self._session = ''
        self.events: list[dict[str, Any]] = []
        """What came unasked since the last :meth:`open`."""

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            self._start(stack)
            stack.callback(self._end)
            target = self.ask('Target.createTarget', url='about:blank')
            found = self.ask(
                'Target.attachToTarget',
                targetId=target['targetId'],
                flatten=True,
            )
            self._session = found['sessionId']
            for domain in ('Page', 'Network', 'Log', 'DOM', 'Accessibility'):
                self.ask(f'{domain}.enable')
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *what: object) -> None:
        self._stack.close()

    def _start(self, stack: contextlib.ExitStack) -> None:
        profile = stack.enter_context(
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        )
        theirs_in, ours_out = _high_pipe()
        ours_in, theirs_out = _high_pipe()
        stack.callback(os.close, ours_in)
        self._out, self._in = ours_out, ours_in
        program = _program()
        root = ['--no-sandbox'] if os.geteuid() == 0 else []
        log = os.path.join(profile, 'log')
        actions = [
            (os.POSIX_SPAWN_DUP2, theirs_in, 3),
            (os.POSIX_SPAWN_DUP2, theirs_out, 4),
            (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        self._process = os.posix_spawn(
            program,
            [program, *SWITCHES, *root, f'--user-data-dir={profile}'],
            {**os.environ, 'HOME': profile, 'TZ': 'UTC'},
            file_actions=actions,
            setpgroup=0,
        )
        os.close(theirs_in)
        os.close(theirs_out)

    def _end(self) -> None:
        """Close its pipe, which ends it; then all that it started."""
        os.close(self._out)
        ready, _, _ = select.select([self._in], [], [], 5.0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for what it answers."""
        self._number += 1
        message = {'id': self._number, 'method': method, 'params': parameters}
        if self._session:
            message['sessionId'] = self._session
        data = json.dumps(message).encode() + b'\0'
        while data:
            data = data[os.write(self._out, data) :]
        while True:
            found = self._receive()
            if found.get('id') != self._number:
                self.events.append(found)
            elif 'error' in found:
                raise BrowserError(f'{method}: {found["error"]}')
            else:
                result: dict[str, Any] = found['result']
                return result

    def wait_for(self, method: str) -> dict[str, Any]:
        """The first event of a kind since the last :meth:`open`."""
        while True:
            for event in self.events:
                if event.get('method') == method:
                    return event
            self.pump()

    def pump(self) -> None:
        """Wait for one more event."""
        self.events.append(self._receive())

    def _receive(self) -> dict[str, Any]:
        while b'\0' not in self._rest:
            if not select.select([self._in], [], [], ANSWER)[0]:
                raise BrowserError(f'no answer in {ANSWER:g} s')
            data = os.read(self._in, 1 << 20)
            if not data:
                raise BrowserError('the browser has ended')
            self._rest += data
        message, _, self._rest = self._rest.partition(b'\0')
        found: dict[str, Any] = json.loads(message)
        return found

    def open(
        self,
        path: str,
        width: int = 1280,
        scheme: str = 'light',
        media: str = 'screen',
        scripts: bool = False,
    ) -> None:
        """Load a file.

        :param scripts: whether it may run its own
        """
        self.ask('Emulation.setScriptExecutionDisabled', value=not scripts)
        self.ask(
            'Emulation.setDeviceMetricsOverride',
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.media(scheme, media)
        self.events.clear()
        self.ask('Page.navigate', url=pathlib.Path(path).as_uri())
        self.wait_for('Page.loadEventFired')

    def media(self, scheme: str, media: str = 'screen') -> None:
        features = [{'name': 'prefers-color-scheme', 'value': scheme}]
        self.ask('Emulation.setEmulatedMedia', media=media, features=features)

    def run(self, script: str) -> Any:
        """The value of an expression, of ours and not of the page.

        That of a promise is waited for.
        """
        found = self.ask(
            'Runtime.evaluate',
            expression=script,
            returnByValue=True,
            awaitPromise=True,
        )
        if 'exceptionDetails' in found:
            raise BrowserError(str(found['exceptionDetails']))
        return found['result'].get('value')

    def requests(self) -> list[str]:
        """Addresses that the page has asked for, itself excepted."""
        return [
            event['params']['request']['url']
            for event in self.events
            if event.get('method') == 'Network.requestWillBeSent'
            and event['params'].get('type') != 'Document'
        ]

    def complaints(self) -> list[str]:
        """What the browser has logged, such as a refused script."""
        return [
            event['params']['entry']['text']
            for event in self.events
            if event.get('method') == 'Log.entryAdded'
        ]

    def shoot(self, path: str, clip: dict[str, float] | None = None) -> None:
        """A picture of the whole page, as PNG.

        :param clip: what of it is wanted; None: all
        """
        found = self.ask(
            'Page.captureScreenshot',
            captureBeyondViewport=True,
            **({'clip': clip} if clip else {}),
        )
        pathlib.Path(path).write_bytes(base64.b64decode(found['data']))

    def nodes(self) -> list[dict[str, Any]]:
        """The accessibility tree, as a screen reader gets it."""
        found: list[dict[str, Any]] = self.ask('Accessibility.getFullAXTree')[
            'nodes'
        ]
        return found


def _program() -> str:
    for name in PROGRAMS:
        if path := shutil.which(name):
            return path
    raise BrowserError(
        f'none of {", ".join(PROGRAMS)} is installed; ./tools/test '
        'functional installs one on Debian'
    )


def _high_pipe() -> tuple[int, int]:
    """A pipe away from the descriptors that are given to the browser."""
    low = os.pipe()
    high = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, 10) for one in low]
    for one in low:
        os.close(one)
    return high[0], high[1]
