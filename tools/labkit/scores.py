# SPDX-License-Identifier: Apache-2.0
"""The answers to the policies' queries for the lab's hosts."""

import pathlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from labkit import layout

POLICIES = layout.ROOT / 'etc/kronos/policies.yaml'
"""The sample that an operator would install."""
WINDOW = re.compile(r'\[[0-9a-z]+(:[0-9a-z]+)?\]')
STEP_SECONDS = 5
"""Of a short window that is a subquery."""
MOMENT_SECONDS = 10
"""Short enough to show the present, long enough for four scrapes."""
TOLERANCE = 0.02

Query = Callable[[str], list[dict[str, Any]]]


@dataclass
class Policy:
    """What of a policy matters here."""

    name: str
    threshold: float
    host_label: str
    imbalance_query: str
    profile_query: str


@dataclass
class Scores:
    """The hosts' scores for one policy."""

    policy: Policy
    values: dict[str, float]

    def imbalance(self, hosts: Iterable[str]) -> float:
        """max - min over some hosts; 1 if one has no score."""
        found = [self.values.get(host) for host in hosts]
        known = [value for value in found if value is not None]
        if not found or len(known) < len(found):
            return 1.0
        return max(known) - min(known)


def policies(file: pathlib.Path) -> list[Policy]:
    """Those in force.

    :param file: the sample, or a copy that looks back less far
    """
    content = yaml.safe_load(file.read_text())
    return [
        Policy(
            name=policy['name'],
            threshold=float(policy.get('threshold', 0.15)),
            host_label=policy.get('host_label', 'host'),
            imbalance_query=policy['imbalance_query'],
            profile_query=policy['vm_profile_query'],
        )
        for policy in content['policies']
        if policy.get('enabled', True)
    ]


def read(query: Query, file: pathlib.Path) -> list[Scores]:
    """The scores as Prometheus has them now.

    :param file: the policies
    """
    return [
        Scores(
            policy,
            {
                series['metric'].get(policy.host_label, ''): float(
                    series['value'][1]
                )
                for series in query(policy.imbalance_query)
            },
        )
        for policy in policies(file)
    ]


def shortened(text: str, seconds: int) -> str:
    """Queries with other windows, so that a change shows soon."""
    return WINDOW.sub(
        lambda window: (
            f'[{seconds}s:{STEP_SECONDS}s]' if window[1] else f'[{seconds}s]'
        ),
        text,
    )


def is_settled(query: Query, file: pathlib.Path) -> bool:
    """Whether the queries' windows hold nothing but the present.

    Each query is asked as it is and with short windows; once both say the
    same, what changed before has left the windows.

    :param file: the policies
    """
    return all(
        _agree(query(text), query(shortened(text, MOMENT_SECONDS)))
        for policy in policies(file)
        for text in (policy.imbalance_query, policy.profile_query)
        if WINDOW.search(text)
    )


def _agree(long: list[dict[str, Any]], short: list[dict[str, Any]]) -> bool:
    def by_labels(vector: list[dict[str, Any]]) -> dict[str, float]:
        return {
            str(sorted(series['metric'].items())): float(series['value'][1])
            for series in vector
        }

    first, second = by_labels(long), by_labels(short)
    return (
        bool(first)
        and first.keys() == second.keys()
        and all(
            abs(value - second[key]) <= TOLERANCE * max(1.0, abs(value))
            for key, value in first.items()
        )
    )


def table(
    found: list[Scores], hosts: Iterable[str], remarks: dict[str, str]
) -> list[str]:
    """Lines to print: a host per line, a policy per column."""
    hosts = list(hosts)
    names = [scores.policy.name for scores in found]
    lines = ['host      ' + ''.join(f'{name:>9}' for name in names)]
    for host in hosts:
        cells = [_cell(scores.values.get(host)) for scores in found]
        remark = remarks.get(host, '')
        lines.append(f'{host:10}{"".join(cells)}  {remark}'.rstrip())
    count = [host for host in hosts if 'disabled' not in remarks.get(host, '')]
    for title, figures in (
        ('max-min', [scores.imbalance(count) for scores in found]),
        ('threshold', [scores.policy.threshold for scores in found]),
    ):
        lines.append(f'{title:10}' + ''.join(map(_cell, figures)))
    return lines


def _cell(value: float | None) -> str:
    return f'{"-":>9}' if value is None else f'{value:9.3f}'
