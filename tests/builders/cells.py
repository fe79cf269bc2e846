# SPDX-License-Identifier: Apache-2.0
"""How does a test say what two cells look like, in a few lines?"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from kronos.engine.settings import PhaseSelection, PlanMode, Settings
from kronos.engine.types import Flavor, Instance, Snapshot
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import (
    CellDrain,
    CellMove,
    CellNeeds,
    UnfinishedMove,
)
from kronos.extensions.cells.extension import Cells
from kronos.extensions.cells.readings.cell_hosts import CellScope
from kronos.policies import loader
from kronos.policies.models import Policy
from kronos.recordings.recording import Recording
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud, ScopeRequest
from tests.builders import scopes

OLD, NEW = ('o1', 'o2'), ('n1', 'n2', 'n3')
CPU = scopes.policy('cpu', threshold=0.15, capacity_threshold=0.9)
SMALL = Flavor('1', 'small', 1, 1024, root_gb=1)
LARGE = Flavor('2', 'large', 4, 4096, root_gb=10)


def server(uuid: str, host: str = 'o1', **more: Any) -> Instance:
    """A small server that is well."""
    values = {
        'vcpus': 1,
        'memory_mb': 1024,
        'root_gb': 1,
        'disk_gb': 1,
        'flavor': 'small',
        'internal_name': f'internal-{uuid}',
        'project_id': 'project',
        **more,
    }
    return Instance(uuid, host, name=uuid, **values)


def stopped(uuid: str, host: str = 'o1', **more: Any) -> Instance:
    return server(uuid, host, status='SHUTOFF', power_state=4, **more)


def unfinished(
    uuid: str, status: str = 'VERIFY_RESIZE', host: str = 'n1', **more: Any
) -> UnfinishedMove:
    """A move o1 -> n1 of a server, begun by an action that died."""
    values = {
        'how': CellMove(
            'old', 'new', 'small', 'small', 'zone-old', 'zone-new'
        ),
        'target_cells': ['new'],
        **more,
    }
    return UnfinishedMove(
        f'action-{uuid}', uuid, uuid, host, status, 'o1', 'n1', **values
    )


def cells(
    servers: Sequence[Instance], cpu: Policy = CPU, **usages: float
) -> Snapshot:
    """Two old hosts and three new ones, in zones of their own.

    :param usages: of servers, where it is not .05
    """
    snapshot = scopes.scope(
        [cpu],
        {host: [0.3] for host in (*OLD, *NEW)},
        [(one, [usages.get(one.uuid, 0.05)]) for one in servers],
        name='old -> new',
    )
    for name, host in snapshot.hosts.items():
        host.cell = 'old' if name in OLD else 'new'
        host.availability_zone = f'zone-{host.cell}'
    room = {'VCPU': 16, 'MEMORY_MB': 65536, 'DISK_GB': 1000}
    scopes.give_room(snapshot, dict.fromkeys(snapshot.hosts, room))
    flavors = {one.name: one for one in (SMALL, LARGE)}
    snapshot.beside[cell_drain.NAME] = CellNeeds(flavors)
    return snapshot


def settings(max_migrations: int | None = 10, **drain: Any) -> Settings:
    """Of an audit that empties the old cell."""
    found = Settings(max_migrations=max_migrations)
    asked = CellDrain('old', ['new'], **drain)
    found.set_mode(
        PlanMode.CELL_DRAIN,
        PhaseSelection(extension=Cells(asked)),
    )
    return found


def recording(snapshot: Snapshot, asked: Settings) -> Recording:
    """What an audit of :func:`cells` would have recorded."""
    cpu = CPU.model_copy(
        update={'imbalance_query': 'host_cpu', 'vm_profile_query': 'vm_cpu'}
    )
    readings = snapshot.readings['cpu']
    assert readings.profile is not None
    drain = cell_drain.of(asked)
    answers = {
        ('host_cpu', cpu.host_label): readings.imbalance,
        ('vm_cpu', cpu.vm_profile_label): readings.profile,
    }
    cloud = Cloud(dict(snapshot.hosts), {}, [])
    return Recording(
        CloudInventory(
            cloud,
            snapshot.services,
            list(snapshot.instances.values()),
            list(snapshot.groups),
            list(snapshot.events),
            snapshot.taken_at,
            beside={cell_drain.NAME: cell_drain.needs_of(snapshot)},
        ),
        [cpu],
        ScopeRequest(chosen=drain and CellScope(drain.source, drain.targets)),
        asked,
        {
            (query, label): dataclasses.replace(reading, query=query)
            for (query, label), reading in answers.items()
        },
        loader.dump([cpu]),
        strategy='kronos_cell_drain',
    )
