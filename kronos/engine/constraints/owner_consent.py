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
        snapshot, settings = inputs.snapshot, inputs.settings
        wishes = inputs.wishes
        if wishes is None:
            wishes = consent.of_scope(snapshot, settings)
        # One that no phase may move has its reason without a destination.
        wishes = {
            uuid: wish
            for uuid, wish in wishes.items()
            if not consent.is_final(wish, settings)
        }
        return consent.of_phase(snapshot, settings, inputs.rules, wishes)

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
