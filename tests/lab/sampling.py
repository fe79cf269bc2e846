# SPDX-License-Identifier: Apache-2.0
"""Are the limits kept at every moment, as Nova tells?"""

import collections
import threading
import time
from collections.abc import Iterable
from typing import Any

IN_FLIGHT = ('accepted', 'queued', 'preparing', 'running', 'post-migrating')
OUT_OF_HOST, INTO_HOST = 1, 2


class Sampler(threading.Thread):
    """Looks at Nova's migrations all the time, and keeps the most it saw.

    :param cloud: of the lab
    :param scope: the hosts of the scope
    :param group: uuids of servers of which no two may be on one host
    :param pause: seconds between two looks
    """

    def __init__(
        self,
        cloud: Any,
        scope: Iterable[str],
        group: Iterable[str] = (),
        pause: float = 0.05,
    ) -> None:
        super().__init__(daemon=True)
        self._cloud = cloud
        self._scope = set(scope)
        self._group = set(group)
        self._pause = pause
        self._over = threading.Event()
        self._since = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())
        self.most: dict[str, int] = dict.fromkeys(('all', 'out', 'into'), 0)
        self.together: set[tuple[str, ...]] = set()
        """Members of the group that were on one host at a time."""
        self.looks = 0
        self.failed: Exception | None = None

    def run(self) -> None:
        try:
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
        # than the second one, which is dear.
        flying = self._flying()
        if self._group and self.looks % 4 == 0:
            self._look_at_group(flying)
        sources = collections.Counter(row['source_compute'] for row in flying)
        into = collections.Counter(
            row['dest_compute'] for row in flying if row['dest_compute']
        )
        inside = [
            row
            for row in flying
            if self._scope & {row['source_compute'], row['dest_compute']}
        ]
        for name, number in (
            ('all', len(inside)),
            ('out', max(sources.values(), default=0)),
            ('into', max(into.values(), default=0)),
        ):
            self.most[name] = max(self.most[name], number)
        self.looks += 1

    def _flying(self) -> list[dict[str, Any]]:
        url = f'/os-migrations?changes-since={self._since}&limit=1000'
        answer = self._cloud.compute.get(url, microversion='2.80')
        return [
            row
            for row in answer.json()['migrations']
            if row['status'] in IN_FLIGHT
        ]

    def _look_at_group(self, flying: list[dict[str, Any]]) -> None:
        taken = collections.defaultdict(set)
        for row in flying:
            for end in ('source_compute', 'dest_compute'):
                if row['instance_uuid'] in self._group and row[end]:
                    taken[row[end]].add(row['instance_uuid'])
        for uuid, server in self._cloud.servers().items():
            if uuid in self._group:
                taken[server['OS-EXT-SRV-ATTR:host']].add(uuid)
        self.together |= {
            tuple(sorted(uuids)) for uuids in taken.values() if len(uuids) > 1
        }
