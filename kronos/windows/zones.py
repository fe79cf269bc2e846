# SPDX-License-Identifier: Apache-2.0
"""Time zones by their IANA names.

A name comes from an option or from an aggregate's metadata, so it may be
anything. Without zone data on the machine there is no time that could be
used instead: who guesses opens a window at the wrong hour.
"""

import zoneinfo

from kronos.common import plain_text
from kronos.windows.errors import WindowError

PACKAGE = 'tzdata'
"""Has the zone data, as a package of a distribution and of Python."""
MOST_CHARACTERS = 64


def zone(name: str) -> zoneinfo.ZoneInfo:
    """The zone of a name.

    :raises WindowError: there is none, or no zone data is installed
    """
    shown = plain_text.line(name[:MOST_CHARACTERS])
    try:
        if len(name) > MOST_CHARACTERS:
            raise ValueError(name)
        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        if not zoneinfo.available_timezones():
            raise WindowError(
                f'time zone {shown} cannot be used because no time zone data '
                f'is installed: install the package {PACKAGE}'
            ) from None
        raise WindowError(
            f'{shown} is not an IANA time zone, such as Europe/Berlin or UTC'
        ) from None
