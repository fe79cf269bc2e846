# SPDX-License-Identifier: Apache-2.0
"""The recordings of the daemons of kronos-openstack 0.2.

Their format is not ours to judge: keys that are not known are passed over,
and what it cannot tell is taken as unknown and said so.
"""

from collections.abc import Iterator, Sequence

from kronos.clients.nova.rows import HostAggregate
from kronos.engine.types import (
    UNASSIGNED,
    ComputeService,
    Event,
    Health,
    Host,
    Instance,
    Reading,
    Sample,
    ServerGroup,
)
from kronos.policies import loader
from kronos.policies.models import Policy
from kronos.recordings import reader, schema
from kronos.recordings.formats import kronos_openstack_schema as legacy
from kronos.recordings.recording import ANY_LABEL, Recording
from kronos.recordings.safe_files import Folder
from kronos.snapshots import settings_from_conf
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud, ScopeRequest

MADE_BY = 'kronos-openstack 0.2'
NOVA_COMPUTE = 'nova-compute'
ALWAYS_UNKNOWN = [
    'the recording does not contain the headroom of the hosts in Placement: '
    'it is not known whether a destination has room',
    'the recording does not show which instances are locked, pinned, busy or '
    'of a special flavor: Kronos treats every ACTIVE one as movable',
    'the recording does not contain past moves: only cooldowns.json can '
    'start a cooldown of an aggregate or an instance',
]


def read(path: str, policies: Sequence[Policy] | None = None) -> Recording:
    """Read a directory in their layout.

    :param policies: those to plan by if it has no ``policies.yaml``
    :raises ArchiveError: names the file and the field that is wrong
    :raises PolicyFileError: of its policies file
    """
    return _LegacyReader(Folder(path)).recording(policies)


