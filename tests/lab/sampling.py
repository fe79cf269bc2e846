# SPDX-License-Identifier: Apache-2.0
"""Are the limits kept at every moment: of moves, and of closed hosts?

Nova's database tells: its API would be kept busy by so many questions.
"""

import collections
import threading
from collections.abc import Iterable
from typing import Any

from labkit import database, ports  # isort: skip

IN_FLIGHT = ('accepted', 'queued', 'preparing', 'running', 'post-migrating')
OUT_OF_HOST, INTO_HOST = 1, 2
FLYING = """
    SELECT instance_uuid, source_compute, dest_compute FROM migrations
    WHERE deleted = 0 AND status IN %s
"""
CLOSED = """
    SELECT host FROM services
    WHERE deleted = 0 AND disabled = 1 AND `binary` = 'nova-compute'
    AND host IN %s
"""
PLACES = 'SELECT uuid, host FROM instances WHERE deleted = 0 AND uuid IN %s'
Row = tuple[Any, ...]


class Sampler(threading.Thread):
    """Looks at Nova's migrations all the time, and keeps the most it saw.

    :param scope: the hosts of the scope
    :param group: uuids of servers of which no two may be on one host
    :param pause: seconds between two looks
    """

    def __init__(
        self,
        scope: Iterable[str],
        group: Iterable[str] = (),
        pause: float = 0.05,
    ) -> None:
        super().__init__(daemon=True)
        self._scope = set(scope)
        self._group = set(group)
        self._pause = pause
        self._over = threading.Event()
        self.most: dict[str, int] = dict.fromkeys(('all', 'out', 'into'), 0)
        self.together: set[tuple[str, ...]] = set()
        """Members of the group that were on one host at a time."""
        self.looks = 0
        self.failed: Exception | None = None

    def run(self) -> None:
        try:
            with database.connect(
                ports.load()['mariadb'], 'nova_cell1'
            ) as self._link:
                while not self._over.wait(self._pause):
                    self._look()
        except Exception as error:
            self.failed = error

    def __enter__(self) -> 'Sampler':
        self.start()
        return self

    def __exit__(self, *_about: object) -> None:
        self._over.set()
        self.join()
        if self.failed:
            raise self.failed

    def _look(self) -> None:
        # The migrations first: one that begins after this look takes longer
        # than the second one.
        flying = self._rows(FLYING, IN_FLIGHT)
        if self._group:
            self._look_at_group(flying)
        sources = collections.Counter(source for _, source, _ in flying)
        into = collections.Counter(goal for *_, goal in flying if goal)
        inside = [row for row in flying if self._scope & {*row[1:]}]
        for name, number in (
            ('all', len(inside)),
            ('out', max(sources.values(), default=0)),
            ('into', max(into.values(), default=0)),
        ):
            self.most[name] = max(self.most[name], number)
        self.looks += 1

    def _rows(self, query: str, wanted: Iterable[str]) -> list[Row]:
        with self._link.cursor() as cursor:
            cursor.execute(query, [tuple(wanted)])
            return list(cursor.fetchall())

    def _look_at_group(self, flying: list[Row]) -> None:
        taken = collections.defaultdict(set)
        for uuid, *ends in flying:
            for end in ends:
                if uuid in self._group and end:
                    taken[end].add(uuid)
        for uuid, host in self._rows(PLACES, self._group):
            taken[host].add(uuid)
        self.together |= {
            tuple(sorted(uuids)) for uuids in taken.values() if len(uuids) > 1
        }


class ClosedSampler(Sampler):
    """Looks at which hosts are closed, and keeps the most at a time."""

    def _look(self) -> None:
        closed = self._rows(CLOSED, self._scope)
        self.most['all'] = max(self.most['all'], len(closed))
        self.looks += 1
