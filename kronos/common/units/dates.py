# SPDX-License-Identifier: Apache-2.0
"""The dates that people write in options."""

import datetime


def seconds(text: str) -> float:
    """A date, or a date with a time, as Unix seconds.

    Without a zone it is in UTC.

    :raises ValueError: it is neither
    """
    parsed = datetime.datetime.fromisoformat(text.strip())
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=datetime.UTC)
    return parsed.timestamp()


def fault(text: str) -> str:
    """What is wrong with a date; '' if nothing."""
    try:
        seconds(text)
    except (ValueError, OverflowError):
        return (
            f'{text!r} is not a date: write it as 2026-12-31, or with a time '
            'as 2026-12-31T18:00+01:00'
        )
    return ''
