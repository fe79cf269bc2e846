# SPDX-License-Identifier: Apache-2.0
"""The owner's consent: an instance stays if its owner refuses the phase."""

from collections.abc import Mapping
from typing import Self

import numpy as np

from kronos.engine import edits
from kronos.engine.arrays import BoolArray, IntArray
from kronos.engine.constraints.base import Constraint, ConstraintInput
from kronos.engine.edits import Pair
from kronos.engine.eligibility import consent
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput


class OwnerConsent(Constraint):
    """An instance goes nowhere in a phase that its owner refuses.

    :param refusals: instance to the reason
    """

    codes = frozenset({Code.INSTANCE_CONSENT})
    binds_rebuilds = False

    def __init__(
        self, instances: int, hosts: int, refusals: Mapping[int, Reason]
    ) -> None:
        super().__init__(instances, hosts)
        self._refusals = refusals
        self._allowed: BoolArray = np.ones(instances, dtype=bool)
        self._allowed[list(refusals)] = False

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        position = inputs.index.instance
        refusals = {
            position[uuid]: reason
            for uuid, reason in consent.of_phase(
                inputs.snapshot, inputs.settings, inputs.rules
            ).items()
            if uuid in position
        }
        return cls(*inputs.shape, refusals) if refusals else None

    @staticmethod
    def relax(case: PlanningInput, _: Reason, pair: Pair) -> PlanningInput:
        instance = case.snapshot.instances[pair.instance]
        metadata = {
            key: text
            for key, text in instance.metadata.items()
            if key != consent.KEY
        }
        tags = consent.without(instance.tags)
        return edits.with_instance(
            case, pair.instance, metadata=metadata, tags=tags
        )

    def why_not(self, instance: int, host: int) -> Reason | None:
        return self._refusals.get(instance)

    def rows(self, instances: IntArray) -> BoolArray:
        hosts = self._shape[1]
        return np.repeat(self._allowed[instances][:, None], hosts, axis=1)

    def column(self, host: int) -> BoolArray:
        return self._allowed.copy()
