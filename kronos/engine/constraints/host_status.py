# SPDX-License-Identifier: Apache-2.0
"""The host-status constraint: which hosts take no instance at all."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

from kronos.engine import edits
from kronos.engine.constraints.base import ConstraintInput, KeyedConstraint
from kronos.engine.edits import Pair
from kronos.engine.eligibility import hosts
from kronos.engine.extension import ReasonCode
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import ComputeService, PlanningInput

Relaxation = Callable[[PlanningInput, Reason, str], PlanningInput]


def _service(**values: Any) -> Relaxation:
    def relaxed(case: PlanningInput, _: Reason, host: str) -> PlanningInput:
        services = dict(case.snapshot.services or {})
        services[host] = replace(services[host], **values)
        return edits.with_snapshot(case, services=services)

    return relaxed


def _new_service(case: PlanningInput, _: Reason, host: str) -> PlanningInput:
    services = dict(case.snapshot.services or {})
    zone = services[host].zone if host in services else ''
    services[host] = ComputeService(
        host, state='up', status='enabled', zone=zone
    )
    return edits.with_snapshot(case, services=services)


def _services(case: PlanningInput, _: Reason, __: str) -> PlanningInput:
    services = {
        host: ComputeService(host, state='up', status='enabled')
        for host in case.snapshot.hosts
    }
    return edits.with_snapshot(case, services=services)


def _not_drained(case: PlanningInput, _: Reason, host: str) -> PlanningInput:
    named = [name for name in case.settings.drain_hosts or [] if name != host]
    return edits.with_settings(case, drain_hosts=named)


def _host(**values: Any) -> Relaxation:
    return lambda case, _, host: edits.with_host(case, host, **values)


def _sample(query: str, value: float) -> Relaxation:
    return lambda case, reason, host: edits.with_sample(
        case, reason.about, query, host, value
    )


_RELAXATIONS: dict[ReasonCode, Relaxation] = {
    Code.SCOPE_NO_SERVICES: _services,
    Code.SCOPE_EXCLUSIONS_UNKNOWN: lambda case, _, __: edits.with_snapshot(
        case, exclusions_unknown=''
    ),
    Code.HOST_NO_SERVICE: _new_service,
    Code.HOST_CELL_DOWN: _new_service,
    # Nova takes a host that is forced down for down.
    Code.HOST_FORCED_DOWN: _service(forced_down=False, state='up'),
    Code.HOST_DOWN: _service(state='up'),
    Code.HOST_DISABLED: _service(status='enabled'),
    Code.HOST_NO_HYPERVISOR: _service(status='enabled'),
    Code.HOST_DRAINED: _not_drained,
    Code.HOST_FROZEN: _host(frozen=''),
    Code.HOST_NO_SAMPLE: _sample('imbalance', 0.0),
    Code.HOST_NO_CAPACITY: _sample('host_capacity', 1.0),
    Code.HOST_CLOSED: _host(closed=''),
    Code.HOST_EXCLUDED: _host(excluded=None),
    Code.HOST_NO_PLACEMENT: lambda case, _, __: edits.with_settings(
        case, require_headroom=False
    ),
}


class HostStatus(KeyedConstraint[None, Reason | None]):
    """A host takes instances: it is up and enabled, and takes part.

    :param host_keys: [H], why each takes nothing, if it does not
    """

    codes = frozenset(_RELAXATIONS)

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self:
        closed = [
            inputs.excluded.get(name)
            or hosts.why_closed(inputs.snapshot, name, inputs.settings)
            for name in inputs.index.hosts
        ]
        return cls([None] * len(inputs.index.instances), closed)

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        host = reason.host or pair.destination
        return _RELAXATIONS[reason.code](case, reason, host)

    @staticmethod
    def why(key: None, other: Reason | None) -> Reason | None:
        if not other:
            return None
        return other.worded(f'the host accepts no instances: {other}')
