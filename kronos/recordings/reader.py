# SPDX-License-Identifier: Apache-2.0
"""The reader of recordings in our own format."""

import json
from typing import Any

import pydantic

from kronos.clients.nova.rows import HostAggregate
from kronos.engine.scoring import evaluation
from kronos.engine.settings import Settings
from kronos.engine.types import (
    ComputeService,
    Disruption,
    EffectRatio,
    Event,
    Headroom,
    Host,
    Reading,
    Seeds,
    ServerGroup,
)
from kronos.policies import loader, models
from kronos.policies.models import Policy, PolicyQuery
from kronos.recordings import inventory_schema as rows
from kronos.recordings import meta_schema, parts, schema
from kronos.recordings.recording import Recording
from kronos.recordings.safe_files import Folder
from kronos.snapshots import settings_from_conf
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud

HOSTS = 'nova/hosts.json'
SERVICES = 'nova/services.json'
AGGREGATES = 'nova/aggregates.json'
INSTANCES = 'nova/instances.json'
GROUPS = 'nova/server_groups.json'
MIGRATIONS = 'nova/migrations.json'
DISRUPTIONS = 'nova/disruptions.json'
HISTORY = 'watcher/history.json'
EFFECTS = 'watcher/effects.json'
HEADROOM = 'placement/headroom.json'
TRAITS = 'placement/traits.json'
PROMETHEUS = 'prometheus'
META = 'meta.json'
POLICIES = 'policies.yaml'
COOLDOWNS = 'cooldowns.json'


def read(path: str) -> Recording:
    """Read a directory that has a ``format_version``.

    :raises ArchiveError: names the file and the field that is wrong
    :raises PolicyFileError: of its policies file
    """
    return _Reader(Folder(path)).recording()


def file_of(policy: Policy, query: PolicyQuery) -> str:
    """The file with an answer; a policy's name is safe in a path."""
    return f'{PROMETHEUS}/{policy.name}.{query.file}.json'


def needs(query: PolicyQuery, policy: Policy, settings: Settings) -> bool:
    """Whether a policy cannot be planned by without the answer."""
    return policy.enabled and evaluation.asks(query, policy, settings)


def seeds_of(folder: Folder) -> Seeds:
    """``cooldowns.json``, which may be missing.

    :raises ArchiveError: names the section that is wrong
    """
    if not folder.has(COOLDOWNS):
        return Seeds()
    try:
        return schema.seeds(folder.decode(schema.SECTIONS, COOLDOWNS))
    except ValueError as error:
        raise folder.fault(COOLDOWNS, str(error)) from None


