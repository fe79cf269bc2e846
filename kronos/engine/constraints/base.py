# SPDX-License-Identifier: Apache-2.0
"""A constraint: why an instance may not go to a host.

A rule states itself once, for one instance and one host, with the reason
(:meth:`Constraint.why_not`). The planner's masks are built from that
statement, by whatever detour makes them cheap; a new rule needs no mask of
its own.
"""

import abc
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from kronos.engine.arrays import BoolArray, IntArray
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import Host, Instance

K = TypeVar('K', bound=Hashable)
L = TypeVar('L', bound=Hashable)

UNKNOWN_ROOM = 2**62
THERE = 'it is there'


class Constraint(abc.ABC):
    """What a rule offers; positions are those of an :class:`Index`."""

    binds_rebuilds = True
    """Whether it holds for instances of a host that was lost, too."""

    def __init__(self, instances: int, hosts: int) -> None:
        self._shape = (instances, hosts)

    @property
    def shape(self) -> tuple[int, int]:
        """How many instances and hosts it is about."""
        return self._shape

    @abc.abstractmethod
    def why_not(self, instance: int, host: int) -> Reason | None:
        """Why the instance may not go to the host now; None if it may."""

    def reasons(self, instance: int, host: int) -> list[Reason]:
        """All that would have to be otherwise, the first as above.

        Each is a :class:`Reason` of its own, about one thing.
        """
        reason = self.why_not(instance, host)
        return [reason] if reason else []

    def rows(self, instances: IntArray) -> BoolArray:
        """[n, H]: where each of n instances may go."""
        hosts = range(self._shape[1])
        return np.array(
            [
                [not self.why_not(one, host) for host in hosts]
                for one in instances.tolist()
            ],
            dtype=bool,
        ).reshape(len(instances), len(hosts))

    def column(self, host: int) -> BoolArray:
        """[V]: which instances may come to a host."""
        return np.array(
            [not self.why_not(one, host) for one in range(self._shape[0])],
            dtype=bool,
        )

    def takes_all(self, instances: IntArray, host: int) -> bool:
        """Whether all may be there at once, as far as the sum matters."""
        return True

    def follow(  # noqa: B027 - many rules need not know
        self, instance: int, source: int, destination: int
    ) -> None:
        """The instance was moved; nothing to do where that is no matter."""


class SameHost(Constraint):
    """A move ends on another host than it starts from."""

    def __init__(self, host_of: IntArray, hosts: int) -> None:
        """:param host_of: [V], shared with who moves the instances"""
        super().__init__(len(host_of), hosts)
        self._host_of = host_of

    def why_not(self, instance: int, host: int) -> Reason | None:
        if self._host_of[instance] == host:
            return Reason(THERE, Code.ALREADY_THERE)
        return None

    def rows(self, instances: IntArray) -> BoolArray:
        hosts = np.arange(self._shape[1])
        return np.not_equal(self._host_of[instances][:, None], hosts)

    def column(self, host: int) -> BoolArray:
        return np.not_equal(self._host_of, host)


class KeyedRule(Constraint, Generic[K, L]):
    """A rule that only looks at a key of the instance and one of the host.

    :param why: the rule itself, on the two keys
    :param instance_keys: [V]
    :param host_keys: [H]
    """

    def __init__(
        self,
        why: Callable[[K, L], Reason | None],
        instance_keys: Sequence[K],
        host_keys: Sequence[L],
    ) -> None:
        super().__init__(len(instance_keys), len(host_keys))
        self._why = why
        self._of_instance, self._instance_keys = _numbered(instance_keys)
        self._of_host, self._host_keys = _numbered(host_keys)
        self._allowed: BoolArray = np.array(
            [
                [not why(key, other) for other in self._host_keys]
                for key in self._instance_keys
            ],
            dtype=bool,
        ).reshape(len(self._instance_keys), len(self._host_keys))

    def why_not(self, instance: int, host: int) -> Reason | None:
        return self._why(
            self._instance_keys[self._of_instance[instance]],
            self._host_keys[self._of_host[host]],
        )

    def rows(self, instances: IntArray) -> BoolArray:
        return self._allowed[self._of_instance[instances]][:, self._of_host]

    def column(self, host: int) -> BoolArray:
        return self._allowed[:, self._of_host[host]][self._of_instance]


def _numbered(keys: Sequence[K]) -> tuple[IntArray, list[K]]:
    """Each key's number, and the distinct keys."""
    number: dict[K, int] = {}
    found = [number.setdefault(key, len(number)) for key in keys]
    return np.array(found, dtype=np.intp), list(number)


