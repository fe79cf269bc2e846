# SPDX-License-Identifier: Apache-2.0
"""How does a test get the constraints of a scope?"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kronos.engine import edits
from kronos.engine.arrays import Index
from kronos.engine.constraints import constraint_set
from kronos.engine.constraints.base import Constraint, ConstraintInput
from kronos.engine.constraints.constraint_set import ConstraintSet
from kronos.engine.eligibility.cooldown import Cooldowns
from kronos.engine.phase_rules import rules_of
from kronos.engine.reasons import Reason
from kronos.engine.scoring import scorecard
from kronos.engine.settings import Settings
from kronos.engine.simulation.placement import Placement
from kronos.engine.types import (
    MigrationPhase,
    Phase,
    PlanningInput,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Mode, Policy


class Handmade(Constraint):
    """One that a test puts into a set itself; nothing lifts it."""

    codes = frozenset()
    can_relax = False

    @classmethod
    def build(cls, inputs: ConstraintInput) -> None:
        return None

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: edits.Pair
    ) -> PlanningInput:
        raise KeyError(reason.code)


def given(
    snapshot: Snapshot,
    settings: Settings | None = None,
    phase: Phase = MigrationPhase.SPREAD,
    **more: Any,
) -> ConstraintInput:
    """What the constraints of a scope are built from, before any move."""
    settings = settings or Settings()
    index = Index(snapshot)
    parts = {
        'host_of': Placement.of(snapshot, index).host_of,
        'excluded': {},
        'cooldowns': Cooldowns(),
    }
    return ConstraintInput(
        snapshot=snapshot,
        settings=settings,
        rules=rules_of(phase, Mode.SPREAD, settings),
        index=index,
        **parts | more,
    )


def built(
    snapshot: Snapshot, policies: Sequence[Policy], settings: Settings
) -> tuple[Placement, ConstraintSet] | None:
    """A scope with its constraints; None if too few hosts take part."""
    card = scorecard.score(snapshot, policies, settings)
    if card.blocked is StopReason.TOO_FEW_HOSTS:
        return None
    now = Placement.of(snapshot, Index(snapshot))
    now.constraints = constraint_set.build(
        given(
            snapshot,
            settings,
            host_of=now.host_of,
            excluded=card.excluded,
        )
    )
    return now, now.constraints


def said(
    constraint: Constraint | ConstraintSet, shape: tuple[int, int]
) -> Any:
    """[V, H]: where each instance may go, pair by pair."""
    instances, hosts = shape
    return np.array(
        [
            [not constraint.why_not(instance, host) for host in range(hosts)]
            for instance in range(instances)
        ],
        dtype=bool,
    ).reshape(shape)


def masked(
    constraint: Constraint | ConstraintSet, shape: tuple[int, int]
) -> tuple[Any, Any]:
    """The same by its rows, and by its columns."""
    instances, hosts = shape
    columns = [constraint.column(host) for host in range(hosts)]
    return (
        constraint.rows(np.arange(instances)),
        np.array(columns, dtype=bool).reshape(hosts, instances).T,
    )


def pairs(
    constraint: Constraint | ConstraintSet, shape: tuple[int, int]
) -> list[list[bool]]:
    """The same as lists; its rows and columns have to agree."""
    allowed = said(constraint, shape)
    for mask in masked(constraint, shape):
        np.testing.assert_array_equal(allowed, mask)
    return list(allowed.tolist())


def relaxed(
    constraint: type[Constraint],
    snapshot: Snapshot,
    settings: Settings,
    reason: Reason,
    pair: edits.Pair,
    policies: Sequence[Policy] = (),
) -> PlanningInput:
    """The input in which a constraint gives a reason no more."""
    case = PlanningInput(snapshot, list(policies), settings)
    return constraint.relax(case, reason, pair)
