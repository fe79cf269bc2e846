# SPDX-License-Identifier: Apache-2.0
"""The stuck destinations: hosts that take no more, for stuck migrations."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Self

import numpy as np

from kronos.engine.arrays import BoolArray, IntArray
from kronos.engine.constraints.base import Constraint, ConstraintInput
from kronos.engine.edits import Pair
from kronos.engine.eligibility import stuck_migrations
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput


class StuckDestination(Constraint):
    """A host with a stuck incoming migration is no destination.

    :param refused: host to the reason
    """

    codes = frozenset({Code.HOST_STUCK_INTO})
    subject = attrgetter('cooldowns.held_destinations')
    binds_rebuilds = False

    def __init__(
        self, instances: int, hosts: int, refused: Mapping[int, Reason]
    ) -> None:
        super().__init__(instances, hosts)
        self._refused = refused

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        host = inputs.index.host
        refused = {
            host[name]: reason
            for name, reason in inputs.cooldowns.held_destinations.items()
            if name in host
        }
        return cls(*inputs.shape, refused) if refused else None

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        """Those migrations have ended.

        Not that of the instance itself, nor one that holds its source, too:
        these are reasons of their own.
        """
        return stuck_migrations.without(
            case,
            lambda event: (
                event.instance != pair.instance
                and event.destination == pair.destination
                and event.source != pair.source
            ),
        )

    def why_not(self, instance: int, host: int) -> Reason | None:
        return self._refused.get(host)

    def rows(self, instances: IntArray) -> BoolArray:
        mask = np.ones((len(instances), self._shape[1]), dtype=bool)
        mask[:, list(self._refused)] = False
        return mask

    def column(self, host: int) -> BoolArray:
        return np.full(self._shape[0], host not in self._refused, dtype=bool)
