# SPDX-License-Identifier: Apache-2.0
"""The details of a server: all of it that a move has to keep.

They stand in Watcher's database and in the evidence of a move, so they are
small, and hold neither user data nor what somebody wrote into metadata.
"""

import dataclasses
import hashlib
from dataclasses import dataclass, field
from typing import Any

from kronos.clients import schema as schemas
from kronos.clients.nova import rows, schema
from kronos.clients.nova.api import Api, quoted
from kronos.common import exceptions

FLOATING = 'floating'
"""Type of an address that comes and goes without Nova."""
_DIGITS = 16


@dataclass
class FlavorDetails:
    """The flavor that a server has, as it was when the server got it."""

    name: str = ''
    vcpus: int = 0
    memory_mb: int = 0
    root_gb: int = 0
    ephemeral_gb: int = 0
    swap_mb: int = 0
    extra_specs: dict[str, str] = field(default_factory=dict)


@dataclass
class Port:
    """A port of a server."""

    id: str
    mac: str
    network: str = ''
    addresses: list[str] = field(default_factory=list)


@dataclass
class Volume:
    """A volume that is attached to a server."""

    id: str
    device: str = ''
    tag: str = ''
    deleted_with_server: bool = False


@dataclass
class Details:
    """A server, as it is at one moment."""

    uuid: str
    name: str = ''
    status: str = ''
    task_state: str = ''
    vm_state: str = ''
    power_state: int = 0
    host: str = ''
    node: str = ''
    internal_name: str = ''
    flavor: FlavorDetails = field(default_factory=FlavorDetails)
    zone: str = ''
    pinned_zone: str = ''
    addresses: list[str] = field(default_factory=list)
    """Each as ``network address type``."""
    ports: list[Port] = field(default_factory=list)
    volumes: list[Volume] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    """Digests by key: a value may be a secret."""
    key_name: str = ''
    image: str = ''
    """Its id; '' of one that boots from a volume."""
    security_groups: list[str] = field(default_factory=list)
    launched_at: str = ''
    locked: bool = False
    config_drive: bool = False
    description: str = ''
    project_id: str = ''
    held: dict[str, dict[str, int]] = field(default_factory=dict)
    """What Placement holds for it, by node and resource class; Nova does not
    tell it, so it is empty until somebody asks."""

    @property
    def is_volume_backed(self) -> bool:
        return not self.image

    def document(self) -> dict[str, Any]:
        """As JSON has it."""
        return dataclasses.asdict(self)

    @classmethod
    def from_document(cls, document: Any) -> 'Details':
        """:raises ValueError: it is none that :meth:`document` gave"""
        details: Details = schemas.parse(cls, document)
        return details


class ServerDetails:
    """Asks Nova for all of one server.

    What it raises is a
    :class:`~kronos.common.exceptions.NovaClientError`.

    :param api: of a :class:`.NovaClient`
    """

    def __init__(self, api: Api) -> None:
        self._api = api

    def get(self, uuid: str) -> Details | None:
        """A server as it is now; None if there is none (any more).

        Three calls, so it may change between them.

        :raises NovaClientError: also when its cell is down
        """
        path = f'/servers/{quoted(uuid)}'
        try:
            row = self._api.get(path, shape=schema.OneWholeServer)['server']
            if rows.is_partial(row):
                raise self._api.untold(uuid)
            ports = self._api.get(
                f'{path}/os-interface', shape=schema.Interfaces
            )
            volumes = self._api.get(
                f'{path}/os-volume_attachments', shape=schema.VolumeAttachments
            )
        except exceptions.NovaClientError as error:
            if error.kwargs['status'] == 404:
                return None
            raise
        details = _details(row)
        details.ports = _ports(ports['interfaceAttachments'])
        details.volumes = _volumes(volumes['volumeAttachments'])
        return details


def _details(row: rows.Row) -> Details:
    image = row.get('image') or {}
    return Details(
        uuid=row['id'],
        name=row.get('name') or '',
        status=row['status'],
        task_state=row.get('OS-EXT-STS:task_state') or '',
        vm_state=row.get('OS-EXT-STS:vm_state') or '',
        power_state=row.get('OS-EXT-STS:power_state') or 0,
        host=row.get('OS-EXT-SRV-ATTR:host') or '',
        node=rows.node(row),
        internal_name=row.get('OS-EXT-SRV-ATTR:instance_name') or '',
        flavor=_flavor(row['flavor']),
        zone=row.get('OS-EXT-AZ:availability_zone') or '',
        pinned_zone=row.get('pinned_availability_zone') or '',
        addresses=_addresses(row.get('addresses') or {}),
        tags=sorted(row.get('tags') or []),
        metadata=_digests(row['id'], row.get('metadata') or {}),
        key_name=row.get('key_name') or '',
        image=image if isinstance(image, str) else image.get('id') or '',
        security_groups=_names(row.get('security_groups') or []),
        launched_at=row.get('OS-SRV-USG:launched_at') or '',
        locked=bool(row.get('locked')),
        config_drive=str(row.get('config_drive')).lower() == 'true',
        description=row.get('description') or '',
        project_id=row.get('tenant_id') or '',
    )


def _flavor(row: rows.Row) -> FlavorDetails:
    return FlavorDetails(
        name=row.get('original_name') or '',
        vcpus=row['vcpus'],
        memory_mb=row['ram'],
        root_gb=row.get('disk', 0),
        ephemeral_gb=row.get('ephemeral', 0),
        swap_mb=row.get('swap') or 0,
        extra_specs=dict(row.get('extra_specs') or {}),
    )


def _addresses(networks: dict[str, list[rows.Row]]) -> list[str]:
    return sorted(
        f'{network} {row["addr"]} {row.get("OS-EXT-IPS:type") or "fixed"}'
        for network, addresses in networks.items()
        for row in addresses
    )


def _digests(uuid: str, metadata: dict[str, str]) -> dict[str, str]:
    """Of the same value under another key, or of another server, another."""
    return {
        key: hashlib.sha256(
            '\0'.join((uuid, key, value)).encode(errors='surrogatepass')
        ).hexdigest()[:_DIGITS]
        for key, value in sorted(metadata.items())
    }


def _names(groups: list[rows.Row]) -> list[str]:
    """Each once: Nova names one for every port that has it."""
    return sorted({group['name'] for group in groups})


def _ports(listing: list[rows.Row]) -> list[Port]:
    ports = [
        Port(
            id=row['port_id'],
            mac=row['mac_addr'],
            network=row.get('net_id') or '',
            addresses=sorted(
                ip['ip_address'] for ip in row.get('fixed_ips') or []
            ),
        )
        for row in listing
    ]
    return sorted(ports, key=lambda port: port.id)


def _volumes(listing: list[rows.Row]) -> list[Volume]:
    volumes = [
        Volume(
            id=row['volumeId'],
            device=row.get('device') or '',
            tag=row.get('tag') or '',
            deleted_with_server=bool(row.get('delete_on_termination')),
        )
        for row in listing
    ]
    return sorted(volumes, key=lambda volume: volume.id)
