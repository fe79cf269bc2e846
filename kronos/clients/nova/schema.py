# SPDX-License-Identifier: Apache-2.0
"""The schemas of Nova's answers, as far as Kronos reads them.

What older microversions do not tell need not be there, and what the database
may have no value for may be null.
"""

from typing import Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from kronos.clients.schema import Moment, Property, Text, Whole


class _ServiceHost(TypedDict):
    host: str


class Hypervisor(TypedDict):
    id: str
    service: _ServiceHost
    hypervisor_hostname: str
    hypervisor_type: str
    hypervisor_version: NotRequired[Whole]


class Hypervisors(TypedDict):
    hypervisors: list[Hypervisor]


class _Service(TypedDict):
    host: str
    binary: str
    state: NotRequired[Text]
    status: NotRequired[Text]
    zone: NotRequired[Text]
    disabled_reason: NotRequired[Text]
    forced_down: NotRequired[bool | None]


class Diagnostics(TypedDict):
    state: str


class ServicePage(TypedDict):
    services: list[_Service]


class _ServiceId(TypedDict):
    id: str
    host: str
    binary: str


class ServiceIds(TypedDict):
    services: list[_ServiceId]


class _Aggregate(TypedDict):
    id: Whole
    name: str
    uuid: NotRequired[Text]
    hosts: list[str]
    metadata: dict[str, str]
    availability_zone: NotRequired[Text]


class Aggregates(TypedDict):
    aggregates: list[_Aggregate]


class _Flavor(TypedDict):
    vcpus: Whole
    ram: Whole
    disk: NotRequired[Whole]
    ephemeral: NotRequired[Whole]
    swap: NotRequired[Whole | Literal[''] | None]
    original_name: NotRequired[Text]
    extra_specs: NotRequired[dict[str, str] | None]


class _BootImage(TypedDict):
    """Of a server; before 2.98 it has no properties, and is one all the same.

    Without its id it would be taken for none.
    """

    id: NotRequired[Text]
    properties: NotRequired[dict[str, Property] | None]


_Server = TypedDict(
    '_Server',
    {
        'id': str,
        'status': str,
        'name': NotRequired[Text],
        'created': NotRequired[Moment],
        'tenant_id': NotRequired[Text],
        'flavor': NotRequired[_Flavor],
        'key_name': NotRequired[Text],
        'locked': NotRequired[bool | None],
        'metadata': NotRequired[dict[str, str] | None],
        'pinned_availability_zone': NotRequired[Text],
        'tags': NotRequired[list[str] | None],
        'OS-EXT-SRV-ATTR:host': NotRequired[Text],
        'OS-EXT-SRV-ATTR:instance_name': NotRequired[Text],
        'OS-EXT-STS:power_state': NotRequired[Whole | None],
        'OS-EXT-STS:task_state': NotRequired[Text],
    },
)


class Server(_Server):
    """Of one whose cell is down only some parts are there."""

    image: NotRequired[_BootImage | str | None]
    server_groups: NotRequired[list[str] | None]


_Times = TypedDict(
    '_Times',
    {
        'updated': NotRequired[Moment],
        'OS-SRV-USG:terminated_at': NotRequired[Moment],
    },
)


class ServerLife(Server, _Times):
    """A server of today or of the past, with when it came and went."""


_Placed = TypedDict(
    '_Placed', {'OS-EXT-SRV-ATTR:hypervisor_hostname': NotRequired[Text]}
)


class Placed(TypedDict):
    """A page of servers, for the sake of the hypervisor that they are on."""

    servers: list[_Placed]


class OneServer(TypedDict):
    server: Server


class _GroupName(TypedDict):
    name: str


class _ImageId(TypedDict):
    id: NotRequired[Text]


_TypedAddress = TypedDict(
    '_TypedAddress', {'addr': str, 'OS-EXT-IPS:type': NotRequired[Text]}
)


