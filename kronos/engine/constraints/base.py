# SPDX-License-Identifier: Apache-2.0
"""A constraint: why an instance may not go to a host.

A constraint states itself once, for one instance and one host, with the
reason (:meth:`Constraint.why_not`). The planner's masks are built from that
statement, by whatever detour makes them cheap; a new constraint needs no
mask of its own. It builds itself from a :class:`ConstraintInput`, and says
in which input of the planner it would agree (:meth:`Constraint.relax`).
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, Index, IntArray
from kronos.engine.extension import ReasonCode
from kronos.engine.phase_rules import PhaseRules
from kronos.engine.reasons import Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Host, Instance, PlanningInput, Snapshot

if TYPE_CHECKING:
    from kronos.engine.edits import Pair
    from kronos.engine.eligibility.budgets import ScopeBudgets
    from kronos.engine.eligibility.consent import Wish
    from kronos.engine.eligibility.cooldown import Cooldowns

K = TypeVar('K', bound=Hashable)
L = TypeVar('L', bound=Hashable)


@dataclass(frozen=True, eq=False)
class CapacityReadings:
    """How full the hosts are, and what each instance takes of them."""

    policies: Sequence[str]
    """Names of the policies in use [P]."""
    loads: FloatArray
    """[P, H]; NaN where there is no reading: such a host takes nothing."""
    ceilings: FloatArray
    """``capacity_threshold`` per policy [P]."""
    usage: FloatArray
    """[P, V], at least 0."""
    capacity: FloatArray
    """[P, H], above 0: a usage is this share of the host."""
    charges: FloatArray | None = None
    """[P, H], at least 0: what a host that takes instances of it has to have
    room for besides, once; None: nothing."""
    origins: IntArray | None = None
    """[V], where the instances were before the plan."""
    growths: FloatArray | None = None
    """[P], at least 1: how many times its usage an instance counts on a host
    that it comes to; None: 1."""


@dataclass(frozen=True, eq=False)
class ConstraintInput:
    """What the constraints of a scope in one phase are built from."""

    snapshot: Snapshot
    settings: Settings
    rules: PhaseRules
    """What holds in the phase."""
    index: Index
    """The hosts [H] and instances [V] that positions stand for."""
    host_of: IntArray
    """[V], where each instance is, shared with who moves them."""
    excluded: Mapping[str, Reason]
    """Host to reason, from the scorecard."""
    cooldowns: Cooldowns
    """What the past forbids."""
    readings: CapacityReadings | None = None
    """None in a phase without ceilings."""
    budgets: ScopeBudgets | None = None
    """None: they have not been made."""
    wishes: Mapping[str, Wish] | None = None
    """By uuid what the owner of an instance asks for, if it counts; None:
    nobody has looked."""

    @property
    def hosts(self) -> list[Host]:
        """[H]"""
        return [self.snapshot.hosts[name] for name in self.index.hosts]

    @property
    def cells(self) -> list[str]:
        """[H], '' where one is not known; empty where none is."""
        cells = [host.cell for host in self.hosts]
        return cells if any(cells) else []

    @functools.cached_property
    def instances(self) -> list[Instance]:
        """[V]"""
        return [self.snapshot.instances[uuid] for uuid in self.index.instances]

    @property
    def shape(self) -> tuple[int, int]:
        """How many instances and hosts there are."""
        return len(self.index.instances), len(self.index.hosts)


class PlacementLimits:
    """Where instances may end, for a search over final placements.

    It looks at some instances [n] and some hosts [h], by their positions.
    What it says need not be all: every move is asked for when its turn
    comes.
    """

    def __init__(self, instances: IntArray, hosts: IntArray) -> None:
        self.instances = instances
        self.hosts = hosts
        self.allowed: BoolArray = np.ones(
            (len(instances), len(hosts)), dtype=bool
        )
        """[n, h]; what no move of others changes."""
        self.needs: list[IntArray] = []
        """Per resource [n]"""
        self.free: list[IntArray] = []
        """Per resource [h]; negative on an overfull host"""
        self.apart: list[tuple[list[int], IntArray, int]] = []
        """Members, by their place among the instances; [h], how many are
        there; and how many may be."""


class Constraint(abc.ABC):
    """What a constraint offers; positions are those of an :class:`Index`."""

    codes: ClassVar[frozenset[ReasonCode]]
    """Those of its reasons."""
    can_relax: ClassVar[bool] = True
    """Whether anything lifts its reasons."""
    binds_rebuilds = True
    """Whether it holds for instances of a host that was lost, too."""
    is_lasting: ClassVar[bool] = True
    """Whether what it refuses now it refuses whatever else moves."""
    subject: ClassVar[attrgetter[Any]] = attrgetter('index')
    """What of an input it is about: it is not built where that is empty."""

    def __init__(self, instances: int, hosts: int) -> None:
        self._shape = (instances, hosts)

    @classmethod
    @abc.abstractmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        """The constraint in a phase; None where it forbids nothing."""

    @staticmethod
    @abc.abstractmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        """A case in which a reason is gone; the given one stays as it is.

        :param reason: of one of ``codes``
        """

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
                [not self.why_not(instance, host) for host in hosts]
                for instance in instances.tolist()
            ],
            dtype=bool,
        ).reshape(len(instances), len(hosts))

    def column(self, host: int) -> BoolArray:
        """[V]: which instances may come to a host."""
        return np.array(
            [
                not self.why_not(instance, host)
                for instance in range(self._shape[0])
            ],
            dtype=bool,
        )

    def ever(self, host: int) -> BoolArray:
        """[V]: which instances may come to a host at some time of a plan.

        Maybe too many of them, never too few.
        """
        if self.is_lasting:
            return self.column(host)
        return np.ones(self._shape[0], dtype=bool)

    def takes_all(self, instances: IntArray, host: int) -> bool:
        """Whether all may be there at once, as far as the sum matters."""
        return True

    def limit(self, limits: PlacementLimits) -> None:
        """Restrict where instances may end; as now, where that may change."""
        limits.allowed &= self.rows(limits.instances)[:, limits.hosts]

    def follow(  # noqa: B027 - many constraints need not know
        self, instance: int, source: int, destination: int
    ) -> None:
        """The instance was moved; nothing to do where that is no matter."""


class KeyedConstraint(Constraint, Generic[K, L]):
    """A constraint on a key of the instance and one of the host alone.

    :param instance_keys: [V]
    :param host_keys: [H]
    """

    def __init__(
        self, instance_keys: Sequence[K], host_keys: Sequence[L]
    ) -> None:
        super().__init__(len(instance_keys), len(host_keys))
        self._of_instance, self._instance_keys = _numbered(instance_keys)
        self._of_host, self._host_keys = _numbered(host_keys)
        self._allowed: BoolArray = np.array(
            [
                [not self.why(key, other) for other in self._host_keys]
                for key in self._instance_keys
            ],
            dtype=bool,
        ).reshape(len(self._instance_keys), len(self._host_keys))

    @staticmethod
    @abc.abstractmethod
    def why(key: K, other: L) -> Reason | None:
        """Why not, by the key of the instance and that of the host."""

    def why_not(self, instance: int, host: int) -> Reason | None:
        return self.why(
            self._instance_keys[self._of_instance[instance]],
            self._host_keys[self._of_host[host]],
        )

    def rows(self, instances: IntArray) -> BoolArray:
        return self._allowed[self._of_instance[instances]][:, self._of_host]

    def column(self, host: int) -> BoolArray:
        return self._allowed[:, self._of_host[host]][self._of_instance]


class StayConstraint(Constraint):
    """An instance goes nowhere in a phase, for a reason.

    :param staying: instance to the reason
    """

    binds_rebuilds = False

    def __init__(
        self, instances: int, hosts: int, staying: Mapping[int, Reason]
    ) -> None:
        super().__init__(instances, hosts)
        self._staying = staying
        self._allowed: BoolArray = np.ones(instances, dtype=bool)
        self._allowed[list(staying)] = False

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        position = inputs.index.instance
        staying = {
            position[uuid]: reason
            for uuid, reason in cls.staying(inputs).items()
            if uuid in position
        }
        return cls(*inputs.shape, staying) if staying else None

    @staticmethod
    @abc.abstractmethod
    def staying(inputs: ConstraintInput) -> Mapping[str, Reason]:
        """By uuid why each instance goes nowhere in the phase."""

    def why_not(self, instance: int, host: int) -> Reason | None:
        return self._staying.get(instance)

    def rows(self, instances: IntArray) -> BoolArray:
        hosts = self._shape[1]
        return np.repeat(self._allowed[instances][:, None], hosts, axis=1)

    def column(self, host: int) -> BoolArray:
        return self._allowed.copy()


def _numbered(keys: Sequence[K]) -> tuple[IntArray, list[K]]:
    """Each key's number, and the distinct keys."""
    number: dict[K, int] = {}
    numbers = [number.setdefault(key, len(number)) for key in keys]
    return np.array(numbers, dtype=np.intp), list(number)