class _LegacyReader:
    """A reader of one folder, file after file.

    One class, since what a file does not know is gathered from all of them.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._unknown = list(ALWAYS_UNKNOWN)

    def recording(self, own_policies: Sequence[Policy] | None) -> Recording:
        meta = self._folder.decode(legacy.META, reader.META)
        taken_at = self._taken_at(meta)
        policies, text = self._policies(own_policies)
        members = self._folder.decode(legacy.AGGREGATES, reader.AGGREGATES)
        # Its hosts lack a view of Placement, every one of them.
        settings = settings_from_conf.default_settings()
        settings.require_headroom = False
        gathered = self._gathered(members)
        gathered.taken_at = taken_at
        return Recording(
            gathered=gathered,
            policies=policies,
            request=self._request(meta, members),
            settings=settings,
            answers=self._answers(taken_at),
            policies_text=text,
            max_concurrent=settings_from_conf.default_concurrency(),
            recorded_at=taken_at,
            source=self._folder.path,
            made_by=MADE_BY,
            unknown=self._unknown,
            seeds=reader.seeds_of(self._folder),
        )

    def _taken_at(self, meta: legacy.LegacyMeta) -> float:
        if meta.recorded_at is None:
            self._unknown.append('the recording does not contain its time')
            return 0.0
        try:
            return schema.seconds_of(meta.recorded_at)
        except ValueError:
            raise self._folder.fault(
                reader.META, 'recorded_at: must be a time in ISO 8601'
            ) from None

    def _policies(
        self, own_policies: Sequence[Policy] | None
    ) -> tuple[list[Policy], str]:
        if self._folder.has(reader.POLICIES):
            text = self._folder.text(reader.POLICIES)
            path = self._folder.fault(reader.POLICIES, '').kwargs['path']
            return loader.parse(text, path).policies, text
        if own_policies is None:
            raise self._folder.fault(
                reader.POLICIES,
                'it is missing: give the policies file of the operator with '
                '--policies',
            )
        return list(own_policies), loader.dump(own_policies)

    def _request(
        self, meta: legacy.LegacyMeta, members: dict[str, list[str]]
    ) -> ScopeRequest:
        names = list(members)
        if meta.aggregates is not None:
            names = list(dict.fromkeys(meta.aggregates))
        request = ScopeRequest()
        for name in names:
            if name not in members:
                raise self._folder.fault(
                    reader.META,
                    f'aggregates: {reader.AGGREGATES} has no {name:.80}',
                )
            if not members[name]:
                self._unknown.append(f'aggregate {name:.80} has no host')
            elif name == UNASSIGNED:
                request.include_unassigned = True
            else:
                request.aggregates.append(name)
        return request

    def _gathered(self, members: dict[str, list[str]]) -> CloudInventory:
        aggregates = [
            HostAggregate(number, name, hosts=list(dict.fromkeys(hosts)))
            for number, (name, hosts) in enumerate(members.items(), start=1)
            if name != UNASSIGNED
        ]
        services = self._services(members)
        traits = self._traits()
        hosts = {
            name: Host(
                name,
                hypervisor_type='QEMU',
                availability_zone=services[name].zone
                if name in services
                else '',
                traits=traits.get(name, []),
            )
            for names in members.values()
            for name in names
        }
        instances, memberships = self._instances()
        if strange := sorted(
            {instance.host for instance in instances} - set(hosts)
        ):
            self._unknown.append(
                f'{len(strange)} hosts with instances are in no aggregate '
                f'and not in {UNASSIGNED}, so they are not planned: '
                f'{", ".join(strange[:5]):.200}'
            )
        events: list[Event] = []
        return CloudInventory(
            Cloud(hosts, {}, aggregates),
            services,
            instances,
            self._groups(memberships),
            events,
        )

    def _services(
        self, members: dict[str, list[str]]
    ) -> dict[str, ComputeService]:
        if not self._folder.has(reader.SERVICES):
            self._unknown.append(
                f'the recording has no {reader.SERVICES}: Kronos treats all '
                'hosts as up and enabled, and their zones are not known'
            )
            return {
                host: ComputeService(host, state='up', status='enabled')
                for hosts in members.values()
                for host in hosts
            }
        return {
            row.host: row.service()
            for row in self._folder.decode(legacy.SERVICES, reader.SERVICES)
            if row.binary == NOVA_COMPUTE
        }

    def _traits(self) -> dict[str, list[str]]:
        if not self._folder.has(legacy.CPU_TRAITS):
            return {}
        return self._folder.decode(legacy.TRAITS, legacy.CPU_TRAITS)

    def _instances(self) -> tuple[list[Instance], dict[str, list[str]]]:
        """The instances, and by group those that say they are in it."""
        by_uuid: dict[str, Instance] = {}
        memberships: dict[str, list[str]] = {}
        for host, row, where in self._instance_rows():
            if max(row.flavor_vcpus, row.flavor_ram_mb) > schema.MOST or (
                min(row.flavor_vcpus, row.flavor_ram_mb) < 0
            ):
                raise self._folder.fault(
                    reader.INSTANCES,
                    f'{where}: flavor_vcpus and flavor_ram_mb must be at '
                    f'least 0 and at most {schema.MOST}',
                )
            if row.uuid in by_uuid:
                # The hosts were asked one after the other.
                by_uuid[row.uuid].unmovable = (
                    f'the recording has it on {by_uuid[row.uuid].host} and on '
                    f'{host}'
                )
                continue
            by_uuid[row.uuid] = row.instance(host)
            for group in row.server_groups or ():
                memberships.setdefault(group, []).append(row.uuid)
        return list(by_uuid.values()), memberships

    def _instance_rows(
        self,
    ) -> Iterator[tuple[str, legacy.LegacyInstanceRow, str]]:
        table = self._folder.decode(legacy.INSTANCES, reader.INSTANCES)
        for host, instances in table.items():
            for index, row in enumerate(instances):
                yield host, row, f'{host:.80}[{index}]'

    def _groups(self, memberships: dict[str, list[str]]) -> list[ServerGroup]:
        if not self._folder.has(reader.GROUPS):
            raise self._folder.fault(reader.GROUPS, 'it is missing')
        groups = {}
        for index, row in enumerate(
            self._folder.decode(legacy.GROUPS, reader.GROUPS)
        ):
            group = row.group(memberships.pop(row.id, []))
            if not group.policy:
                raise self._folder.fault(
                    reader.GROUPS,
                    f'[{index}]: contains neither policy nor policies',
                )
            if not 1 <= group.max_server_per_host <= schema.MOST:
                raise self._folder.fault(
                    reader.GROUPS,
                    f'[{index}].rules.max_server_per_host: must be at least 1',
                )
            groups[row.id] = group
        if memberships:
            self._unknown.append(
                f'{len(memberships)} server groups that instances name are '
                f'not in {reader.GROUPS}: their rules are not known'
            )
        return list(groups.values())

    def _answers(self, taken_at: float) -> dict[tuple[str, str], Reading]:
        """By query text; the files say nothing of labels."""
        answers: dict[tuple[str, str], Reading] = {}
        for base in self._folder.names(reader.PROMETHEUS):
            if not base.endswith('.json'):
                continue
            name = f'{reader.PROMETHEUS}/{base}'
            file = self._folder.decode(legacy.READING, name)
            key = file.query.strip(), ANY_LABEL
            answers.setdefault(key, _reading(file, taken_at))
        return answers


def _reading(file: legacy.LegacyReadingFile, taken_at: float) -> Reading:
    samples = [
        Sample(label, value, taken_at)
        for label, value in file.series.items()
        if value is not None
    ]
    query, error = file.query.strip(), ''
    if file.health in (Health.STALE, Health.UNREACHABLE):
        error = f'it was {file.health.value} when it was recorded'
        if file.warnings:
            error += f': {"; ".join(map(str, file.warnings)):.300}'
    return Reading(query, file.health, samples, error)
