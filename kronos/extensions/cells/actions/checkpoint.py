# SPDX-License-Identifier: Apache-2.0
"""The checkpoint of a move: what its action's row says of its request.

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


class CellMoveStage(StrEnum):
    """How far a move has come."""

    ASKED = 'asked'
    CONFIRMING = 'confirming'
    REVERTING = 'reverting'


@dataclass
class Checkpoint:
    """What is kept in the parameter ``cell_move`` of the action's row."""

    asked_at: float
    """Unix seconds."""
    status: str
    """Of the server before: ACTIVE or SHUTOFF."""
    before: dict[str, Any] = field(default_factory=dict)
    """A document of the server as it was."""
    earlier: list[str] = field(default_factory=list)
    """Uuids of its newest migrations that were there before."""
    request: str = ''
    """Id of the request; '' until Nova has answered."""
    migration: str = ''
    """Uuid; '' until it is known."""
    stage: CellMoveStage = CellMoveStage.ASKED
    refused: str = ''
    """Why Nova refused at once what it may refuse every move of the plan."""

    def document(self) -> dict[str, Any]:
        """As the row has it; its keys are older than some names here."""
        row = asdict(self)
        return {'at': row.pop('asked_at'), 'known': row.pop('earlier'), **row}

    @property
    def server(self) -> str:
        """Uuid; '' if it is not known."""
        return marks.text(self.before.get('uuid'))

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self | None:
        """None if it makes no sense, or is no checkpoint."""
        asked_at, status = marks.number(row.get('at')), row.get('status')
        if asked_at is None or not isinstance(status, str):
            return None
        before, stage = row.get('before'), row.get('stage')
        earlier = row.get('known')
        return cls(
            asked_at=asked_at,
            status=status,
            before=before if isinstance(before, dict) else {},
            earlier=list(earlier) if isinstance(earlier, list) else [],
            request=marks.text(row.get('request')),
            migration=marks.text(row.get('migration')),
            stage=CellMoveStage(stage)
            if stage in list(CellMoveStage)
            else CellMoveStage.ASKED,
            refused=marks.text(row.get('refused')),
        )


@dataclass
class PlanStanding:
    """What the checkpoints of a plan's other moves say."""

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
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Self:
        checkpoints = [
            checkpoint for checkpoint in map(Checkpoint.of, rows) if checkpoint
        ]
        if any(checkpoint.request for checkpoint in checkpoints):
            return cls(True)
        refused = [row for row in checkpoints if row.refused]
        return cls(
            False,
            next((row.refused for row in refused), ''),
            frozenset(row.server for row in refused),
        )
