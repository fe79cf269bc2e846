# SPDX-License-Identifier: Apache-2.0
"""The writer of recordings: whole, or not at all."""

import datetime
import json
import os
import pathlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pydantic

from kronos.common import atomic_files
from kronos.common.exceptions import ArchiveError
from kronos.engine.types import Event, Host, Instance, Origin, Reading
from kronos.policies import models
from kronos.policies.models import Policy, PolicyQuery
from kronos.recordings import inventory_schema as rows
from kronos.recordings import meta_schema, parts, reader, schema
from kronos.recordings.recording import ANY_LABEL, Answers, Recording
from kronos.snapshots import cloud
from kronos.snapshots.cloud import CloudInventory

DIRECTORY_MODE = 0o750
FILE_MODE = 0o640
PREFIX = '.kronos-recording-'
"""Of a directory that is being written."""


def write(directory: str, recording: Recording, replace: bool = False) -> None:
    """Write a recording beside its place and move it there.

    :param directory: is made, or empty
    :param replace: whether it may take the place of another recording
    :raises ArchiveError: it holds something, or cannot be written
    """
    require_room(directory, replace)
    try:
        atomic_files.replace_directory(
            directory, files(recording), DIRECTORY_MODE, FILE_MODE, PREFIX
        )
    except OSError as error:
        raise _unwritable(directory, error) from error


def require_room(directory: str, replace: bool = False) -> None:
    """Refuse a place at which no recording can be written.

    :param replace: as of :func:`write`
    :raises ArchiveError: it holds something, or is out of reach
    """
    target = pathlib.Path(directory)
    reason = ''
    try:
        if target.is_symlink() or (target.exists() and not target.is_dir()):
            reason = 'there is something already; name a new directory'
        elif target.exists() and any(target.iterdir()):
            if not (target / reader.META).is_file():
                reason = (
                    'there is something already, and it is not a recording; '
                    'name a new directory'
                )
            elif not replace:
                reason = (
                    'there is something already: a recording; name a new '
                    'directory, or replace it with --force'
                )
        elif not _is_writable(target.absolute().parent):
            reason = 'it cannot be written: its parent directory is read-only'
    except OSError as error:
        raise _unwritable(directory, error) from error
    if reason:
        raise ArchiveError(path=directory, reason=reason)


def _is_writable(parent: pathlib.Path) -> bool:
    """:raises OSError: there is no such directory"""
    parent.stat()
    return os.access(parent, os.W_OK | os.X_OK)


def _unwritable(directory: str, error: OSError) -> ArchiveError:
    return ArchiveError(
        path=error.filename or directory,
        reason=f'it cannot be written: {error.strerror}',
    )


def files(recording: Recording) -> dict[str, str]:
    """The text of every file by its name.

    :raises ValueError: something in it cannot be written as JSON
    """
    return {
        reader.META: _document(_meta(recording)),
        **_inventory(recording.gathered),
        **_effects(recording.gathered),
        **_disruptions(recording.gathered),
        **_prometheus(recording),
        reader.POLICIES: recording.policies_text,
        # Empty ones are a template to fill in.
        reader.COOLDOWNS: _document(
            {name: getattr(recording.seeds, name) for name in schema.COOLDOWNS}
        ),
    }


def _inventory(gathered: CloudInventory) -> dict[str, str]:
    cloud = gathered.cloud
    hosts = [*cloud.hosts.values(), *cloud.other_hosts.values()]
    services = None
    if gathered.services is not None:
        services = schema.copies(gathered.services.values(), rows.ServiceRow)
    headroom = {
        host.name: {
            kind: schema.copied(room, rows.HeadroomRow)
            for kind, room in host.headroom.items()
        }
        for host in hosts
        if host.headroom is not None
    }
    added = parts.files(gathered)
    return {name: _document(file) for name, file in added.items()} | {
        reader.HOSTS: _joined(_hosts(hosts, cloud.hosts), ' '),
        reader.SERVICES: _lines(rows.SERVICES, services),
        reader.AGGREGATES: _lines(
            rows.AGGREGATES, schema.copies(cloud.aggregates, rows.AggregateRow)
        ),
        reader.INSTANCES: _joined(_instances(gathered.instances), ' '),
        reader.GROUPS: _lines(
            rows.GROUPS, schema.copies(gathered.groups, rows.GroupRow)
        ),
        reader.MIGRATIONS: _events(gathered.events, Origin.NOVA),
        reader.HISTORY: _events(gathered.events, Origin.WATCHER),
        reader.HEADROOM: _mapping(rows.HEADROOM, headroom),
        reader.TRAITS: _mapping(
            rows.TRAITS, {h.name: h.traits for h in hosts if h.traits}
        ),
    }


def _effects(gathered: CloudInventory) -> dict[str, str]:
    """No file where nothing is measured."""
    rows_of = [
        schema.copied(each, schema.EffectRow, scope=scope)
        for scope, ratios in gathered.effects.items()
        for each in ratios
    ]
    if not rows_of:
        return {}
    return {reader.EFFECTS: _lines(schema.EFFECTS, rows_of)}


def _disruptions(gathered: CloudInventory) -> dict[str, str]:
    """No file where nothing counts in a budget."""
    rows_of = schema.copies(gathered.disruptions, schema.DisruptionRow)
    if not rows_of:
        return {}
    return {reader.DISRUPTIONS: _lines(schema.DISRUPTIONS, rows_of)}


