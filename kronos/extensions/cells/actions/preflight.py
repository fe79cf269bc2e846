# SPDX-License-Identifier: Apache-2.0
"""The pre-flight checks of a move to another cell: all that kept others.

An audit has asked the same of every server. Between it and the move anything
may have happened, and what Nova refuses late, or loses without a word, has to
be found before it is asked.
"""

from collections.abc import Iterator

from oslo_log import log as logging

from kronos.actions.core import checks
from kronos.actions.core.window import WindowGuard
from kronos.engine import faults, types
from kronos.engine.eligibility import instances
from kronos.engine.extension import Extension
from kronos.engine.faults import Fault
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.actions.context import CellMoveContext
from kronos.extensions.cells.actions.parameters import (
    CellMoveSettings,
    CellMoveTask,
)
from kronos.extensions.cells.cell_drain import CellDrain, CellNeeds
from kronos.extensions.cells.planning import flavors
from kronos.extensions.cells.planning.cell_moves import CellMoves
from kronos.extensions.cells.readings import cell_needs
from kronos.snapshots import cells as of_hosts

LOG = logging.getLogger(__name__)

OF_REASON = {
    Code.INSTANCE_BUSY: Fault.INSTANCE_BUSY,
    Code.INSTANCE_LOCKED: Fault.INSTANCE_LOCKED,
    Code.INSTANCE_PINNED: Fault.INSTANCE_PINNED,
    Code.INSTANCE_CONSENT: Fault.INSTANCE_CONSENT,
    Code.CELL_STATUS: Fault.INSTANCE_NOT_ACTIVE,
    Code.INSTANCE_NOT_RUNNING: Fault.INSTANCE_NOT_ACTIVE,
    Code.CELL_AFFINITY: Fault.GROUP_RULE,
    Code.CELL_FLAVOR_UNMAPPED: Fault.FLAVOR_GONE,
    Code.CELL_FLAVOR_GONE: Fault.FLAVOR_GONE,
    Code.CELL_FLAVOR_TOO_SMALL: Fault.FLAVOR_GONE,
    Code.QUOTA: Fault.QUOTA_EXCEEDED,
    Code.ZONE_PINNED: Fault.ZONE_PINNED,
    Code.CELL_RESIZE_INSIDE: Fault.HOST_NOT_CLOSED,
    Code.CELL_POLICY: Fault.CELL_CLOSED,
    Code.CELL_PORT: Fault.INSTANCE_TIED,
    Code.CELL_LOSSY: Fault.INSTANCE_TIED,
    Code.INSTANCE_EXTRA_SPEC: Fault.INSTANCE_TIED,
    Code.CELL_SNAPSHOT_SLOW: Fault.INSTANCE_TIED,
}
"""The reasons of an audit, in the order in which they are looked for: what
passes by itself (a task) before what it brings about (a status). Left out
are what only an audit knows (``INSTANCE_UNMOVABLE``, ``CELL_BEGUN``,
``CELL_UNCONFIRMED``) or asks for (``CELL_STOPPED``)."""

Services = dict[str, types.ComputeService]
Cells = dict[str, str]


def check(settings: CellMoveSettings, context: CellMoveContext) -> None:
    """Look at the server and at both cells as they are now.

    :raises StaleTask: it is gone, or elsewhere; or the source takes servers,
        so that Nova would resize it inside its cell
    :raises PreFlightError: it must not or cannot be moved now
    :raises ClientError: a service cannot be asked
    """
    task, nova = settings.task, context.nova
    instance = checks.require_at_source(
        nova.get_instance(task.instance), task, 'instance'
    )
    services = nova.list_compute_services()
    by_host = of_hosts.by_host(nova, settings.cell_source)
    source = task.source
    checks.check_host(services.get(source), checks.SOURCE, source)
    _check_cells(task, by_host)
    if task.is_resize:
        _check_targets(task, services, by_host)
    else:
        host = task.destination
        checks.check_host(services.get(host), checks.DESTINATION, host)
    _check_instance(settings, context, instance, services, by_host)
    checks.check_allocations(context, task)
    if not task.is_resize:
        _check_destination(settings, context)


def _check_cells(task: CellMoveTask, cells: Cells) -> None:
    """Whether both ends are in the cells that were planned.

    The destination of a resize is a forecast.
    """
    ends = [(task.source, task.source_cell, Fault.HOST_LEFT_SCOPE)]
    if not task.is_resize:
        ends.append(
            (task.destination, task.destination_cell, Fault.DESTINATION_CELL)
        )
    for host, cell, fault in ends:
        if cells.get(host) != cell:
            now = cells.get(host) or 'no known cell'
            raise faults.error(fault, f'{host} is in {now}, not in {cell}')


