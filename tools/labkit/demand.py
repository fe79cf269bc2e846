# SPDX-License-Identifier: Apache-2.0
"""The usage of the lab's servers on each host, by Nova's database."""

import json
from dataclasses import dataclass, field
from typing import Any

from labkit import layout, topology
from labkit.trace import Trace

RUNNING, PAUSED = 1, 3
QUERY = """
SELECT i.id, i.uuid, i.display_name, i.host, i.vcpus, i.memory_mb,
       i.project_id, i.power_state, e.flavor
FROM instances i JOIN instance_extra e ON e.instance_uuid = i.uuid
WHERE i.deleted = 0 AND i.host IS NOT NULL AND i.power_state IN (1, 3)
  AND NOT COALESCE(i.hidden, 0)
"""
METADATA = """
SELECT m.instance_uuid, m.`key`, m.value FROM instance_metadata m
WHERE m.deleted = 0 AND m.`key` LIKE 'lab:%'
"""


@dataclass
class Guest:
    """A server that runs, as its hypervisor sees it."""

    uuid: str
    name: str
    domain: str
    host: str
    vcpus: int
    memory_mb: int
    project: str
    flavor: str
    cores_used: float
    memory_used_mb: float
    is_running: bool = True
    visible: bool = True
    """Whether the libvirt exporter shows it (lab:metrics=none)."""


@dataclass
class Load:
    """What the exporter was told beside the servers' demands."""

    guests: dict[str, Guest] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)
    base: dict[str, dict[str, float]] = field(default_factory=dict)
    trace: Trace = field(default_factory=Trace)
    """Of the demands that change by the clock."""

    def play(self, now: float) -> None:
        """Let demands be what the trace says of a moment."""
        for guest in self.guests.values():
            cores = self.trace.at(guest.name, now)
            if cores is not None and guest.is_running:
                guest.cores_used = min(cores, guest.vcpus)


def read(*links: Any) -> Load:
    """The load as it is now.

    :param links: connections to the databases of Nova's cells
    :raises ValueError: a file of overrides is wrong
    """
    overrides = layout.read_json(layout.DEMAND)
    told = layout.read_json(layout.EXPORTER)
    guests = [guest for link in links for guest in _guests(link, overrides)]
    return Load(
        {guest.uuid: guest for guest in guests},
        set(told.get('down', [])),
        told.get('base', {}),
        Trace.of(layout.read_json(layout.TRACE)),
    )


def _guests(link: Any, overrides: dict[str, Any]) -> list[Guest]:
    with link.cursor() as cursor:
        cursor.execute(METADATA)
        metadata: dict[str, dict[str, str]] = {}
        for uuid, key, value in cursor.fetchall():
            metadata.setdefault(uuid, {})[key] = value
        cursor.execute(QUERY)
        rows = cursor.fetchall()
    return [_guest(row, metadata.get(row[1], {}), overrides) for row in rows]


def _guest(
    row: tuple[Any, ...], metadata: dict[str, str], overrides: dict[str, Any]
) -> Guest:
    number, uuid, name, host, vcpus, memory_mb, project, state, flavor = row
    override = overrides.get(uuid, overrides.get(name, {}))
    cores = override.get('cpu', metadata.get('lab:cpu'))
    memory = override.get('memory_mb', metadata.get('lab:memory_mb'))
    cores = _number(cores, vcpus * topology.DEFAULT_CPU_SHARE)
    memory = _number(memory, memory_mb * topology.DEFAULT_MEMORY_SHARE)
    return Guest(
        uuid=uuid,
        name=name,
        domain=f'instance-{number:08x}',
        host=host,
        vcpus=vcpus,
        memory_mb=memory_mb,
        project=project,
        flavor=_flavor_name(flavor),
        cores_used=min(cores, vcpus) if state == RUNNING else 0.0,
        memory_used_mb=min(memory, memory_mb),
        is_running=state == RUNNING,
        visible=metadata.get('lab:metrics') != 'none',
    )


def _number(value: Any, default: float) -> float:
    """What was asked for; a user's metadata may be anything."""
    try:
        return max(0.0, float(value))
    except (TypeError, ValueError):
        return default


def _flavor_name(text: str) -> str:
    """From the versioned object that Nova keeps as JSON."""
    try:
        current = json.loads(text)['cur']['nova_object.data']
    except (KeyError, TypeError, ValueError):
        return ''
    return str(current.get('name', ''))
