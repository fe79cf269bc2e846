# SPDX-License-Identifier: Apache-2.0
"""The room that an audit makes: what it asks for, needs and leads to.

A slot is room on one host for one more server of a flavor.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from kronos.common.names.name_marks import FlavorName, HostName
from kronos.engine.extension import Phase
from kronos.engine.settings import Settings
from kronos.engine.slots.numa_facts import NumaFacts
from kronos.engine.types import AggregateResult, Flavor, Snapshot
from kronos.extensions.room.certificates import Certificate

if TYPE_CHECKING:
    from kronos.snapshots.cloud import CloudInventory

NAME = 'room'
"""Of the extension."""


class RoomPhase(Phase):
    """What is planned instead of the trunk's phases."""

    MAKE_ROOM = 'make_room'


@dataclass(frozen=True)
class RoomRequest:
    """Which servers room is made for, and at what price."""

    flavors: dict[FlavorName, int] | None = None
    """Room for so many servers, all of them at once, by as few moves as
    possible."""
    flavor: FlavorName = ''
    """Room for as many servers as possible, by at most so many moves."""
    max_migrations: int | None = None
    apart: bool = False
    """Whether each of the new servers gets a host of its own."""
    max_imbalance: float | None = None
    """No move may leave the combined imbalance above this, unless it lowers
    it."""

    @property
    def numbers(self) -> dict[str, int]:
        """Wanted servers by flavor; 0: as many as possible."""
        if self.flavors is not None:
            return dict(self.flavors)
        return {self.flavor: 0}

    @property
    def fault(self) -> str:
        """What is wrong with it; '' if nothing."""
        if bool(self.flavors) == bool(self.flavor):
            return (
                'flavors, flavor: exactly one of the two is required, such '
                'as flavors={"f16": 3}'
            )
        if few := [name for name, n in (self.flavors or {}).items() if n < 1]:
            return f'flavors: the number of {few[0]} must be at least 1'
        if self.flavor and self.max_migrations is None:
            return 'max_migrations: missing; flavor requires it'
        return ''


@dataclass
class RoomNeeds:
    """What is read of a cloud for it."""

    flavors: dict[FlavorName, Flavor] = field(default_factory=dict)
    """By name, those of the cloud."""
    numa: NumaFacts = field(default_factory=NumaFacts)


class Proof(StrEnum):
    """What is proven of a plan."""

    OPTIMAL = 'optimal'
    """No plan needs fewer moves, or has more slots."""
    BOUND = 'bound'
    """The bound holds; a plan between the two may exist."""
    IMPOSSIBLE = 'impossible'
    """No number of moves gives the wanted room."""
    NOT_KNOWN = 'not_known'
    """Neither a plan nor a proof that there is none: the solver's limit came
    first."""
    NONE = 'none'
    """No solver is installed, or the scope is too large for it."""


@dataclass
class HostSlots:
    """The slots of a host before and after a plan."""

    host: HostName
    before: int
    after: int


@dataclass
class RoomOutcome:
    """The slots of a scope before and after its plan."""

    wanted: dict[FlavorName, int]
    """By flavor; 0: as many as possible."""
    before: dict[FlavorName, int]
    """Slots of each flavor alone."""
    after: dict[FlavorName, int]
    by_sum: dict[FlavorName, int]
    """Were all free capacity on one host."""
    moves: int = 0
    proof: Proof = Proof.NONE
    bound: int | None = None
    """Moves at least; with wanted 0: slots at most. None: not proven."""
    nearest: dict[FlavorName, int] = field(default_factory=dict)
    """What is possible instead, if the wanted room is not."""
    staying: dict[str, str] = field(default_factory=dict)
    """Servers that would move for the wanted room, by uuid why they stay."""
    budget: int | None = None
    """Migrations that are left, if they are too few."""
    certificate: Certificate | None = None
    """Prices that prove the bound; None: no prices do."""
    by_host: dict[FlavorName, list[HostSlots]] = field(default_factory=dict)
    """Slots of each flavor alone."""
    on_nodes: bool = False
    """Whether it holds only if Nova chooses NUMA nodes as configured."""

    @property
    def has_number(self) -> bool:
        """Whether room is wanted for certain numbers of servers."""
        return any(self.wanted.values())

    @property
    def is_met(self) -> bool:
        """Whether there is nothing to do."""
        return self.has_number and self.bound == 0

    @property
    def missing_before(self) -> int:
        return _missing(self.wanted, self.before)

    @property
    def missing_after(self) -> int:
        return _missing(self.wanted, self.after)


def _missing(numbers: Mapping[str, int], slots: Mapping[str, int]) -> int:
    return sum(
        max(0, number - slots.get(name, 0)) for name, number in numbers.items()
    )


def of(settings: Settings) -> RoomRequest | None:
    """What the audit asks for; None if it makes no room."""
    request = settings.extension.asked
    return request if isinstance(request, RoomRequest) else None


def claims_of(settings: Settings) -> Mapping[str, Certificate] | None:
    """The certificates to check instead of planning, by scope."""
    return getattr(settings.extension, 'claims', None)


def needs_of(keeper: 'Snapshot | CloudInventory') -> RoomNeeds:
    """What a snapshot, or an inventory, keeps for it."""
    needs = keeper.beside.get(NAME)
    return needs if isinstance(needs, RoomNeeds) else RoomNeeds()


def outcome_of(scope: AggregateResult) -> RoomOutcome | None:
    """What a plan leads to; None: room was not asked for, or not planned."""
    outcome = scope.beside.get(NAME)
    return outcome if isinstance(outcome, RoomOutcome) else None
