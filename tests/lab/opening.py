# SPDX-License-Identifier: Apache-2.0
"""How does an operator write a window around this moment?"""

import time

MINUTE, HOUR = 60, 3600


def between(opens: float, closes: float) -> str:
    """A window of every day, by the minute.

    :param opens: Unix seconds, as is closes
    """
    times = [time.strftime('%H:%M', time.gmtime(at)) for at in (opens, closes)]
    return f'Mon-Sun {"-".join(times)} UTC'


def shown(moment: float) -> str:
    """A time as Kronos shows that of such a window."""
    return time.strftime('%Y-%m-%d %H:%M (UTC)', time.gmtime(moment))


def next_minute(ahead: float = 0) -> float:
    """The first full minute that is at least so many seconds ahead."""
    return (time.time() + ahead) // MINUTE * MINUTE + MINUTE
