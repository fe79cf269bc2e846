# SPDX-License-Identifier: Apache-2.0
"""The header Retry-After: how long an answer asks to wait.

Whatever came, nothing here raises.
"""

import datetime
import email.utils
import re
import time
from typing import Any


def seconds_of(response: Any) -> float | None:
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
