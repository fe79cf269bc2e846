# SPDX-License-Identifier: Apache-2.0
"""The limits on the closing of a host: its zone, and the window of its scope.

What is closed inside a window stays closed after its end, so a host is only
closed if it can be emptied, maintained and opened before.
"""

from collections.abc import Collection

from kronos.common import durations
from kronos.engine.types import ScopeWindow, Snapshot
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.planning.host_times import HostTimes


class Limits:
    """Why a host may not be closed now, though others may."""

    def __init__(
        self, snapshot: Snapshot, spec: Maintenance, times: HostTimes
    ) -> None:
        self._snapshot = snapshot
        self._spec = spec
        self._times = times

    def why_not(self, host: str, closed: Collection[str]) -> str:
        """In one sentence; '': it may.

        :param closed: hosts that take no server, or will take none
        """
        return self._zone(host, closed) or self._window(host)

    def _zone(self, host: str, closed: Collection[str]) -> str:
        most = self._spec.at_once_per_az
        if most is None:
            return ''
        hosts = self._snapshot.hosts
        zone = hosts[host].availability_zone
        number = sum(hosts[name].availability_zone == zone for name in closed)
        if number < most:
            return ''
        return (
            f'{number} of availability zone {zone} cannot take servers, and '
            f'at_once_per_az is {most}'
        )

    def _window(self, host: str) -> str:
        window = self._snapshot.window
        if window is None or window.is_exempt or window.changes_at is None:
            return ''
        rest = window.changes_at - self._snapshot.taken_at
        needed = self._times.whole(host)
        if not window.is_open or needed <= rest:
            return ''
        return _too_short(window, host, needed)


def _too_short(window: ScopeWindow, host: str, needed: float) -> str:
    return (
        f'{host} takes about {durations.rounded(needed)} to be emptied, '
        f'maintained and opened, and the window closes at {window.until}'
    )
