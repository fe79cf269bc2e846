# SPDX-License-Identifier: Apache-2.0
"""The free capacity of a host by Placement, and who fits into it.

The headroom constraint and the action's check of a destination ask the same.
"""

from collections.abc import Mapping
from typing import Any

from kronos.engine.reasons import Code, Reason
from kronos.engine.types import Headroom

UNLIMITED = 2**62


def free(resource: str, headroom: Mapping[str, Headroom] | None) -> int:
    """What is left of a resource class; negative on an overfull host.

    A host whose headroom is not known has room for everything: whether it
    may be a destination at all is another question. Of a class that a known
    host does not have, it has none.
    """
    if headroom is None:
        return UNLIMITED
    amount = headroom.get(resource)
    return amount.capacity - amount.used if amount else 0


def fits(need: Any, free: Any) -> Any:
    """The rule itself, for two numbers or arrays of them.

    Who needs nothing of a class fits on an overfull host.
    """
    return (need <= free) | (need == 0)


def why_not(resource: str, need: int, free: int) -> Reason | None:
    """Why an instance does not fit; None if it does."""
    if fits(need, free):
        return None
    text = f'it needs {need} {resource}, {max(free, 0)} are free'
    return Reason(text, Code.NO_ROOM, resource, float(need - free))