_Details = TypedDict(
    '_Details',
    {
        'image': NotRequired[_ImageId | str | None],
        'addresses': NotRequired[dict[str, list[_TypedAddress]] | None],
        'security_groups': NotRequired[list[_GroupName] | None],
        'config_drive': NotRequired[str | bool | None],
        'description': NotRequired[Text],
        'OS-EXT-AZ:availability_zone': NotRequired[Text],
        'OS-EXT-SRV-ATTR:hypervisor_hostname': NotRequired[Text],
        'OS-EXT-STS:vm_state': NotRequired[Text],
        'OS-SRV-USG:launched_at': NotRequired[Text],
    },
)


class WholeServer(_Server, _Details):
    """What of a server a move to another cell has to keep, or changes."""


class OneWholeServer(TypedDict):
    server: WholeServer


class _FixedIp(TypedDict):
    ip_address: str


class _Interface(TypedDict):
    port_id: str
    mac_addr: str
    net_id: NotRequired[Text]
    fixed_ips: NotRequired[list[_FixedIp] | None]


class Interfaces(TypedDict):
    interfaceAttachments: list[_Interface]  # noqa: N815


class _VolumeAttachment(TypedDict):
    volumeId: str  # noqa: N815
    device: NotRequired[Text]
    tag: NotRequired[Text]
    delete_on_termination: NotRequired[bool | None]


class VolumeAttachments(TypedDict):
    volumeAttachments: list[_VolumeAttachment]  # noqa: N815


FlavorDetail = TypedDict(
    'FlavorDetail',
    {
        'id': str,
        'name': str,
        'vcpus': Whole,
        'ram': Whole,
        'disk': Whole,
        'swap': NotRequired[Whole | Literal[''] | None],
        'OS-FLV-EXT-DATA:ephemeral': NotRequired[Whole],
        'extra_specs': NotRequired[dict[str, str] | None],
    },
)


class OneFlavor(TypedDict):
    flavor: FlavorDetail


class _Limit(TypedDict):
    limit: Whole
    in_use: Whole
    reserved: NotRequired[Whole]


class _Quotas(TypedDict):
    cores: _Limit
    ram: _Limit


class Quotas(TypedDict):
    quota_set: _Quotas


class _Share(TypedDict):
    share_id: str


class Shares(TypedDict):
    shares: list[_Share]


class _TopologyNode(TypedDict):
    vcpu_set: list[Whole]
    memory_mb: Whole
    host_node: NotRequired[Whole]
    cpu_pinning: NotRequired[dict[str, Whole] | None]


class ServerTopology(TypedDict):
    nodes: list[_TopologyNode]
    pagesize_kb: NotRequired[Whole | None]


class _Rules(TypedDict):
    max_server_per_host: NotRequired[Whole]


class _Group(TypedDict):
    id: str
    name: NotRequired[Text]
    policy: NotRequired[Text]
    policies: NotRequired[list[str] | None]
    rules: NotRequired[_Rules | None]
    members: list[str]


class OneGroup(TypedDict):
    server_group: _Group


class ServerGroupPage(TypedDict):
    server_groups: list[_Group]


class Migration(TypedDict):
    id: Whole
    uuid: str
    status: Text
    created_at: Moment
    updated_at: NotRequired[Moment]
    instance_uuid: NotRequired[Text]
    source_compute: NotRequired[Text]
    dest_compute: NotRequired[Text]
    migration_type: NotRequired[Text]


_Bytes: TypeAlias = Whole | None


class _Running(TypedDict):
    uuid: str
    updated_at: NotRequired[Moment]
    memory_total_bytes: NotRequired[_Bytes]
    memory_processed_bytes: NotRequired[_Bytes]
    memory_remaining_bytes: NotRequired[_Bytes]
    disk_total_bytes: NotRequired[_Bytes]
    disk_processed_bytes: NotRequired[_Bytes]
    disk_remaining_bytes: NotRequired[_Bytes]


class Running(TypedDict):
    migrations: list[_Running]


class InstanceAction(TypedDict):
    request_id: str
    action: str
    start_time: NotRequired[Moment]
    user_id: NotRequired[Text]


class _Event(TypedDict):
    event: str
    start_time: Moment
    result: NotRequired[Text]
    details: NotRequired[Text]


class _Detailed(TypedDict):
    events: list[_Event]


class OneAction(TypedDict):
    instanceAction: _Detailed  # noqa: N815