def _hosts(hosts: Iterable[Host], planned: Collection[str]) -> list[Any]:
    """What is not at fault is not said to be: most recordings ask nobody.

    Nor has one a version that Nova does not tell.
    """
    table: list[dict[str, Any]] = rows.HOSTS.dump_python(
        [rows.HostRow.of(host, host.name in planned) for host in hosts],
        mode='json',
    )
    for row in table:
        for key in ('excluded', 'faulty'):
            if row[key] is None:
                del row[key]
        if not row['hypervisor_version']:
            del row['hypervisor_version']
    return table


def _instances(instances: Iterable[Instance]) -> list[Any]:
    """Of one that did not fail nothing is said of a failure.

    Nor of a flavor where none is known, nor of allocations that are right.
    """
    table: list[dict[str, Any]] = rows.INSTANCES.dump_python(
        [rows.InstanceRow.of(instance) for instance in instances], mode='json'
    )
    for row in table:
        if not (row['failure'] or row['restarts']):
            for key in rows.OF_FAILURES:
                del row[key]
        if row['misallocated_on'] is None:
            del row['misallocated_on']
        for key in (*rows.IF_KNOWN, *rows.OF_CELL_MOVES):
            if not row[key]:
                del row[key]
        if not row['flavor']:
            for key in rows.OF_FLAVORS:
                del row[key]
    return table


def _events(events: Iterable[Event], origin: Origin) -> str:
    return _lines(
        schema.EVENTS,
        schema.copies(
            (event for event in events if event.origin is origin),
            schema.EventRow,
        ),
    )


def _meta(recording: Recording) -> dict[str, Any]:
    taken_at = recording.gathered.taken_at
    moment = datetime.datetime.fromtimestamp(taken_at, datetime.UTC)
    configured = recording.configured
    schemas = meta_schema.schemas()
    meta = schemas.meta(
        format_version=meta_schema.FORMAT_VERSION,
        recorded_at=moment.isoformat(),
        taken_at=taken_at,
        made_by=recording.made_by,
        strategy=recording.strategy,
        request=schemas.request.of(recording.request),
        settings=schemas.settings.of(recording.settings),
        configured=schemas.settings.of(configured) if configured else None,
        max_concurrent_migrations=recording.max_concurrent,
        anonymized=recording.anonymized,
        warnings=recording.gathered.warnings,
        unknown=recording.unknown,
        exclusions_unknown=recording.gathered.exclusions_unknown,
        **{
            key: value
            for part in parts.every()
            for key, value in part.meta_values(recording.gathered).items()
        },
    )
    document: dict[str, Any] = schemas.file.dump_python(meta, mode='json')
    if not meta.exclusions_unknown:
        del document['exclusions_unknown']
    of_meta, of_request, of_settings = meta_schema.left_out()
    for row, keys in (
        (document, of_meta),
        (document['request'], of_request),
        (document['settings'], of_settings),
        (document['configured'] or {}, of_settings),
    ):
        for key in keys & row.keys():
            if row[key] is None:
                del row[key]
    return document


def _prometheus(recording: Recording) -> dict[str, str]:
    files = {}
    repeated = cloud.repeated(recording.gathered.instances)
    for policy in recording.policies:
        for query in models.QUERIES:
            answer = _answer(recording, policy, query)
            if answer is not None:
                files[reader.file_of(policy, query)] = _reading(
                    *answer, repeated
                )
    return files


def _answer(
    recording: Recording, policy: Policy, row: PolicyQuery
) -> tuple[Reading, str] | None:
    """The answer and its label; None if there is none, nor a need of it."""
    query, label = getattr(policy, row.field), getattr(policy, row.label)
    if query is None:
        return None
    for recorded_label in (label, ANY_LABEL):
        if (query, recorded_label) in recording.answers:
            return recording.answers[query, recorded_label], recorded_label
    if reader.needs(row, policy, recording.settings):
        return Answers({}).instant_query(query, label), label
    return None


def _reading(reading: Reading, label: str, repeated: Collection[str]) -> str:
    whole = schema.READING.dump_python(
        schema.ReadingFile.of(reading, label, repeated), mode='json'
    )
    samples = whole.pop('samples')
    for name in ('incomplete', 'unlabelled', 'unlabelled_series', 'clock'):
        if not whole[name]:
            del whole[name]
    for sample in samples:
        if not sample['series']:
            del sample['series']
    head = _document(whole).rstrip().removesuffix('}').rstrip()
    return f'{head},\n "samples": {_joined(samples, "  ")} }}\n'


def _lines(adapter: pydantic.TypeAdapter[Any], value: Any) -> str:
    """A list with one row a line; null for None."""
    plain = adapter.dump_python(value, mode='json')
    return 'null\n' if plain is None else _joined(plain, ' ')


def _joined(plain: Iterable[Any], indent: str) -> str:
    lines = ',\n'.join(f'{indent}{_compact(row)}' for row in plain)
    return f'[\n{lines}\n]\n' if lines else '[]\n'


def _mapping(adapter: pydantic.TypeAdapter[Any], value: Any) -> str:
    """A mapping with one key a line."""
    plain: Mapping[str, Any] = adapter.dump_python(value, mode='json')
    lines = ',\n'.join(
        f' {json.dumps(name)}: {_compact(plain[name])}'
        for name in sorted(plain)
    )
    return f'{{\n{lines}\n}}\n' if lines else '{}\n'


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)


def _document(value: Any) -> str:
    text = json.dumps(value, indent=1, sort_keys=True, allow_nan=False)
    return f'{text}\n'
