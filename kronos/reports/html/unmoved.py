# SPDX-License-Identifier: Apache-2.0
"""The unmoved servers and why they stay, summed up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kronos.reports.html.hosts import InstanceHosts

REASONS = 40
EXAMPLES = 25
"""Instances that are named below a reason."""


@dataclass
class Unmoved:
    uuid: str
    name: str
    host: str


@dataclass
class ReasonCount:
    text: str
    count: int
    width: float
    """Percent of the most frequent reason."""
    cannot: bool
    """Whether it could not move; else it was not chosen: it was not needed,
    the budget was used, or the scope stood still."""
    examples: list[Unmoved]

    @property
    def unnamed(self) -> int:
        return self.count - len(self.examples)


@dataclass
class Staying:
    total: int
    cannot: int
    reasons: list[ReasonCount]
    rare: int
    """Reasons that have no row."""
    rare_count: int
    """Instances that stay for one of those."""


def staying(scope: Mapping[str, Any], where: InstanceHosts) -> Staying:
    unmovable = scope['unmovable']
    by_reason: dict[tuple[str, bool], list[str]] = {}
    for uuid, text in scope['stayed'].items():
        by_reason.setdefault((text, uuid in unmovable), []).append(uuid)
    ranked = sorted(by_reason.items(), key=lambda row: (-len(row[1]), row[0]))
    most = len(ranked[0][1]) if ranked else 1
    rest = ranked[REASONS:]
    return Staying(
        total=len(scope['stayed']),
        cannot=sum(uuid in unmovable for uuid in scope['stayed']),
        reasons=[
            ReasonCount(
                text=text,
                count=len(uuids),
                width=round(100.0 * len(uuids) / most, 2),
                cannot=cannot,
                examples=instances(uuids[:EXAMPLES], where),
            )
            for (text, cannot), uuids in ranked[:REASONS]
        ],
        rare=len(rest),
        rare_count=sum(len(uuids) for _, uuids in rest),
    )


def instances(uuids: Sequence[str], where: InstanceHosts) -> list[Unmoved]:
    return [
        Unmoved(uuid, where.names.get(uuid, ''), where.before.get(uuid, ''))
        for uuid in uuids
    ]


@dataclass
class DrainedHost:
    """A host that is to be emptied, and what stays there all the same."""

    host: str
    reason: str
    instances: int
    leaving: int
    staying: list[tuple[Unmoved, str]]
    unnamed: int


def drains(
    scope: Mapping[str, Any], where: InstanceHosts
) -> list[DrainedHost]:
    rows = []
    for row in scope['drains']:
        uuids = list(row['staying'])
        named = instances(uuids[:EXAMPLES], where)
        rows.append(
            DrainedHost(
                host=row['host'],
                reason=row['reason'],
                instances=row['instances'],
                leaving=row['leaving'],
                staying=[
                    (instance, row['staying'][instance.uuid])
                    for instance in named
                ],
                unnamed=len(uuids) - len(named),
            )
        )
    return rows
