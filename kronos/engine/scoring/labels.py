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
    full name is not found a second time by its short one. Names of hosts do
    not differ by case.

    :param labels: label values, in any order and repeated as they come
    :param hosts: names of the hosts of the scope
    """
    distinct = sorted(set(labels))
    matches = HostMatches()
    _match_whole(distinct, hosts, how, matches)
    if how is HostMatch.SHORT:
        _match_short(distinct, hosts, matches)
    matches.unmatched = [
        label for label in distinct if label not in matches.hosts
    ]
    return matches


def may_mean(
    label: str, labels: Iterable[str], hosts: Collection[str], how: HostMatch
) -> list[str]:
    """All hosts that a label may mean, for those that must not miss one.

    A name without a domain may be that of any host that is called so, with
    a domain or without, though one of them has that very name.

    :param labels: all label values of the answer
    """
    names = {host: _whole(host, how) for host in hosts}
    same = [host for host, name in names.items() if name == _whole(label, how)]
    if how is HostMatch.EXACT or (same and has_domain(label)):
        return same
    # What the answer names in full is no other host of another domain.
    named = {_whole(value, how) for value in labels}
    return [
        host
        for host in alike(label, hosts)
        if not has_domain(label)
        or not has_domain(host)
        or names[host] not in named
    ]


def alike(label: str, hosts: Collection[str]) -> list[str]:
    """The hosts that have the name of a label but for port and domain."""
    short = short_name(label)
    return [host for host in hosts if short_name(host) == short]


def find_host(name: str, hosts: Collection[str]) -> str | None:
    """The host of that name, whatever the case of its letters."""
    if name in hosts:
        return name
    same = [host for host in hosts if host.lower() == name.lower()]
    return same[0] if len(same) == 1 else None


def _match_whole(
    labels: Iterable[str],
    hosts: Collection[str],
    how: HostMatch,
    matches: HostMatches,
) -> None:
    """Match what is equal, but for a port where it is dropped."""
    names: dict[str, list[str]] = {}
    for host in sorted(hosts):
        names.setdefault(_whole(host, how), []).append(host)
    for label in labels:
        same = names.get(_whole(label, how), [])
        if label in same:
            same = [label]
        if len(same) == 1:
            matches.hosts[label] = same[0]
        elif same:
            matches.ambiguous[label] = same


def _whole(name: str, how: HostMatch) -> str:
    return (name if how is HostMatch.EXACT else without_port(name)).lower()


def _match_short(
    labels: Iterable[str], hosts: Collection[str], matches: HostMatches
) -> None:
    """Match the rest by short names."""
    certain = set(matches.hosts.values())
    by_short = _grouped(sorted(hosts))
    rest = [
        label
        for label in labels
        if label not in matches.hosts and label not in matches.ambiguous
    ]
    for short, group in _grouped(rest).items():
        candidates = by_short.get(short, [])
        if all(host in certain for host in candidates):
            continue  # foreign, whatever it resembles
        if len(candidates) > 1:
            matches.ambiguous.update(dict.fromkeys(group, candidates))
        elif len({_whole(label, HostMatch.SHORT) for label in group}) > 1:
            for label in group:
                matches.ambiguous[label] = [
                    other for other in group if other != label
                ]
        else:
            matches.hosts.update(dict.fromkeys(group, candidates[0]))


def _grouped(names: Iterable[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(short_name(name), []).append(name)
    return groups


def short_name(name: str) -> str:
    """A host name without ``:port`` and domain, in small letters.

    An address stays whole.
    """
    bare = without_port(name).lower()
    return bare if _is_address(bare) else bare.partition('.')[0]


def has_domain(name: str) -> bool:
    """Whether a name is whole, so that it means one host and no other."""
    bare = without_port(name)
    return '.' in bare or _is_address(bare)


def _is_address(bare: str) -> bool:
    return ':' in bare or bare.replace('.', '').isdigit()


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
