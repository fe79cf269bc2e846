# SPDX-License-Identifier: Apache-2.0
"""The pre-flight checks of a move: instance, source and destination.

Between an audit and its plan's start anything may have happened. A task
that is pointless is stale; one that would be wrong is refused.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Self

from kronos.clients.nova.client import NovaClient
from kronos.engine import faults, types
from kronos.engine.eligibility import instances
from kronos.engine.faults import Fault


class Standing(Enum):
    """How far a task is that is not wrong."""

    READY = 'ready'
    UNDER_WAY = 'under way'
    """Somebody moves the instance to this very destination."""
    ARRIVED = 'arrived'


@dataclass
class MigrationTask:
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


def check(client: NovaClient, task: MigrationTask) -> Standing:
    """Look at the instance and at both hosts as they are now.

    :raises StaleTask: the instance is gone, or is elsewhere
    :raises PreFlightError: it must not or cannot be moved now
    :raises NovaClientError: Nova cannot be asked
    """
    instance = client.get_instance(task.instance)
    if instance is None:
        raise faults.error(Fault.INSTANCE_GONE, 'the instance is gone')
    if instance.host == task.destination:
        return Standing.ARRIVED
    if instance.host != task.source:
        raise faults.error(
            Fault.INSTANCE_ELSEWHERE,
            f'the instance has left {task.source}; it is on '
            f'{instance.host or "no host"} now',
        )
    if instance.task_state == 'migrating' and _is_under_way(client, task):
        return Standing.UNDER_WAY
    _check_instance(instance)
    _check_hosts(client, task)
    return Standing.READY


def _is_under_way(client: NovaClient, task: MigrationTask) -> bool:
    """Whether somebody moves the instance to this very destination.

    Nova writes down where to, or anything at all, a moment later.

    :raises StaleTask: it is on its way to another host
    """
    hosts = {
        one.destination
        for one in client.list_unfinished_migrations()
        if one.instance == task.instance and one.destination
    }
    if hosts and task.destination not in hosts:
        raise faults.error(
            Fault.INSTANCE_ELSEWHERE,
            f'the instance is on its way to {" and ".join(sorted(hosts))}',
        )
    return bool(hosts)


def _check_instance(instance: types.Instance) -> None:
    if instance.locked:
        raise faults.error(Fault.INSTANCE_LOCKED, 'the instance is locked')
    if instances.PIN in {*instance.tags, *instance.metadata}:
        raise faults.error(
            Fault.INSTANCE_PINNED, f'the instance has {instances.PIN}'
        )
    if instance.task_state:
        raise faults.error(
            Fault.INSTANCE_BUSY,
            f'the instance is busy: task state {instance.task_state}',
        )
    if instance.status != 'ACTIVE':
        raise faults.error(
            Fault.INSTANCE_NOT_ACTIVE,
            f'the instance is {instance.status}, not ACTIVE',
        )


def _check_hosts(client: NovaClient, task: MigrationTask) -> None:
    """A source that was disabled meanwhile is no reason to stay there."""
    for where, host, fault in (
        ('source', task.source, Fault.SOURCE_NOT_UP),
        ('destination', task.destination, Fault.DESTINATION_NOT_UP),
    ):
        service = client.get_service(host)
        trouble = trouble_of(service, may_be_disabled=where == 'source')
        if not trouble:
            continue
        if (
            where == 'destination'
            and service is not None
            and is_closed(service)
        ):
            fault = Fault.DESTINATION_DISABLED
        raise faults.error(fault, f'nova-compute on {where} {host} {trouble}')


def is_closed(service: types.ComputeService) -> bool:
    """Whether an operator took it out: that does not pass by itself."""
    return service.forced_down or is_up(service)


def is_up(service: types.ComputeService) -> bool:
    """Whether a nova-compute reports, disabled or not."""
    return service.state == 'up' and not service.forced_down


def trouble_of(
    service: types.ComputeService | None, may_be_disabled: bool = False
) -> str:
    """What keeps a nova-compute from taking part; '' if nothing does."""
    if service is None:
        return 'is not known to Nova'
    if service.state != 'up' or service.forced_down:
        forced = ', forced down' if service.forced_down else ''
        return f'is {service.state or "unknown"}{forced}'
    if service.status != 'enabled' and not may_be_disabled:
        reason = service.disabled_reason
        told = f' ({reason})' if reason else ''
        return f'is {service.status or "unknown"}{told}'
    return ''
