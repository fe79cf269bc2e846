# SPDX-License-Identifier: Apache-2.0
"""The mark of a move: what its action's row tells of what Nova was asked.

It is written before Nova is asked. Who finds it later, after the applier has
died, knows what the server was and which migration is ours, and never asks a
second time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Self

from kronos.watcher_db import marks

ENOUGH = 2
"""So many servers have to be refused until that is not due to them."""


class Stage(StrEnum):
    """How far a move has come."""

    ASKED = 'asked'
    CONFIRMING = 'confirming'
    REVERTING = 'reverting'


@dataclass
class Mark:
    """What is kept in the parameter ``cell_move`` of the action's row."""

    at: float
    """Unix seconds."""
    status: str
    """Of the server before: ACTIVE or SHUTOFF."""
    before: dict[str, Any] = field(default_factory=dict)
    """A document of the server as it was."""
    known: list[str] = field(default_factory=list)
    """Uuids of its newest migrations that were there before."""
    request: str = ''
    """Id of the request; '' until Nova has answered."""
    migration: str = ''
    """Uuid; '' until it is known."""
    stage: Stage = Stage.ASKED
    refused: str = ''
    """Why Nova refused at once what it may refuse every move of the plan."""

    def document(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def server(self) -> str:
        """Uuid; '' if the mark does not tell."""
        return _text(self.before.get('uuid'))

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self | None:
        """None if it makes no sense, or is no mark."""
        at, status = marks.number(told.get('at')), told.get('status')
        if at is None or not isinstance(status, str):
            return None
        before, stage = told.get('before'), told.get('stage')
        known = told.get('known')
        return cls(
            at=at,
            status=status,
            before=before if isinstance(before, dict) else {},
            known=list(known) if isinstance(known, list) else [],
            request=_text(told.get('request')),
            migration=_text(told.get('migration')),
            stage=Stage(stage) if stage in list(Stage) else Stage.ASKED,
            refused=_text(told.get('refused')),
        )


@dataclass
class PlanStanding:
    """What the marks of a plan's other moves tell."""

    is_accepted: bool
    """Whether Nova has taken one of them."""
    refused: str = ''
    """Why Nova refused the servers below."""
    servers: frozenset[str] = frozenset()
    """Uuids of those that Nova refused, if it has taken none."""

    @property
    def is_refused(self) -> bool:
        """Whether it is the plan: of one server only that server is known."""
        return len(self.servers) >= ENOUGH

    @classmethod
    def of(cls, told: Iterable[Mapping[str, Any]]) -> Self:
        found = [one for one in map(Mark.of, told) if one is not None]
        if any(one.request for one in found):
            return cls(True)
        refused = [one for one in found if one.refused]
        return cls(
            False,
            next((one.refused for one in refused), ''),
            frozenset(one.server for one in refused),
        )


def _text(told: Any) -> str:
    return told if isinstance(told, str) else ''
