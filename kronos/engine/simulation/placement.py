# SPDX-License-Identifier: Apache-2.0
"""The placement: where every instance is while a plan grows.

Searches try moves inside :meth:`Placement.trial`; only the simulation moves
for good. No other module writes where an instance is.
"""

import contextlib
from collections.abc import Iterator

import numpy as np

from kronos.engine.arrays import Index, IntArray
from kronos.engine.constraints.constraint_set import ConstraintSet
from kronos.engine.types import Snapshot


class Placement:
    """The instances of a scope on its hosts, and the rules that follow them.

    :param index: the hosts [H] and instances [V] that positions stand for
    :param host_of: [V], where each instance is at first; it is copied
    """

    def __init__(self, index: Index, host_of: IntArray) -> None:
        self.index = index
        self._host_of = host_of.astype(np.intp)
        self.host_of: IntArray = self._host_of.view()
        """[V], the position of each instance's host now; read only."""
        self.host_of.flags.writeable = False
        self.constraints = ConstraintSet([])
        """Those of the phase under way; they follow every move."""
        self._tried: list[tuple[int, int]] | None = None
        """Instances and where they were, in a trial."""

    @classmethod
    def of(cls, snapshot: Snapshot, index: Index) -> 'Placement':
        """As a snapshot has it."""
        hosts = [
            index.host[snapshot.instances[uuid].host]
            for uuid in index.instances
        ]
        return cls(index, np.array(hosts, dtype=np.intp))

    def move(self, instance: int, destination: int) -> None:
        """Put an instance on another host, without a check of the rules."""
        source = int(self._host_of[instance])
        if self._tried is not None:
            self._tried.append((instance, source))
        self._host_of[instance] = destination
        self.constraints.follow(instance, source, destination)

    @contextlib.contextmanager
    def trial(self) -> Iterator['Placement']:
        """Moves inside are taken back at the end, the last one first.

        Trials may be nested.
        """
        outer, self._tried = self._tried, []
        try:
            yield self
        finally:
            tried, self._tried = self._tried, None
            for instance, source in reversed(tried):
                self.move(instance, source)
            self._tried = outer

    def on(self, host: int) -> IntArray:
        """Positions of the instances on a host."""
        return np.flatnonzero(np.equal(self._host_of, host))

    def by_uuid(self) -> dict[str, str]:
        """Instance uuid to the name of the host where it is now."""
        hosts = (self.index.hosts[host] for host in self._host_of.tolist())
        return dict(zip(self.index.instances, hosts, strict=True))
