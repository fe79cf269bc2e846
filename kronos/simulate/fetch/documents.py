# SPDX-License-Identifier: Apache-2.0
"""The documents of a load that is fetched: its recording and ``meta.json``."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kronos.common import atomic_files
from kronos.engine.types import Instance
from kronos.recordings import load as recordings
from kronos.recordings.anonymize import anonymizer
from kronos.recordings.recording import Recording
from kronos.simulate import load_schema
from kronos.simulate.fetch.assembly import Columns
from kronos.simulate.fetch.workplace import Plan, Workplace
from kronos.simulate.load_schema import Meta, PolicyRow, ServerRow


@dataclass
class Names:
    """How all is called in a load, and the recording that says so."""

    recording: Recording
    servers: list[ServerRow]
    """In the order of the columns."""
    hosts: list[str]
    """Likewise."""
    policies: dict[str, str]
    """By the name that the policies file has."""


def own_names(recording: Recording, own: Columns) -> Names:
    """The names that the cloud has."""
    return Names(
        recording,
        [life.server for life in own.lives],
        own.hosts,
        {policy.name: policy.name for policy in recording.policies},
    )


def other_names(recording: Recording, own: Columns) -> Names:
    """Other names for all that has one."""
    gathered = recording.gathered
    present = [instance.uuid for instance in gathered.instances]
    # Servers that are gone get new names beside those of today.
    gone = [
        _instance(life.server, life.stays[-1].host)
        for life in own.lives
        if life.server.uuid not in set(present)
    ]
    everyone = replace(gathered, instances=[*gathered.instances, *gone])
    whole = anonymizer.anonymized(replace(recording, gathered=everyone))
    new = whole.gathered
    groups = {
        was.uuid: group.uuid
        for was, group in zip(gathered.groups, new.groups, strict=True)
    }
    servers = {
        was.uuid: instance
        for was, instance in zip(
            everyone.instances, new.instances, strict=True
        )
    }
    hosts = dict(zip(gathered.cloud.hosts, new.cloud.hosts, strict=True))
    return Names(
        replace(
            whole,
            gathered=replace(new, instances=new.instances[: len(present)]),
        ),
        [
            _renamed(life.server, servers[life.server.uuid], groups)
            for life in own.lives
        ],
        [hosts[name] for name in own.hosts],
        {
            was.name: policy.name
            for was, policy in zip(
                recording.policies, whole.policies, strict=True
            )
        },
    )


def _instance(server: ServerRow, host: str) -> Instance:
    return Instance(
        server.uuid,
        host,
        name=server.name,
        internal_name=server.internal_name,
        extra_specs=server.extra_specs,
        pinned_availability_zone=server.pinned_availability_zone,
        project_id=server.project_id,
        flavor=server.flavor,
    )


def _renamed(
    server: ServerRow, instance: Instance, groups: dict[str, str]
) -> ServerRow:
    return replace(
        server,
        uuid=instance.uuid,
        name=instance.name,
        internal_name=instance.internal_name,
        extra_specs=instance.extra_specs,
        pinned_availability_zone=instance.pinned_availability_zone,
        project_id=instance.project_id,
        flavor=instance.flavor,
        group=groups.get(server.group or ''),
    )


def write(
    place: Workplace,
    plan: Plan,
    names: Names,
    own: Columns,
    limits: Sequence[str],
    anonymized: bool,
) -> None:
    """Write the recording, and the file that makes the load whole.

    :raises ArchiveError: one cannot be written
    """
    whole = place.path / f'{load_schema.RECORDING}-whole'
    recordings.write(str(whole), names.recording, replace=True)
    with place.guarded():
        atomic_files.move(whole, place.target / load_schema.RECORDING)
    meta = _meta(plan, names, own, limits, anonymized)
    text = load_schema.META_FILE.dump_json(meta, indent=1)
    with place.published(load_schema.META) as file:
        file.write(text + b'\n')


def _meta(
    plan: Plan,
    names: Names,
    own: Columns,
    limits: Sequence[str],
    anonymized: bool,
) -> Meta:
    at_start = own.places.block(0, 1)[0].tolist()
    return Meta(
        load_schema.FORMAT_VERSION,
        plan.step,
        plan.start,
        plan.ticks,
        names.hosts,
        [
            replace(
                server,
                host_at_start=names.hosts[host] if host >= 0 else None,
            )
            for server, host in zip(names.servers, at_start, strict=True)
        ],
        {
            names.policies[policy_plan.name]: PolicyRow(
                policy_plan.window, policy_plan.host_window
            )
            for policy_plan in plan.policies
        },
        list(limits),
        names.recording.made_by,
        anonymized,
    )
