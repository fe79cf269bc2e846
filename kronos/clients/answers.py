# SPDX-License-Identifier: Apache-2.0
"""What does an OpenStack service say in an answer that is an error?"""

import datetime
import email.utils
import re
import time
from typing import Any

_TEXT_LENGTH = 300


def message_of(response: Any) -> str:
    """What an OpenStack service says about an error, in one short line."""
    try:
        body = response.json()
    except ValueError:
        body = response.text
    for wrap in (_from_errors, _from_fault):
        text = wrap(body)
        if text:
            return text[:_TEXT_LENGTH]
    return ' '.join(str(body).split())[:_TEXT_LENGTH]


def retry_after_of(response: Any) -> float | None:
    """Seconds that the answer asks to wait; None if it does not.

    ``Retry-After`` is a number of seconds or an HTTP date, which is read
    by the server's own clock where the answer has a ``Date`` (RFC 9110,
    10.2.3). What is neither counts as not said.
    """
    text = response.headers.get('Retry-After', '').strip()
    if re.fullmatch(r'\d{1,9}(\.\d+)?', text):
        return float(text)
    until = _moment(text)
    if until is None:
        return None
    now = _moment(response.headers.get('Date', ''))
    return max(0.0, until - (time.time() if now is None else now))


def _moment(text: str) -> float | None:
    """Unix seconds of an HTTP date, which is always in GMT."""
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return moment.timestamp()


def _from_errors(body: Any) -> str:
    """Placement's form: ``{"errors": [{"detail": ...}]}``."""
    errors = body.get('errors') if isinstance(body, dict) else None
    details = [e.get('detail', '') for e in errors or []]
    return ' '.join(' '.join(details).split())


def _from_fault(body: Any) -> str:
    """Nova's form: ``{"conflictingRequest": {"message": ...}}``."""
    faults = body.values() if isinstance(body, dict) else []
    texts = [f.get('message', '') for f in faults if isinstance(f, dict)]
    return ' '.join(' '.join(texts).split())
