# SPDX-License-Identifier: Apache-2.0
"""The owner's consent: an instance stays if its owner refuses the phase."""

from collections.abc import Mapping

from kronos.engine import edits
from kronos.engine.constraints.base import ConstraintInput, StayConstraint
from kronos.engine.edits import Pair
from kronos.engine.eligibility import consent
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput


class OwnerConsent(StayConstraint):
    """An instance goes nowhere in a phase that its owner refuses."""

    codes = frozenset({Code.INSTANCE_CONSENT})

    @staticmethod
    def staying(inputs: ConstraintInput) -> Mapping[str, Reason]:
        instances, settings = inputs.snapshot.instances, inputs.settings
        refusals = consent.of_phase(
            inputs.snapshot, settings, inputs.rules, inputs.wishing
        )
        # One that no phase may move has its reason without a destination.
        return {
            uuid: reason
            for uuid, reason in refusals.items()
            if consent.forbidden(instances[uuid], settings) is None
        }

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