def _check_targets(
    task: CellMoveTask, services: Services, cells: Cells
) -> None:
    if not any(_open_in(task.cells, services, cells)):
        raise faults.error(
            Fault.DESTINATION_NOT_UP,
            f'no host of {" or ".join(sorted(task.cells))} takes servers',
        )


def _open_in(
    targets: set[str], services: Services, cells: Cells
) -> Iterator[str]:
    """The hosts of some cells that take servers."""
    for host, service in sorted(services.items()):
        if service.is_available and cells.get(host) in targets:
            yield host


def _check_instance(
    settings: CellMoveSettings,
    context: CellMoveContext,
    instance: types.Instance,
    services: Services,
    cells: Cells,
) -> None:
    """All for which an audit lets a server stay.

    :raises MigrationError: there is something
    """
    task = settings.task
    if not settings.options.cell_move_lossy:
        instance.has_shares = context.listings.has_shares(instance.uuid)
    for warning in cell_needs.ports(context.sources, [instance]):
        LOG.warning('Instance %s: %s', instance.uuid, warning)
    snapshot = _snapshot(settings, context, instance, services, cells)
    planned = _settings(settings)
    refusal = WindowGuard(settings, context).refusal(instance, planned)
    reasons = [
        *filter(None, [refusal]),
        *CellMoves(snapshot, planned).reasons(instance),
        *_quota(context, instance, snapshot, planned),
        *_zone(task, instance, services, cells),
    ]
    for code, fault in OF_REASON.items():
        for reason in reasons:
            if reason.code is code:
                raise faults.error(
                    fault, f'the instance cannot move: {reason}'
                )
    if instance.flavor != task.source_flavor:
        raise faults.error(
            Fault.FLAVOR_GONE,
            f'its flavor is {instance.flavor} now, and was '
            f'{task.source_flavor} when it was planned',
        )


def _settings(settings: CellMoveSettings) -> Settings:
    task = settings.task
    flavor_map = {task.source_flavor: task.destination_flavor}
    return Settings(
        allowed_extra_specs=settings.allowed_extra_specs,
        consent=settings.consent,
        consent_projects=settings.consent_projects,
        beside=[settings.options],
        extension=Extension(
            CellDrain(
                task.source_cell,
                sorted(task.cells),
                flavor_map=flavor_map if task.is_resize else None,
                unpin_az=task.unpins,
            )
        ),
    )


def _snapshot(
    settings: CellMoveSettings,
    context: CellMoveContext,
    instance: types.Instance,
    services: Services,
    cells: Cells,
) -> types.Snapshot:
    """What the rule of who may leave a cell looks at, of one server."""
    task = settings.task
    known_flavors: dict[str, types.Flavor] = {}
    sources: dict[str, types.Host] = {}
    if task.is_resize:
        new = context.listings.flavor(task.destination_flavor_id)
        if new is not None:
            known_flavors[task.destination_flavor] = new
        for name in _open_in({task.source_cell}, services, cells):
            host = context.nova.get_compute_host(name)
            # Those of other types take no server of this one.
            if host and host.hypervisor_type in settings.hypervisor_types:
                host.cell = task.source_cell
                sources[name] = host
                break
    return types.Snapshot(
        task.aggregate,
        sources,
        {instance.uuid: instance},
        {},
        services=services,
        groups=context.nova.get_groups_of(instance.uuid),
        beside={
            cell_drain.NAME: CellNeeds(
                flavors=known_flavors,
                cell_policy=cell_needs.policy(context.sources.policy_files),
                loses_keys=instance.has_key
                and cell_needs.loses_keys(context.listings, context.sources),
            )
        },
    )


def _quota(
    context: CellMoveContext,
    instance: types.Instance,
    snapshot: types.Snapshot,
    settings: Settings,
) -> list[Reason]:
    more = flavors.more_quota(instance, snapshot, settings)
    if not more:
        return []
    quota = context.listings.quota_left(instance.project_id)
    return flavors.quota_reasons(more, quota)


def _zone(
    task: CellMoveTask,
    instance: types.Instance,
    services: Services,
    cells: Cells,
) -> list[Reason]:
    """Why it may not leave its zone; of a resize one host in it is enough."""
    if task.unpins:
        return []
    names = [task.destination]
    if task.is_resize:
        names = list(_open_in(task.cells, services, cells))
    zone = instance.pinned_availability_zone
    verdicts = [
        instances.why_pinned(zone, services[host].zone) for host in names
    ]
    reasons = [reason for reason in verdicts if reason]
    return reasons if len(reasons) == len(verdicts) else []


def _check_destination(
    settings: CellMoveSettings, context: CellMoveContext
) -> None:
    """The groups, the room and the faults of the one host that is named."""
    task = settings.task
    # Nova's scheduler refuses no host for a soft group.
    checks.check_groups(context.nova, task, (), lambda host: True, False)
    checks.check_room(settings, context)
    checks.check_exclusion(context, task)
