# SPDX-License-Identifier: Apache-2.0
"""The certificate: prices from which anybody can compute a bound again.

Servers, migrations and slots have prices. At these, a host with its best
trade is worth so much, and no plan is worth more than all hosts together. So
the slots at the end of any plan, less its migrations, each at its price, are
at most that sum, in whatever order the servers move.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kronos.common.exceptions import ConfigurationError
from kronos.common.names.name_marks import FlavorName


class Claim(StrEnum):
    """What is proven."""

    MOST = 'most_slots'
    """At most so many slots with so many migrations."""
    FEWEST = 'fewest_migrations'
    """At least so many migrations for the wanted servers."""
    IMPOSSIBLE = 'impossible'
    """No number of migrations makes room for the wanted servers."""
    STUCK = 'no_first_migration'
    """No movable server fits on any other host, so the slots stay."""


@dataclass
class KindPrice:
    """The price of a server of a kind."""

    demand: dict[str, int]
    """By resource class."""
    servers: int
    """So many are of the kind."""
    price: float


@dataclass
class Certificate:
    """A claim with its prices, in migrations or slots."""

    claim: Claim
    number: int
    """Slots or migrations; 0 if it has no number."""
    migrations: int | None = None
    """Of the claim about slots."""
    move: float = 0.0
    """The price of a migration."""
    slots: dict[FlavorName, float] = field(default_factory=dict)
    """The price of a slot of each flavor."""
    kinds: list[KindPrice] = field(default_factory=list)
    """In the order of the cluster of counts."""


@dataclass(frozen=True)
class Verdict:
    """The end of a check."""

    holds: bool
    text: str


def of_report(report: Mapping[str, Any]) -> dict[str, Certificate]:
    """The certificates of a report, by scope.

    :raises ConfigurationError: it is no report, or one is of another format
    """
    try:
        rooms = {
            str(scope['name']): scope.get('room') for scope in report['scopes']
        }
        return {
            name: _read(room['certificate'])
            for name, room in rooms.items()
            if room and room.get('certificate')
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigurationError(
            reason='the file is no report of a plan that makes room: '
            f'{error!r}'
        ) from error


def _read(raw: Mapping[str, Any]) -> Certificate:
    moves = raw['migrations']
    return Certificate(
        Claim(raw['claim']),
        int(raw['number']),
        None if moves is None else int(moves),
        float(raw['move']),
        {str(name): float(price) for name, price in raw['slots'].items()},
        [
            KindPrice(
                {str(key): int(n) for key, n in kind['demand'].items()},
                int(kind['servers']),
                float(kind['price']),
            )
            for kind in raw['kinds']
        ],
    )