class HeadroomRule(Constraint):
    """A host has room for what the instance asks Placement for.

    While a live migration runs, Placement counts the instance on both
    hosts; the source's room is free when it has ended. A plan obeys this in
    its own order, one move after the other. Who runs moves side by side has
    to let a move wait for those that make its room.

    A host whose headroom is not known has room for everything: whether it
    may be a destination at all is another rule's question. Of a class that
    a known host does not have, it has none.

    :param resources: the resource classes that count
    """

    def __init__(
        self,
        instances: Sequence[Instance],
        hosts: Sequence[Host],
        resources: Sequence[str],
    ) -> None:
        super().__init__(len(instances), len(hosts))
        self._resources = list(resources)
        demands = [one.demand for one in instances]
        self._need = [
            np.array([one[name] for one in demands], dtype=np.int64)
            for name in resources
        ]
        """Per resource, [V]"""
        self._free = [
            np.array([_free(name, host) for host in hosts], dtype=np.int64)
            for name in resources
        ]
        """Per resource, [H]; negative on an overfull host"""

    def reserve(self, instance: int, host: int) -> None:
        """Hold room for a move by somebody else, not claimed so far."""
        for need, free in zip(self._need, self._free, strict=True):
            free[host] -= need[instance]

    def why_not(self, instance: int, host: int) -> Reason | None:
        return next(iter(self.reasons(instance, host)), None)

    def reasons(self, instance: int, host: int) -> list[Reason]:
        found: list[Reason] = []
        for at, name in enumerate(self._resources):
            need, free = self._need[at][instance], self._free[at][host]
            if not _fits(need, free):
                text = f'it needs {need} {name}, {max(free, 0)} are free'
                lacks = float(need - free)
                found.append(Reason(text, Code.NO_ROOM, name, lacks))
        return found

    def rows(self, instances: IntArray) -> BoolArray:
        mask = np.ones((len(instances), self._shape[1]), dtype=bool)
        for need, free in zip(self._need, self._free, strict=True):
            mask &= _fits(need[instances][:, None], free)
        return mask

    def column(self, host: int) -> BoolArray:
        mask = np.ones(self._shape[0], dtype=bool)
        for need, free in zip(self._need, self._free, strict=True):
            mask &= _fits(need, free[host])
        return mask

    def takes_all(self, instances: IntArray, host: int) -> bool:
        return all(
            bool(_fits(need[instances].sum(), free[host]))
            for need, free in zip(self._need, self._free, strict=True)
        )

    def follow(self, instance: int, source: int, destination: int) -> None:
        for need, free in zip(self._need, self._free, strict=True):
            free[source] += need[instance]
            free[destination] -= need[instance]


class ReturnRule(Constraint):
    """An instance does not go back to where it was moved away from.

    :param refused: instance to host to the reason
    """

    binds_rebuilds = False

    def __init__(
        self,
        instances: int,
        hosts: int,
        refused: Mapping[int, Mapping[int, Reason]],
    ) -> None:
        super().__init__(instances, hosts)
        self._refused = refused

    def why_not(self, instance: int, host: int) -> Reason | None:
        return self._refused.get(instance, {}).get(host)

    def rows(self, instances: IntArray) -> BoolArray:
        mask = np.ones((len(instances), self._shape[1]), dtype=bool)
        for row, instance in enumerate(instances.tolist()):
            mask[row, list(self._refused.get(instance, ()))] = False
        return mask

    def column(self, host: int) -> BoolArray:
        mask = np.ones(self._shape[0], dtype=bool)
        mask[[one for one, at in self._refused.items() if host in at]] = False
        return mask


class HeldRule(Constraint):
    """Nothing goes to hosts that take no more migrations.

    :param refused: host to the reason
    """

    binds_rebuilds = False

    def __init__(
        self, instances: int, hosts: int, refused: Mapping[int, Reason]
    ) -> None:
        super().__init__(instances, hosts)
        self._refused = refused

    def why_not(self, instance: int, host: int) -> Reason | None:
        return self._refused.get(host)

    def rows(self, instances: IntArray) -> BoolArray:
        mask = np.ones((len(instances), self._shape[1]), dtype=bool)
        mask[:, list(self._refused)] = False
        return mask

    def column(self, host: int) -> BoolArray:
        return np.full(self._shape[0], host not in self._refused, dtype=bool)


def _free(resource: str, host: Host) -> int:
    if host.headroom is None:
        return UNKNOWN_ROOM
    room = host.headroom.get(resource)
    return room.capacity - room.used if room else 0


def _fits(need: Any, free: Any) -> Any:
    """The rule itself, for two numbers or arrays of them.

    Who needs nothing of a class fits on an overfull host.
    """
    return (need <= free) | (need == 0)
