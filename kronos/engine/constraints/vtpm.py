# SPDX-License-Identifier: Apache-2.0
"""The vTPM constraint: a host that can take over an emulated TPM."""

from typing import Self

from kronos.engine import edits, wording
from kronos.engine.constraints.base import ConstraintInput, KeyedConstraint
from kronos.engine.edits import Pair
from kronos.engine.eligibility import instances
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import Instance, PlanningInput

PREFIX = 'COMPUTE_SECURITY_TPM_'
"""Of the traits in question."""
BY_HOST = f'{PREFIX}SECRET_SECURITY_HOST'
Traits = frozenset[str]
NONE: Traits = frozenset()


class VtpmTraits(KeyedConstraint[Traits, Traits]):
    """An instance with a vTPM goes where Nova's scheduler lets it go.

    :param instance_keys: [V], the traits needed; none without a vTPM
    :param host_keys: [H], those of TPMs
    """

    codes = frozenset({Code.VTPM_HOST})

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        needed = [_needed(instance) for instance in inputs.instances]
        if not any(needed):
            return None
        return cls(
            needed,
            [
                frozenset(
                    trait for trait in host.traits if trait.startswith(PREFIX)
                )
                for host in inputs.hosts
            ],
        )

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        """The host has them."""
        had = case.snapshot.hosts[pair.destination].traits
        needed = _needed(case.snapshot.instances[pair.instance])
        return edits.with_host(
            case, pair.destination, traits=sorted({*had, *needed})
        )

    @staticmethod
    def why(key: Traits, other: Traits) -> Reason | None:
        lacking = sorted(key - other)
        if not lacking:
            return None
        return Reason(
            'it has a vTPM, and Placement does not show these traits of the '
            f'host: {wording.some(lacking)}',
            Code.VTPM_HOST,
        )


def _needed(instance: Instance) -> Traits:
    """The traits that Nova's scheduler requires."""
    if not instances.has_vtpm(instance):
        return NONE
    specs = instance.extra_specs
    version = '2_0' if specs[instances.TPM_VERSION] == '2.0' else '1_2'
    model = 'CRB' if specs.get('hw:tpm_model') == 'tpm-crb' else 'TIS'
    return frozenset({BY_HOST, f'{PREFIX}{version}', f'{PREFIX}{model}'})
