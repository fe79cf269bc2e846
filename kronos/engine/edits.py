# SPDX-License-Identifier: Apache-2.0
"""Edits of a planning input: one thing changed, the rest as it is."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from kronos.engine import instance_keys
from kronos.engine.reasons import Reason
from kronos.engine.types import (
    Health,
    PlanningInput,
    PolicyReadings,
    Reading,
    Sample,
    Snapshot,
)
from kronos.policies import models
from kronos.policies.models import Fallback, Policy, PolicyQuery

MARGIN = 1e-6
"""By so much more than needed a number is changed."""


@dataclass
class Pair:
    """An instance and where it would go."""

    instance: str
    source: str
    destination: str


Relaxation = Callable[[PlanningInput, Reason, Pair], PlanningInput]
"""Makes a case in which a reason is gone; the given one stays as it is."""


def setting(**values: Any) -> Relaxation:
    """Lifts a reason by other settings."""
    return lambda case, _, __: with_settings(case, **values)


def option(kind: type, **values: Any) -> Relaxation:
    """Lifts a reason by other options of an extension."""
    return lambda case, _, __: with_option(case, kind, **values)


def instance(**values: Any) -> Relaxation:
    """Lifts a reason by other fields of the instance."""
    return lambda case, _, pair: with_instance(case, pair.instance, **values)


def with_settings(case: PlanningInput, **values: Any) -> PlanningInput:
    """The case with other settings."""
    return replace(case, settings=replace(case.settings, **values))


def with_option(
    case: PlanningInput, kind: type, **values: Any
) -> PlanningInput:
    """The case with other options of an extension."""
    settings = replace(case.settings)
    settings.set_options(replace(settings.options(kind), **values))
    return replace(case, settings=settings)


def with_snapshot(case: PlanningInput, **values: Any) -> PlanningInput:
    """The case with other fields of its snapshot."""
    return replace(case, snapshot=replace(case.snapshot, **values))


def with_beside(
    case: PlanningInput, name: str, **values: Any
) -> PlanningInput:
    """The case with other fields of what an extension looks at."""
    beside = case.snapshot.beside
    changed = replace(beside[name], **values)
    return with_snapshot(case, beside=beside | {name: changed})


def with_host(case: PlanningInput, name: str, **values: Any) -> PlanningInput:
    """The case with other fields of one host."""
    host = replace(case.snapshot.hosts[name], **values)
    return with_snapshot(case, hosts=case.snapshot.hosts | {name: host})


def with_instance(
    case: PlanningInput, uuid: str, **values: Any
) -> PlanningInput:
    """The case with other fields of one instance."""
    changed = replace(case.snapshot.instances[uuid], **values)
    instances = case.snapshot.instances | {uuid: changed}
    return with_snapshot(case, instances=instances)


def without_group(case: PlanningInput, uuid: str) -> PlanningInput:
    """The case without one server group."""
    groups = [group for group in case.snapshot.groups if group.uuid != uuid]
    return with_snapshot(case, groups=groups)


def with_policy(
    case: PlanningInput, name: str, **values: Any
) -> PlanningInput:
    """The case with other fields of one policy.

    A limit may come to lie above what the policies file allows: then no
    limit that it allows would do.
    """
    policies = [
        policy.model_copy(update=values) if policy.name == name else policy
        for policy in case.policies
    ]
    return replace(case, policies=policies)


def with_limit(
    case: PlanningInput, policy: str, field: str, value: float
) -> PlanningInput:
    """The case with a limit of one policy just above a value."""
    return with_policy(case, policy, **{field: value + MARGIN})


def with_sample(
    case: PlanningInput, policy: str, query: str, label: str, value: float
) -> PlanningInput:
    """The case with one more sample of a policy.

    :param query: ``imbalance``, ``profile``, ``host_capacity`` or
        ``capacity``
    :param label: of the sample; those with the same label are left out
    """
    readings = case.snapshot.readings[policy]
    reading = getattr(readings, query) or Reading('')
    samples = [sample for sample in reading.samples if sample.label != label]
    samples.append(Sample(label, value, case.snapshot.taken_at))
    reading = replace(reading, samples=samples)
    return _with_readings(case, policy, replace(readings, **{query: reading}))


def _with_readings(
    case: PlanningInput, policy: str, readings: PolicyReadings
) -> PlanningInput:
    every = case.snapshot.readings | {policy: readings}
    return with_snapshot(case, readings=every)


def profiled(case: PlanningInput, uuid: str) -> PlanningInput:
    """The case with a sample of every policy for one instance.

    A name that is empty or another's, too, is changed for that.
    """
    for policy in case.policies:
        case, label = _named(case, policy, uuid)
        readings = case.snapshot.readings.get(policy.name)
        samples = (
            readings.profile.samples if readings and readings.profile else []
        )
        if not any(
            sample.label == label and math.isfinite(sample.value)
            for sample in samples
        ):
            case = with_sample(case, policy.name, 'profile', label, 0.0)
    return case


def _named(
    case: PlanningInput, policy: Policy, uuid: str
) -> tuple[PlanningInput, str]:
    """The label of an instance for a policy, unlike that of all others."""
    kind = policy.vm_profile_label_type
    field = instance_keys.key_of(kind)
    if field == 'uuid':
        return case, uuid
    changes: dict[str, Any] = {field: uuid}
    instances = case.snapshot.instances
    name: str = getattr(instances[uuid], field)
    others = (
        instance for instance in instances.values() if instance.uuid != uuid
    )
    if name not in {
        '',
        *instance_keys.elsewhere(case.snapshot, kind),
        *(getattr(instance, field) for instance in others),
    }:
        return case, name
    return with_instance(case, uuid, **changes), uuid


def usable(case: PlanningInput) -> PlanningInput:
    """The case with policies that can all be used.

    Every host has one sample, the first that it had where that is usable.
    """
    settings = replace(case.settings, require_all_policies=False)
    policies = case.policies
    if not any(policy.weight for policy in policies):
        policies = [
            policy.model_copy(update={'weight': 1.0}) for policy in policies
        ]
    case = replace(case, settings=settings, policies=policies)
    for policy in case.policies:
        readings = case.snapshot.readings.get(
            policy.name, PolicyReadings(Reading(''))
        )
        answers: dict[str, Any] = {
            row.reading: _answered(
                getattr(readings, row.reading), row, case.snapshot
            )
            for row in models.QUERIES
        }
        case = _with_readings(case, policy.name, PolicyReadings(**answers))
    return case


def guessed(case: PlanningInput, policy: str) -> PlanningInput:
    """The case with equal shares of a host for its servers, by one policy."""
    readings = case.snapshot.readings[policy]
    if readings.profile is not None:
        profile = replace(readings.profile, samples=[])
        readings = replace(readings, profile=profile)
    average = with_policy(
        case, policy, vm_profile_fallback=Fallback.HOST_AVERAGE
    )
    return _with_readings(average, policy, readings)


def _answered(
    reading: Reading | None, row: PolicyQuery, snapshot: Snapshot
) -> Reading | None:
    if row.label_type:
        return reading and replace(
            reading, health=Health.HEALTHY, error='', incomplete=''
        )
    by_label: dict[str, Sample] = {}
    for sample in reading.samples if reading else []:
        if row.least <= sample.value <= row.most:
            by_label.setdefault(sample.label, sample)
    samples = [
        by_label.get(host) or Sample(host, row.default, snapshot.taken_at)
        for host in sorted(snapshot.hosts)
    ]
    return Reading(reading.query if reading else '', samples=samples)
