# SPDX-License-Identifier: Apache-2.0
"""The failures of a scope, as far as its hosts do not show them."""

from dataclasses import dataclass, field

from kronos.engine.types import Snapshot

NAME = 'recovery'
"""Of the extension."""


@dataclass
class Failures:
    """What a snapshot keeps for a recovery."""

    unknown: str = ''
    """Why nobody knows which hosts are at fault by ``host_fault_query``, or
    which servers failed; '': it is known."""
    elsewhere: list[str] = field(default_factory=list)
    """Hosts of its aggregate that are no part of it, and are at fault or
    were closed by Kronos."""


def of(snapshot: Snapshot) -> Failures:
    """Those of a snapshot; of one that keeps none all is known."""
    found = snapshot.beside.get(NAME)
    return found if isinstance(found, Failures) else Failures()
