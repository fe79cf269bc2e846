# SPDX-License-Identifier: Apache-2.0
"""The labels of Prometheus: which Nova host each one means."""

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from kronos.engine.settings import HostMatch

_PAIR = re.compile(r'([^\s=,{}"]+)=("(?:[^"\\]|\\.)*")')


@dataclass
class HostMatches:
    """Label values sorted into those that are a host and those that are not.

    ``ambiguous`` maps a label that could be several hosts, or one of
    several labels that could be the same host, to what it was confused
    with; such a label is in ``unmatched`` too.
    """

    hosts: dict[str, str] = field(default_factory=dict)
    """Label to host name."""
    unmatched: list[str] = field(default_factory=list)
    ambiguous: dict[str, list[str]] = field(default_factory=dict)


def match_hosts(
    labels: Iterable[str], hosts: Collection[str], how: HostMatch
) -> HostMatches:
    """Find the host of each label value.

    EXACT: the label is the host's name. SHORT: what is equal but for a
    ``:port`` matches first; then what is equal without the domain too, if
    only one host and one name can be meant. A host that was found by its
    full name is not found a second time by its short one.

    :param labels: label values, in any order and repeated as they come
    :param hosts: names of the hosts of the scope
    """
    distinct = sorted(set(labels))
    if how is HostMatch.EXACT:
        return HostMatches(
            hosts={label: label for label in distinct if label in hosts},
            unmatched=[label for label in distinct if label not in hosts],
        )
    return _match_short(distinct, hosts)


def _match_short(labels: list[str], hosts: Collection[str]) -> HostMatches:
    names = {without_port(host): host for host in sorted(hosts)}
    found = {
        label: names[without_port(label)]
        for label in labels
        if without_port(label) in names
    }
    certain = set(found.values())
    by_short = _grouped(names.values())
    matches = HostMatches(hosts=found)
    rest = [label for label in labels if label not in found]
    for short, group in _grouped(rest).items():
        candidates = by_short.get(short, [])
        if all(host in certain for host in candidates):
            matches.unmatched += group  # foreign, whatever it resembles
        elif len(candidates) > 1:
            matches.unmatched += group
            matches.ambiguous.update(dict.fromkeys(group, candidates))
        elif len({without_port(label) for label in group}) > 1:
            matches.unmatched += group
            for one in group:
                matches.ambiguous[one] = [
                    other for other in group if other != one
                ]
        else:
            found.update(dict.fromkeys(group, candidates[0]))
    matches.unmatched.sort()
    return matches


def _grouped(names: Iterable[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(short_name(name), []).append(name)
    return groups


def short_name(name: str) -> str:
    """A host name without ``:port`` and domain; an address stays whole."""
    bare = without_port(name)
    if ':' in bare or bare.replace('.', '').isdigit():
        return bare
    return bare.partition('.')[0]


def without_port(name: str) -> str:
    """A host name or address without ``:port`` and its brackets."""
    head, _, tail = name.rpartition(':')
    if not head or not tail.isdigit():
        return name
    if head.startswith('[') and head.endswith(']'):
        return head[1:-1]
    return name if ':' in head else head  # a bare IPv6 address has no port


def of_series(series: str) -> dict[str, str]:
    """The labels of a series, of its whole label set as text.

    What stands in quotes is never taken for a label.
    """
    try:
        return {
            name: json.loads(value)
            for name, value in _PAIR.findall(series.partition('{')[2])
        }
    except ValueError:  # not the text of a label set
        return {}
