# SPDX-License-Identifier: Apache-2.0
"""The signed webhook: each notice is posted to one address, over TLS.

Its receiver knows by the signature that the applier has sent it, and when.
"""

import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from kronos.common import plain_files
from kronos.monitor.sinks.base import Outcome, Result
from kronos.monitor.sinks.https import Unreachable
from kronos.monitor.sinks.webhook import Webhook

NAME = 'maintenance_webhook'
SIGNATURE = 'X-Kronos-Signature'
TIMESTAMP = 'X-Kronos-Timestamp'
MAX_KEY = 4096
MIN_KEY = 16
"""Bytes of a key file without its last line end."""


@dataclass(frozen=True)
class Address:
    """Where notices go, and with which files."""

    url: str
    key_file: str
    cafile: str = ''
    timeout: float = 10.0

    @classmethod
    def of(cls, conf: Any) -> Self:
        """That of the options."""
        kronos = conf.kronos
        return cls(
            kronos.maintenance_webhook_url,
            kronos.maintenance_webhook_key_file or '',
            kronos.maintenance_webhook_cafile or '',
            kronos.maintenance_webhook_timeout,
        )

    def faults(self) -> list[str]:
        """What is wrong with it: each as ``OPTION: RULE``."""
        options = {**self.options(), 'insecure': False}
        texts = [f'{NAME}_{text}' for text in SignedWebhook.faults(options)]
        if not self.key_file:
            return [*texts, f'{NAME}_key_file: it is unset']
        try:
            key(self.key_file)
        except (OSError, ValueError) as error:
            reason = getattr(error, 'strerror', None) or str(error)
            texts.append(f'{NAME}_key_file: {self.key_file}: {reason}')
        return texts

    def options(self) -> dict[str, object]:
        """As a sink of the monitor has them."""
        return {
            'url': self.url,
            'cafile': self.cafile,
            'certfile': '',
            'keyfile': '',
            'bearer_token_file': '',
            'timeout': self.timeout,
        }


class SignedWebhook(Webhook):
    """Posts texts with a signature over time and text.

    :param wall: Unix seconds
    """

    def __init__(
        self, address: Address, wall: Callable[[], float] = time.time
    ) -> None:
        super().__init__(NAME, address.options())
        self._key_file = address.key_file
        self._wall = wall

    def post(self, text: str) -> Result:
        """Try to deliver a text; it raises nothing."""
        try:
            return self._result(self._answer('POST', text.encode()))
        except Unreachable as error:
            return Result(Outcome.AWAY, str(error))

    def _headers(self, body: bytes) -> dict[str, str]:
        moment = str(int(self._wall()))
        return {
            **super()._headers(body),
            'User-Agent': 'kronos-watcher',
            TIMESTAMP: moment,
            SIGNATURE: signature(key(self._key_file), moment, body),
        }

    @property
    def _secret(self) -> str:
        return f'maintenance_webhook_key_file {self._key_file}'


def key(path: str) -> bytes:
    """The key as its file has it now.

    :raises OSError: it cannot be read
    :raises ValueError: it is no key
    """
    data = plain_files.read(path, MAX_KEY).rstrip(b'\r\n')
    if len(data) < MIN_KEY:
        raise ValueError(f'it has less than {MIN_KEY} bytes')
    return data


def signature(secret: bytes, moment: str, body: bytes) -> str:
    """The header of a body that is sent at a moment, in Unix seconds."""
    text = moment.encode() + b'.' + body
    return 'sha256=' + hmac.new(secret, text, hashlib.sha256).hexdigest()
