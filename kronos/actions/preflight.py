# SPDX-License-Identifier: Apache-2.0
"""Is a planned move still right? (K4, K5, K11, G10)

Between an audit and its plan's start anything may have happened. A task
that is done or pointless is stale; one that would be wrong is refused.
"""

from dataclasses import dataclass
from typing import Any, Self

from kronos.clients import nova
from kronos.common import exceptions
from kronos.engine import movability, types


class StaleTask(exceptions.MigrationError):
    """There is nothing left to move."""


@dataclass
class Task:
    """One planned live migration, as the action's parameters have it."""

    instance: str
    source: str
    destination: str
    phase: str
    aggregate: str = ''
    name: str = ''

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        return cls(
            instance=parameters['resource_id'],
            source=parameters['source_node'],
            destination=parameters['destination_node'],
            phase=parameters['phase'],
            aggregate=parameters['aggregate'],
            name=parameters.get('resource_name', ''),
        )


def check(client: nova.NovaClient, task: Task) -> None:
    """Look at the instance and at both hosts as they are now.

    :raises StaleTask: the instance is gone, or is elsewhere already
    :raises PreFlightError: it must not or cannot be moved now
    :raises NovaClientError: Nova cannot be asked
    """
    instance = client.get_instance(task.instance)
    _check_place(instance, task)
    assert instance is not None  # noqa: S101
    _check_instance(instance)
    _check_service(
        client.get_service(task.source),
        f'source {task.source}',
        may_be_disabled=task.phase == types.MigrationPhase.EVACUATE,
    )
    _check_service(
        client.get_service(task.destination),
        f'destination {task.destination}',
    )


def _check_place(instance: types.Instance | None, task: Task) -> None:
    if instance is None:
        raise StaleTask('the instance is gone')
    if instance.host == task.destination:
        raise StaleTask(f'the instance is on {task.destination} already')
    if instance.host != task.source:
        raise StaleTask(
            f'the instance has left {task.source}; it is on '
            f'{instance.host or "no host"} now'
        )


def _check_instance(instance: types.Instance) -> None:
    if instance.locked:
        raise exceptions.PreFlightError('the instance is locked')
    if movability.PIN in {*instance.tags, *instance.metadata}:
        raise exceptions.PreFlightError(f'the instance has {movability.PIN}')
    if instance.status != 'ACTIVE':
        raise exceptions.PreFlightError(
            f'the instance is {instance.status}, not ACTIVE'
        )
    if instance.task_state:
        raise exceptions.PreFlightError(
            f'the instance is busy: task state {instance.task_state}'
        )


def _check_service(
    service: types.ComputeService | None,
    where: str,
    may_be_disabled: bool = False,
) -> None:
    if service is None:
        raise exceptions.PreFlightError(f'{where} has no nova-compute')
    if service.state != 'up' or service.forced_down:
        raise exceptions.PreFlightError(
            f'nova-compute on {where} is {service.state or "unknown"}'
            + (', forced down' if service.forced_down else '')
        )
    if service.status != 'enabled' and not may_be_disabled:
        reason = service.disabled_reason
        raise exceptions.PreFlightError(
            f'nova-compute on {where} is {service.status or "unknown"}'
            + (f' ({reason})' if reason else '')
        )
