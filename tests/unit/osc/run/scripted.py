# SPDX-License-Identifier: Apache-2.0
"""A run against a scripted Watcher, with a clock that only waiting moves."""

import io
import json
import re
from collections.abc import Callable
from typing import Any

import fixtures
from keystoneauth1 import adapter, session, token_endpoint
from oslotest import base
from requests_mock.contrib import fixture as wire_fixture

from kronos.clients.keystone import own
from kronos.clients.watcher import WatcherClient
from kronos.osc.run.dialogue import Dialogue
from kronos.osc.run.polling import Polling
from kronos.osc.run.request import AuditRequest
from tests import openstack_client
from tests.fakes.watcher_script import Script, WatcherScript
from tests.terminal import Terminal

URL = 'https://watcher.example.org'
REQUEST = AuditRequest(
    'run-spread-1', 'kronos_spread', 'kronos_balance', {'aggregates': ['a']}
)


class Stream(io.StringIO):
    """A terminal, or none."""

    def __init__(self, text: str = '', is_terminal: bool = False) -> None:
        super().__init__(text)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


class Interrupted(io.StringIO):
    """A terminal at which every answer is Ctrl-C."""

    def isatty(self) -> bool:
        return True

    def readline(self, *_: Any) -> str:
        raise KeyboardInterrupt


class ScriptedTestCase(base.BaseTestCase):
    """Seconds pass when something waits; ``interrupt_at`` may end a wait."""

    def setUp(self) -> None:
        super().setUp()
        self.wire = self.useFixture(wire_fixture.Fixture())
        self.now = 0.0
        self.interrupt_at: float | None = None
        self.polling = Polling(60.0, lambda: self.now, self._wait)
        self.play()
        self.talk()

    def _wait(self, seconds: float) -> None:
        self.now += seconds
        if self.interrupt_at is not None and self.now >= self.interrupt_at:
            self.interrupt_at = None
            raise KeyboardInterrupt

    def play(self, **script: Any) -> None:
        """Begin anew with a script."""
        self.script = WatcherScript(Script(**script))
        for method in ('GET', 'POST', 'PATCH'):
            self.wire.register_uri(
                method, re.compile(f'^{URL}'), text=self._answer(method)
            )

    def _answer(self, method: str) -> Callable[[Any, Any], str]:
        def answer(request: Any, context: Any) -> str:
            path = request.url.removeprefix(URL)
            body = request.json() if request.body else None
            context.status_code, document = self.script.answer(
                method, path, body
            )
            return json.dumps(document)

        return answer

    def talk(self, answers: Any = None) -> None:
        """Have a dialogue, on a terminal if there are answers."""
        is_terminal = answers is not None
        self.output, self.errors = Stream(), Stream(is_terminal=is_terminal)
        if not isinstance(answers, io.StringIO):
            answers = Stream(answers or '', is_terminal)
        self.dialogue = Dialogue(self.output, self.errors, answers)

    def adapter(self, service: str = 'infra-optim') -> adapter.Adapter:
        auth = token_endpoint.Token(URL, 'a-token')
        return adapter.Adapter(
            own(session.Session(auth)), service_type=service
        )

    @property
    def client(self) -> WatcherClient:
        return WatcherClient(self.adapter(), max_retries=0)

    def shown(self) -> tuple[str, str]:
        """Standard output and standard error."""
        return self.output.getvalue(), self.errors.getvalue()


class CommandTestCase(ScriptedTestCase):
    """The whole command within the client, which waits for nothing."""

    def setUp(self) -> None:
        super().setUp()
        self.be_patient(0.0)

    def be_patient(self, seconds: float) -> None:
        self.useFixture(
            fixtures.MonkeyPatch('kronos.osc.run.polling.SECONDS', seconds)
        )

    def ended(
        self, *words: str, terminal: Terminal | None = None, **script: Any
    ) -> tuple[int, str, str]:
        """Exit status, stdout and stderr, by a script.

        :param terminal: what stdin and stderr are; None: a pipe
        """
        self.play(**script)
        return self.given(*words, terminal=terminal)

    def given(
        self, *words: str, terminal: Terminal | None = None
    ) -> tuple[int, str, str]:
        """The same, by what the wire answers by now."""
        cloud = {
            'auth_type': 'admin_token',
            'auth': {'endpoint': URL, 'token': 's3cret'},
        }
        client = self.useFixture(openstack_client.OpenStackClient(cloud))
        return client.run(
            'optimize', 'kronos', 'run', *words, terminal=terminal
        )
