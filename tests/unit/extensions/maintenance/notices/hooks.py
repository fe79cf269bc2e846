# SPDX-License-Identifier: Apache-2.0
"""The webhook of a test, its receiver, and that receiver's own check."""

import pathlib
import re
import time
from collections.abc import Callable
from typing import Any

import fixtures
from oslotest import base

from kronos.extensions.maintenance.notices import signed_webhook
from kronos.extensions.maintenance.notices.notice import Event, HostNotice
from kronos.extensions.maintenance.notices.signed_webhook import (
    Address,
    SignedWebhook,
)
from tests import places
from tests.unit.monitor.receiver import Receiver

PAGE = places.TOP / 'doc' / 'source' / 'notifications.rst'
KEY = b'0123456789abcdef-a-key'
AUDIT = 'a0d17000-1111-4111-8111-111111111111'


def notice(
    event: Event = Event.HANDED_OVER, host: str = 'h1', since: float = 1e9
) -> HostNotice:
    return HostNotice(event, 'r', host, 'alpha', since, AUDIT)


def is_authentic() -> Callable[..., bool]:
    """The function with which the page has receivers check requests."""
    (block,) = re.findall(
        r'\.\. code-block:: python\n\n((?:   .*\n|\n)+?)(?=\S)',
        PAGE.read_text()
        .partition('Verify the signature')[2]
        .partition('Replies and repetitions')[0],
    )
    names: dict[str, Any] = {}
    exec(re.sub(r'^   ', '', block, flags=re.MULTILINE), names)  # noqa: S102
    check: Callable[..., bool] = names['is_authentic']
    return check


class NoticeTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.key_file = self.folder / 'key'
        self.key_file.write_bytes(KEY + b'\n')

    def receiver(self, *args: Any, **more: Any) -> Receiver:
        receiver = Receiver(*args, **more)
        self.addCleanup(receiver.close)
        return receiver

    def hook(self, url: str, **more: Any) -> SignedWebhook:
        wall = more.pop('wall', time.time)
        hook = SignedWebhook(Address(url, str(self.key_file), **more), wall)
        self.addCleanup(hook.close)
        return hook

    def signed(self, receiver: Receiver, number: int = -1) -> list[Any]:
        """What a receiver checks of a request, behind its key."""
        headers = receiver.headers[number]
        return [
            headers[signed_webhook.TIMESTAMP],
            headers[signed_webhook.SIGNATURE],
            receiver.raw[number],
        ]
