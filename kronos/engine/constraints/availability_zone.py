# SPDX-License-Identifier: Apache-2.0
"""The availability-zone constraints: pinned instances, and restrict_to_az."""

from typing import Self

from kronos.engine import edits
from kronos.engine.constraints.base import ConstraintInput, KeyedConstraint
from kronos.engine.edits import Pair
from kronos.engine.eligibility import instances
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput, Snapshot


def zone_of(snapshot: Snapshot, host: str) -> str:
    """A host's availability zone; '' if it is unknown."""
    zone = snapshot.hosts[host].availability_zone
    service = (snapshot.services or {}).get(host)
    return zone or (service.zone if service else '')


def _zones(inputs: ConstraintInput) -> list[str]:
    return [zone_of(inputs.snapshot, name) for name in inputs.index.hosts]


class PinnedZone(KeyedConstraint[str | None, str]):
    """An instance that asked for a zone stays in it.

    An unknown zone is not the one that it asked for.

    :param instance_keys: [V], the zones asked for
    :param host_keys: [H], the zones
    """

    codes = frozenset({Code.ZONE_PINNED})

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        pins = [
            instance.pinned_availability_zone for instance in inputs.instances
        ]
        return cls(pins, _zones(inputs))

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        return edits.with_instance(
            case, pair.instance, pinned_availability_zone=None
        )

    @staticmethod
    def why(key: str | None, other: str) -> Reason | None:
        return instances.why_pinned(key, other)


class SameZone(KeyedConstraint[str, str]):
    """With ``restrict_to_az`` no instance leaves its zone.

    :param instance_keys: [V], the zones where the instances are: no move of
        the scope changes them
    :param host_keys: [H], the zones
    """

    codes = frozenset({Code.ZONE_CROSSED})

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        if not inputs.settings.restrict_to_az:
            return None
        zones = _zones(inputs)
        return cls([zones[host] for host in inputs.host_of.tolist()], zones)

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        return edits.with_settings(case, restrict_to_az=False)

    @staticmethod
    def why(key: str, other: str) -> Reason | None:
        if key == other:
            return None
        return Reason(
            f'restrict_to_az is set: the host is in availability zone '
            f'{other or "unknown"}, not {key or "unknown"}',
            Code.ZONE_CROSSED,
        )
