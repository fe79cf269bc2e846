# SPDX-License-Identifier: Apache-2.0
"""Short ways to write a scope down, for the tests of the engine."""

from collections.abc import Mapping
from typing import Any

from kronos.engine.types import (
    ComputeService,
    Host,
    Instance,
    PolicyReadings,
    Reading,
    Sample,
    Snapshot,
)
from kronos.policies.models import Policy


def policy(name: str = 'cpu', weight: float = 1.0, **fields: Any) -> Policy:
    values = {
        'name': name,
        'mode': 'spread',
        'weight': weight,
        'imbalance_query': f'{name}_of_host',
        'vm_profile_query': f'{name}_of_vm',
    }
    return Policy.model_validate({**values, **fields})


def reading(values: Mapping[str, float], **fields: Any) -> Reading:
    """One fresh sample per label."""
    samples = [Sample(label, value, 100.0) for label, value in values.items()]
    return Reading('query', samples=samples, **fields)


def up(host: str, **fields: Any) -> ComputeService:
    values = {'state': 'up', 'status': 'enabled', **fields}
    return ComputeService(host, **values)


def instance(uuid: str, host: str, **fields: Any) -> Instance:
    return Instance(
        uuid, host, **{'internal_name': f'dom-{uuid}', 'vcpus': 1, **fields}
    )


def snapshot(
    scores: Mapping[str, Mapping[str, float]],
    hosts: list[str] | None = None,
    instances: list[Instance] | None = None,
    usages: Mapping[str, Mapping[str, float]] | None = None,
    **fields: Any,
) -> Snapshot:
    """A scope of available hosts.

    :param scores: policy to label to value of the imbalance query
    :param hosts: default: every label of ``scores``
    :param usages: policy to label to value of the profile query
    """
    names = hosts or sorted(
        {h for of_policy in scores.values() for h in of_policy}
    )
    usages = usages or {}
    readings = {
        name: PolicyReadings(
            reading(values), profile=reading(usages.get(name, {}))
        )
        for name, values in scores.items()
    }
    values = {
        'services': {name: up(name) for name in names},
        'taken_at': 1000.0,
        **fields,
    }
    return Snapshot(
        'agg',
        {name: Host(name) for name in names},
        {server.uuid: server for server in instances or []},
        readings,
        **values,
    )