class _Reader:
    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def recording(self) -> Recording:
        meta = self._meta()
        text = self._folder.text(POLICIES)
        path = self._folder.fault(POLICIES, '').kwargs['path']
        policies = loader.parse(text, path).policies
        settings = meta.settings.settings()
        return Recording(
            gathered=self._gathered(meta),
            policies=policies,
            request=meta.request.request(),
            settings=settings,
            answers=self._answers(policies, settings),
            policies_text=text,
            configured=meta.configured.settings() if meta.configured else None,
            strategy=meta.strategy,
            max_concurrent=meta.max_concurrent_migrations,
            recorded_at=meta.taken_at,
            source=self._folder.path,
            made_by=meta.made_by,
            anonymized=meta.anonymized,
            unknown=meta.unknown,
            seeds=seeds_of(self._folder),
        )

    def _meta(self) -> meta_schema.Meta:
        version = self._folder.decode(schema.SECTIONS, META)['format_version']
        supported = meta_schema.FORMAT_VERSION
        if version != supported or isinstance(version, bool):
            raise self._folder.fault(
                META,
                f'format_version: must be the number {supported}, '
                f'the only one that is known, is {json.dumps(version):.20}; '
                'replay it with the Kronos that recorded it',
            )
        meta = self._folder.decode(meta_schema.schemas().file, META)
        if not 0.0 <= meta.taken_at <= schema.END_OF_TIME:
            raise self._folder.fault(META, 'taken_at: must be Unix seconds')
        if not 1 <= meta.max_concurrent_migrations <= schema.MOST:
            raise self._folder.fault(
                META, 'max_concurrent_migrations: must be at least 1'
            )
        for name in ('settings', 'configured'):
            row = getattr(meta, name)
            if row is None:
                continue
            if fault := settings_from_conf.fault_of(row.settings()):
                raise self._folder.fault(META, f'{name}.{fault}')
        return meta

    def _gathered(self, meta: meta_schema.Meta) -> CloudInventory:
        aggregates = self._rows(rows.AGGREGATES, AGGREGATES, 'name')
        instances = self._rows(
            rows.INSTANCES,
            INSTANCES,
            'uuid',
            ('vcpus', 'memory_mb', 'disk_gb'),
        )
        cloud = Cloud({}, {}, schema.copies(aggregates, HostAggregate))
        for row in self._rows(rows.HOSTS, HOSTS, 'name'):
            table = cloud.hosts if row.planned else cloud.other_hosts
            table[row.name] = row.host()
        self._fill_in(cloud.hosts | cloud.other_hosts)
        groups = self._rows(
            rows.GROUPS, GROUPS, 'uuid', ('max_server_per_host',)
        )
        events = [
            *self._folder.decode(schema.EVENTS, HISTORY),
            *self._folder.decode(schema.EVENTS, MIGRATIONS),
        ]
        gathered = CloudInventory(
            cloud,
            self._services(),
            [row.instance() for row in instances],
            schema.copies(groups, ServerGroup),
            schema.copies(events, Event),
            meta.taken_at,
            meta.warnings,
            meta.exclusions_unknown,
            self._effects(),
            disruptions=self._disruptions(),
        )
        parts.read(self._folder, meta, gathered)
        return gathered

    def _disruptions(self) -> list[Disruption]:
        if not self._folder.has(DISRUPTIONS):
            return []
        table = self._folder.decode(schema.DISRUPTIONS, DISRUPTIONS)
        for number, row in enumerate(table):
            # Seconds of a window are added to it.
            if not 0.0 <= (row.started or 0.0) <= schema.END_OF_TIME / 2:
                text = f'[{number}].started: must be Unix seconds'
                raise self._folder.fault(DISRUPTIONS, text)
        return schema.copies(table, Disruption)

    def _effects(self) -> dict[str, list[EffectRatio]]:
        if not self._folder.has(EFFECTS):
            return {}
        effects: dict[str, list[EffectRatio]] = {}
        table = self._folder.decode(schema.EFFECTS, EFFECTS)
        if fault := schema.too_much(table, ('plans', 'former')):
            raise self._folder.fault(EFFECTS, fault)
        for number, row in enumerate(table):
            of_scope = effects.setdefault(row.scope, [])
            if row.policy in [each.policy for each in of_scope]:
                text = f'[{number}].policy: {row.policy:.80} is there twice'
                raise self._folder.fault(EFFECTS, text)
            of_scope.append(schema.copied(row, EffectRatio))
        return effects

    def _services(self) -> dict[str, ComputeService] | None:
        services = self._folder.decode(rows.SERVICES, SERVICES)
        if services is None:
            return None
        if fault := schema.repeated(services, 'host'):
            raise self._folder.fault(SERVICES, fault)
        return {
            row.host: schema.copied(row, ComputeService) for row in services
        }

    def _fill_in(self, hosts: dict[str, Host]) -> None:
        headroom = self._folder.decode(rows.HEADROOM, HEADROOM)
        traits = self._folder.decode(rows.TRAITS, TRAITS)
        for name, table in ((HEADROOM, headroom), (TRAITS, traits)):
            if strange := sorted(set(table) - set(hosts)):
                raise self._folder.fault(
                    name, f'{strange[0]:.80}: there is no such host in {HOSTS}'
                )
        for name, room in headroom.items():
            for kind, row in room.items():
                if fault := schema.too_much([row], ('capacity', 'used')):
                    where = f'{name:.80}.{kind:.80}'
                    raise self._folder.fault(
                        HEADROOM, fault.replace('[0]', where)
                    )
            hosts[name].headroom = {
                kind: schema.copied(row, Headroom)
                for kind, row in room.items()
            }
        for name, names in traits.items():
            hosts[name].traits = names

    def _rows(
        self,
        adapter: pydantic.TypeAdapter[Any],
        name: str,
        key: str,
        amounts: tuple[str, ...] = (),
    ) -> list[Any]:
        table: list[Any] = self._folder.decode(adapter, name)
        fault = schema.repeated(table, key) or schema.too_much(table, amounts)
        if fault:
            raise self._folder.fault(name, fault)
        return table

    def _answers(
        self, policies: list[Policy], settings: Settings
    ) -> dict[tuple[str, str], Reading]:
        names = set(self._folder.names(PROMETHEUS))
        answers: dict[tuple[str, str], Reading] = {}
        for policy in policies:
            for query in models.QUERIES:
                name = file_of(policy, query)
                if (
                    needs(query, policy, settings)
                    or name.rpartition('/')[2] in names
                ):
                    self._answer(answers, policy, query, name)
        return answers

    def _answer(
        self,
        answers: dict[tuple[str, str], Reading],
        policy: Policy,
        query: PolicyQuery,
        name: str,
    ) -> None:
        file = self._folder.decode(schema.READING, name)
        if file.query != getattr(policy, query.field):
            raise self._folder.fault(
                name,
                f'query: is not the {query.field} of policy {policy.name}',
            )
        reading = file.reading()
        former = answers.setdefault((file.query, file.label), reading)
        # NaN is equal to nothing, so their texts are compared.
        if former is not reading and repr(former) != repr(reading):
            raise self._folder.fault(
                name,
                'samples: another file has a different answer to the '
                'same query',
            )
