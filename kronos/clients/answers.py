# SPDX-License-Identifier: Apache-2.0
"""The complaint in an error's body, whatever service wrote it.

Whatever came, nothing here raises.
"""

import datetime
import email.utils
import json
import re
import time
from typing import Any

from kronos.common import masking

TEXT_LENGTH = 300
_MASKED_LENGTH = 4000
"""Characters of a text that are looked through for secrets."""
_KEYS = 5


def line_of(text: object) -> str:
    """One short line of a text, without secrets."""
    start = str(text)[:_MASKED_LENGTH]
    return ' '.join(masking.masked(start).split())[:TEXT_LENGTH]


def message_of(response: Any) -> str:
    """What an OpenStack service says about an error, in one short line."""
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        body = None
    return line_of(
        _from_errors(body) or _from_fault(body) or start_of(response)
    )


def start_of(response: Any) -> str:
    """What a body begins with; to guess its encoding may take minutes."""
    start: bytes = response.content[:_MASKED_LENGTH]
    return start.decode(errors='replace')


def described(value: object) -> str:
    """What came instead of something else: its kind, and what it begins with.

    No more of its content: it may be a tenant's.
    """
    if isinstance(value, dict):
        keys = [line_of(key)[:40] for key in list(value)[:_KEYS]]
        more = ', ...' if len(value) > _KEYS else ''
        return f'an object with {", ".join(keys) or "nothing"}{more}'
    if isinstance(value, (list, tuple)):
        return f'a list of {len(value)}'
    if isinstance(value, str):
        return f'the text "{line_of(value)[:40]}"'
    if isinstance(value, int) and abs(value) >= 2**63:
        # Python refuses to write the longest ones down.
        return 'a number of more than 18 digits'
    return 'null' if value is None else line_of(value)[:40]


def retry_after_of(response: Any) -> float | None:
    """Seconds that the answer asks to wait; None if it does not.

    ``Retry-After`` is a number of seconds or an HTTP date, which is read
    by the server's own clock where the answer has a ``Date`` (RFC 9110,
    10.2.3). What is neither counts as not said.

    :param response: anything with the ``headers`` of an answer
    """
    text = response.headers.get('Retry-After', '').strip()
    if re.fullmatch(r'[0-9]{1,9}(\.[0-9]+)?', text):
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
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=datetime.UTC)
        return moment.timestamp()
    except (ArithmeticError, AttributeError, LookupError, TypeError):
        # The parser stumbles over what is far from a date.
        return None
    except ValueError:
        return None


def _from_errors(body: Any) -> str:
    """Placement's form: ``{"errors": [{"detail": ...}]}``.

    What passes requests on puts mere texts there.
    """
    errors = body.get('errors') if isinstance(body, dict) else None
    if not isinstance(errors, list):
        return ''
    details = [e.get('detail') if isinstance(e, dict) else e for e in errors]
    return _joined(details)


def _from_fault(body: Any) -> str:
    """Nova's form: ``{"conflictingRequest": {"message": ...}}``."""
    faults = body.values() if isinstance(body, dict) else []
    return _joined(f.get('message') for f in faults if isinstance(f, dict))


def _joined(said: Any) -> str:
    return ' '.join(one for one in said if isinstance(one, str)).strip()
