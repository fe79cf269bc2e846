# SPDX-License-Identifier: Apache-2.0
"""Durations in the units that people use: ``40 s``, ``16 min``, ``3 h``.

:func:`rounded` is for what was measured or is expected, :func:`beside` for
that where it is compared, and :func:`exact` for limits. Documents for programs
have seconds.
"""

MINUTE, HOUR, DAY = 60, 3600, 86400
_UNITS = ((DAY, 'day'), (HOUR, 'h'), (MINUTE, 'min'))
_MANY = 120
"""Fewer seconds are told as such."""
MOST = 10**9
"""What is longer is a clock that is wrong, and told in seconds."""
_FEW = 10
"""Fewer of a unit have those of the next smaller one, too."""


def rounded(seconds: float) -> str:
    """About how long: ``16 min``, ``2 h 40 min``, ``12 days``."""
    if not _MANY - 0.5 <= seconds < MOST:
        shown = f'{seconds:.2g}' if 0 < seconds < 1 else f'{seconds:.0f}'
        return f'{shown} s'
    unit, part = (HOUR, MINUTE) if seconds < 2 * DAY else (DAY, HOUR)
    whole = round(seconds / part) * part
    if whole >= _FEW * unit:
        whole = round(seconds / unit) * unit
    return exact(whole)


def exact(seconds: float) -> str:
    """How long, to the second: ``90 s``, ``10 min 5 s``, ``1 h``."""
    if not _MANY <= seconds < MOST:
        return f'{seconds:.3g} s'
    rest, parts = round(seconds), []
    for size, name in _UNITS:
        number, rest = divmod(rest, size)
        if number:
            plural = 's' if name == 'day' and number > 1 else ''
            parts.append(f'{number} {name}{plural}')
    if rest:
        parts.append(f'{rest} s')
    return ' '.join(parts)


def beside(seconds: float, other: float) -> str:
    """About how long, to the second where the other would read the same."""
    shown = rounded(seconds)
    return exact(seconds) if shown == rounded(other) else shown
