# SPDX-License-Identifier: Apache-2.0
"""The four server-group policies: what each requires, and what breaks it."""

from collections.abc import Mapping

from kronos.engine import wording
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import ServerGroup

APART = frozenset({'anti-affinity', 'soft-anti-affinity'})
TOGETHER = frozenset({'affinity', 'soft-affinity'})
SOFT = frozenset({'soft-affinity', 'soft-anti-affinity'})


def most_per_host(group: ServerGroup) -> int:
    """How many members of a group that is to be apart may share a host.

    Nova knows ``max_server_per_host`` for the hard policy alone.
    """
    return 1 if group.policy in SOFT else max(1, group.max_server_per_host)


def title(group: ServerGroup) -> str:
    return f'{group.policy} group {wording.named(group.name, group.uuid)}'


def why_not(
    group: ServerGroup, members_there: int, members_elsewhere: int
) -> Reason | None:
    """Why one more member may not come to a host; None if it may.

    Soft policies are as strict as hard ones, but for Nova's own rule
    that a lone member of a hard ``affinity`` group cannot be live-migrated.

    :param members_there: other members on the host
    :param members_elsewhere: other members on other hosts of the scope;
        those outside it are ignored
    """
    name = title(group)
    if group.policy in APART:
        limit = most_per_host(group)
        if members_there >= limit:
            return Reason(
                f'{name} has {members_there} of at most {limit} there',
                Code.GROUP_APART,
                group.uuid,
            )
        return None
    if group.policy not in TOGETHER:
        text = f'{name} has an unknown policy'
        return Reason(text, Code.GROUP_UNKNOWN, group.uuid)
    if members_elsewhere:
        text = f'{name} has {members_elsewhere} other members elsewhere'
        return Reason(text, Code.GROUP_TOGETHER, group.uuid)
    if group.policy == 'affinity' and not members_there:
        text = f'{name} has no other member there, and Nova requires one'
        return Reason(text, Code.GROUP_LONE, group.uuid)
    return None


def excess(group: ServerGroup, on: Mapping[int, int]) -> int:
    """How far a group is from its rule: the moves that it takes.

    Of a group that is to be apart the members above the limit of their
    host; of one that is to be together those that are not on the host with
    most of them.

    :param on: members by host
    """
    if group.policy in APART:
        limit = most_per_host(group)
        return sum(max(0, number - limit) for number in on.values())
    if group.policy in TOGETHER:
        return sum(on.values()) - max(on.values(), default=0)
    return 0


def is_enforced(group: ServerGroup, settings: Settings) -> bool:
    """Whether a group of this policy is repaired."""
    if group.policy in SOFT:
        return settings.enforce_soft_affinity
    has_rule = group.policy in APART or group.policy in TOGETHER
    return has_rule and settings.enforce_hard_affinity


def describe(group: ServerGroup, on: Mapping[str, int]) -> str:
    """``anti-affinity group db: 2 members on cmp1``; '' if all is well."""
    numbers = list(enumerate(sorted(on)))
    if not excess(group, {number: on[host] for number, host in numbers}):
        return ''
    if group.policy in TOGETHER:
        hosts = ', '.join(sorted(on))
        return (
            f'{title(group)}: {sum(on.values())} members on {len(on)} hosts '
            f'({hosts})'
        )
    limit = most_per_host(group)
    crowded = ', '.join(
        f'{on[host]} members on {host}'
        for host in sorted(on)
        if on[host] > limit
    )
    most = f' (at most {limit})' if limit > 1 else ''
    return f'{title(group)}: {crowded}{most}'
