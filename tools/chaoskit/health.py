# SPDX-License-Identifier: Apache-2.0
"""Memory of the services, and errors in logs. Standard library only."""

import datetime
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from chaoskit.facts import NEVER, Finding, Outages

LONG_SECONDS = 180.0
"""Of a process that is judged; its start is not."""
WARM_SECONDS = 60.0
SHARE, MIB = 0.25, 40.0
"""Growth from its first third to its last that is too much: both."""
STEADY = 0.3
"""Of the growth so much at least comes about in either half of the time: what
is one leap are modules that are loaded with the first audit or action."""
BEGIN = 'Traceback (most recent call last):'
FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
CHAIN = re.compile(
    'The above exception was the direct cause|'
    'During handling of the above exception'
)
CHAIN_LINES = 5
EXPECTED = re.compile(
    r'WatcherException: KRONOS:(PreFlightError|MigrationConflict|'
    r'MigrationFailed|MigrationTimeout|MigrationCancelled|NovaClientError|'
    r'PlacementClientError|TurnUnknown): |'
    r'watcher\.common\.exception\.(ActionPlanCancelled|ActionSkipped)\b'
)
"""How an action tells that it failed, was cancelled or was skipped."""
AWAY = {
    'mariadb': re.compile(
        r'oslo_db\.exception\.(DBConnectionError|DBDeadlock)|'
        r'OperationalError\) \((1047|1180), '
    ),
    'rabbitmq': re.compile(
        r'oslo_messaging\.exceptions\.'
        r'(MessagingTimeout|MessageDeliveryFailure)'
    ),
}
"""What of ours logs, and goes on, while a service is away."""
LATE_SECONDS = 90.0
"""For so long after that it may still be logged: a call waits for 60 s."""
TIME = re.compile(r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?')
RAISED = re.compile(
    r'(?:^|\s)((?:\w+\.)*'
    r'\w+(?:Error|Exception|Timeout|Cancelled|Skipped)\b.*)'
)

Samples = Mapping[tuple[str, int], Sequence[tuple[float, float]]]
"""By service and pid: times and MiB."""


def memory(samples: Samples) -> Iterator[Finding]:
    """No service grows without end."""
    for (service, pid), seen in samples.items():
        start = seen[0][0] + WARM_SECONDS
        warm = [one for one in seen if one[0] >= start]
        if not warm or warm[-1][0] - warm[0][0] < LONG_SECONDS:
            continue
        third = len(warm) // 3
        parts = [warm[:third], warm[third : 2 * third], warm[2 * third :]]
        first, middle, last = (
            statistics.median(mib for _, mib in part) for part in parts
        )
        more = last - first
        is_steady = min(middle - first, last - middle) >= STEADY * more
        if is_steady and more > MIB and more > SHARE * first:
            yield Finding(
                'memory',
                f'{service} (pid {pid}) grew from {first:.0f} over '
                f'{middle:.0f} to {last:.0f} MiB',
                f'./tools/lab logs {service}',
            )


def tracebacks(
    service: str, text: str, folder: str, outages: Outages
) -> Iterator[Finding]:
    """No exception goes through our code into a log.

    :param folder: of our code
    """
    found = Counter(
        (place, error, _is_away(error, at, outages))
        for place, error, at in _ours(text, folder)
    )
    for (place, error, is_away), number in found.items():
        yield Finding(
            'tracebacks',
            f'{service}: {error} at {place}, {number} times',
            f'./tools/lab logs {service}',
            not is_away,
        )


def _is_away(error: str, at: float, outages: Outages) -> bool:
    """Whether it says that a service is away which is."""
    return any(
        raised.match(error) and outages.any({name}, at - LATE_SECONDS, at)
        for name, raised in AWAY.items()
    )


def _ours(text: str, folder: str) -> Iterator[tuple[str, str, float]]:
    """Our innermost frame of each traceback, what was raised, and when.

    An action that says why it failed raises to do so, and Watcher logs it.
    """
    lines = text.splitlines()
    at = NEVER
    for number, line in enumerate(lines):
        if told := TIME.match(line):
            at = datetime.datetime.fromisoformat(told[0]).timestamp()
        if BEGIN not in line:
            continue
        place, raised, end = _read(lines, number + 1, folder)
        # What was raised next because of it is told below.
        after = '\n'.join(lines[end : end + CHAIN_LINES])
        if not place or (CHAIN.search(after) and BEGIN in after):
            continue
        if not EXPECTED.search(raised):
            yield place, raised, at


def _read(lines: list[str], number: int, folder: str) -> tuple[str, str, int]:
    """Our innermost frame, what was raised, and the line after that."""
    place = ''
    for nth in range(number, len(lines)):
        line = lines[nth]
        frame = FRAME.search(line)
        if frame and folder in frame[1]:
            place = f'{frame[1].rpartition(folder)[2]}:{frame[2]}'
        raised = None if frame or _is_code(line) else RAISED.search(line)
        if raised:
            return place, raised[1][:160], nth + 1
    return '', '', len(lines)


def _is_code(line: str) -> bool:
    """Whether it is a line of a program, which may raise, too."""
    return re.search(r' {4}\S', line) is not None
