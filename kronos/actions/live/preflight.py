# SPDX-License-Identifier: Apache-2.0
"""The pre-flight checks of a move: instance, source and destination.

Between an audit and its plan's start anything may have happened. A task
that is pointless is stale; one that would be wrong is refused.
"""

from enum import Enum

from kronos.actions.core.task import MigrationTask
from kronos.clients.nova.client import NovaClient
from kronos.engine import faults, types
from kronos.engine.eligibility import hosts, instances
from kronos.engine.faults import Fault
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings

SOURCE, DESTINATION = 'source', 'destination'

OF_INSTANCE = {
    Code.INSTANCE_LOCKED: Fault.INSTANCE_LOCKED,
    Code.INSTANCE_PINNED: Fault.INSTANCE_PINNED,
    Code.INSTANCE_BUSY: Fault.INSTANCE_BUSY,
    Code.INSTANCE_NOT_ACTIVE: Fault.INSTANCE_NOT_ACTIVE,
    Code.INSTANCE_NOT_RUNNING: Fault.INSTANCE_NOT_ACTIVE,
}
"""The reasons of an audit that hold here too, in the order in which they are
looked for: what passes by itself (a task) before what it brings about (a
status). Left out are what only an audit knows (``INSTANCE_UNMOVABLE``, the
past) and ``INSTANCE_EXTRA_SPEC``: a flavor changes by a resize alone, and
that ends elsewhere or in another status."""
ANY_SPEC = Settings(allowed_extra_specs=['*'])

CLOSED = (Code.HOST_FORCED_DOWN, Code.HOST_DISABLED)
"""An operator took the host out: that does not pass by itself."""


class Standing(Enum):
    """How far a task is that is not wrong."""

    READY = 'ready'
    UNDER_WAY = 'under way'
    """Somebody moves the instance to this very destination."""
    ARRIVED = 'arrived'


def check(client: NovaClient, task: MigrationTask) -> Standing:
    """Look at the instance and at both hosts as they are now.

    :raises StaleTask: the instance is gone, or is elsewhere; or its host
        was to be closed before, and is not
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
    _check_closed(client, task)
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
    found = {one.code: one for one in instances.reasons(instance, ANY_SPEC)}
    for code, fault in OF_INSTANCE.items():
        if reason := found.get(code):
            raise faults.error(fault, f'the instance cannot move: {reason}')


def _check_hosts(client: NovaClient, task: MigrationTask) -> None:
    for where, host in (
        (SOURCE, task.source),
        (DESTINATION, task.destination),
    ):
        check_host(client.get_service(host), where, host)


def check_host(
    service: types.ComputeService | None, where: str, host: str
) -> None:
    """Whether an end of a move may take part in it.

    :param where: :data:`SOURCE` or :data:`DESTINATION`
    :raises PreFlightError: it may not
    """
    found = host_reasons(service, where, host)
    if not found:
        return
    fault = Fault.SOURCE_NOT_UP
    if where == DESTINATION:
        closed = found[0].code in CLOSED
        fault = (
            Fault.DESTINATION_DISABLED if closed else Fault.DESTINATION_NOT_UP
        )
    raise faults.error(fault, ', '.join(found))


def _check_closed(client: NovaClient, task: MigrationTask) -> None:
    """Whether a source that was to be closed before is closed.

    :raises StaleTask: it is not: new servers would take the room
    """
    if not task.source_closed:
        return
    service = client.get_service(task.source)
    if service is not None and service.status == 'enabled':
        raise faults.error(
            Fault.HOST_NOT_CLOSED,
            f'its source {task.source} was to be closed before, and is open',
        )


def host_reasons(
    service: types.ComputeService | None, where: str, host: str
) -> list[Reason]:
    """What keeps an end of a move from taking part in it.

    A source that was disabled meanwhile is no reason to stay there.

    :param where: :data:`SOURCE` or :data:`DESTINATION`
    """
    return [
        one
        for one in hosts.of_service(service, f'{where} {host}')
        if where == DESTINATION or one.code is not Code.HOST_DISABLED
    ]
