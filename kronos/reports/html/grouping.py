# SPDX-License-Identifier: Apache-2.0
"""The server groups: where the members are, and whether the rule holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kronos.reports.html.hosts import InstanceHosts

LISTED = 100
"""Groups that have a row."""
QUIET = 16
"""Groups that have one although they hold and do not move."""
MEMBERS = 40
"""Members that are named in a row."""


@dataclass
class Member:
    name: str
    came_from: str
    """The host that it leaves for this one; empty if it stays."""


@dataclass
class Group:
    uuid: str
    name: str
    policy: str
    enforced: bool
    members: int
    elsewhere: int
    broken_before: str
    broken_after: str
    moves: int
    hosts: dict[str, list[Member]] = field(default_factory=dict)
    """Host to the members there when the plan is done."""
    unnamed: int = 0
    """Members of which none is in ``hosts``."""


@dataclass
class Groups:
    listed: list[Group]
    unlisted: int
    broken_before: int
    broken_after: int
    total: int


def groups(scope: Mapping[str, Any], where: InstanceHosts) -> Groups | None:
    """None if the report is too old to tell."""
    if 'groups' not in scope:
        return None
    rows = [_group(row, where) for row in scope['groups']]
    rows.sort(
        key=lambda group: (
            not group.broken_after,
            not group.broken_before,
            not group.moves,
            group.name,
        )
    )
    quiet = sum(
        not (group.broken_before or group.broken_after or group.moves)
        for group in rows
    )
    most = min(LISTED, max(QUIET, len(rows) - quiet))
    return Groups(
        listed=rows[:most],
        unlisted=len(rows[most:]),
        broken_before=sum(bool(group.broken_before) for group in rows),
        broken_after=sum(bool(group.broken_after) for group in rows),
        total=len(rows),
    )


def _group(row: Mapping[str, Any], where: InstanceHosts) -> Group:
    group = Group(
        uuid=row['uuid'],
        name=row['name'],
        policy=row['policy'],
        enforced=row['enforced'],
        members=len(row['members']),
        elsewhere=row['elsewhere'],
        broken_before=row['broken_before'],
        broken_after=row['broken_after'],
        moves=0,
    )
    # Who moves is what one looks for.
    movers = [u for u in row['members'] if _moves(u, where)]
    others = [u for u in row['members'] if not _moves(u, where)]
    group.moves = len(movers)
    chosen = (movers + others)[:MEMBERS]
    group.unnamed = group.members - len(chosen)
    for uuid in chosen:
        before = where.before.get(uuid, '')
        host = where.after.get(uuid, '')
        member = Member(
            where.names.get(uuid) or uuid, before if before != host else ''
        )
        group.hosts.setdefault(host, []).append(member)
    group.hosts = {host: group.hosts[host] for host in sorted(group.hosts)}
    return group


def _moves(uuid: str, where: InstanceHosts) -> bool:
    return where.before.get(uuid) != where.after.get(uuid)
