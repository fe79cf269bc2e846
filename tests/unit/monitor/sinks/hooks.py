# SPDX-License-Identifier: Apache-2.0
"""The webhook of a test, and a message for it."""

import pathlib
from typing import Any

import fixtures
from oslotest import base

from kronos.monitor import messages
from kronos.monitor.messages import Message
from kronos.monitor.rules.decision import Ruling
from kronos.monitor.rules.models import Action
from kronos.monitor.sinks.webhook import Webhook
from tests.unit.monitor.receiver import Babbler, Receiver
from tests.unit.monitor.rules.test_decision import INCIDENT


def message() -> Message:
    decision = Ruling(Action.SEND, 'rule', sinks=('hook',))
    return messages.of(INCIDENT, decision, 'node1', 'synthetic')


def options(url: str, **more: Any) -> dict[str, Any]:
    return {
        'url': url,
        'insecure': True,
        'cafile': None,
        'certfile': None,
        'keyfile': None,
        'bearer_token_file': None,
        'timeout': 30.0,
        'retry_max_seconds': 60.0,
        **more,
    }


class HookTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def receiver(self, *args: Any, **more: Any) -> Receiver:
        receiver = Receiver(*args, **more)
        self.addCleanup(receiver.close)
        return receiver

    def babbler(self, first: bytes, then: bytes) -> Babbler:
        made = Babbler(first, then)
        self.addCleanup(made.close)
        return made

    def hook(self, url: str, **more: Any) -> Webhook:
        made = Webhook('hook', options(url, **more))
        self.addCleanup(made.close)
        return made
