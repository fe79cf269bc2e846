# SPDX-License-Identifier: Apache-2.0
"""Has a scope been left alone long enough since its last migration?

A migration shows in the metrics only when the window of the queries has
passed; who plans sooner plans on load that has left already.
"""

from dataclasses import dataclass, field

from kronos.engine.settings import Settings
from kronos.engine.types import Snapshot


@dataclass
class Memory:
    """What the past forbids in a scope."""

    standstill: str = ''
    """Why the whole scope is not planned now (I1)."""
    unavailable: dict[str, str] = field(default_factory=dict)
    """Instance uuid to the reason: it cools down or is in quarantine."""
    returns: dict[str, dict[str, str]] = field(default_factory=dict)
    """Instance uuid to host to the reason: spread and pack do not move it
    back there."""
    notes: list[str] = field(default_factory=list)
    """What an operator should know of it (I6)."""


def remember(snapshot: Snapshot, settings: Settings) -> Memory:
    """Judge the events of a scope, by the time at which it was looked at."""
    return Memory()
