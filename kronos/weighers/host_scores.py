# SPDX-License-Identifier: Apache-2.0
"""The scores of hosts, until the next look at Prometheus.

They are made once and then only replaced as a whole. What a weighing
leaves in their rows are notes, each written in one piece.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kronos.common.shell_commands import ShellCommand
from kronos.engine import wording
from kronos.engine.scoring import host_weights, scorecard
from kronos.engine.settings import Settings
from kronos.engine.types import (
    UNASSIGNED,
    ComputeService,
    Host,
    PolicyReadings,
    Snapshot,
)
from kronos.policies.models import Mode, Policy
from kronos.weighers.recent_placements import RecentPlacements

MODE_KEY = 'kronos_mode'
"""In the metadata of a host aggregate: ``spread``, ``pack`` or ``off``."""
OFF = 'off'


@dataclass
class KnownHost:
    """A host as Nova's scheduler has shown it."""

    aggregates: list[Any]
    """Nova's own objects; it replaces one when it changes."""
    hypervisor_type: str
    vcpus: float
    used: float
    """vCPUs, when it was last met."""

    @classmethod
    def of(cls, state: Any) -> 'KnownHost':
        return cls(
            state.aggregates,
            str(state.hypervisor_type or ''),
            float(state.vcpus_total or 0),
            float(state.vcpus_used or 0),
        )

    def modes(self) -> set[str]:
        """What its aggregates ask for."""
        values = (
            aggregate.metadata.get(MODE_KEY) for aggregate in self.aggregates
        )
        return {str(mode).strip().lower() for mode in values if mode}

    def names(self) -> set[str]:
        return {str(aggregate.name) for aggregate in self.aggregates}


@dataclass
class PolicyAnswers:
    """What one look at the policies file and Prometheus has given."""

    policies: dict[Mode, list[Policy]]
    """Of each mode that a host needs; [] where the file is not usable."""
    readings: dict[Mode, dict[str, PolicyReadings]]
    default_mode: Mode
    aggregates: list[str]
    """``[kronos] aggregates``."""
    hypervisor_types: list[str]
    settings: Settings
    step: float
    troubles: list[str] = field(default_factory=list)


class HostScore:
    """One host: what it weighs now, and how that changes."""

    __slots__ = (
        '_carried',
        '_weigh',
        '_room',
        'base',
        'is_seen',
        'limit',
        'spot',
    )

    def __init__(
        self,
        weigh: Callable[[float], float] | None,
        base: float | None,
        carried: float,
        aggregates: list[Any],
        room: float = math.inf,
    ) -> None:
        """Take what it weighs, and from where vCPUs are counted.

        :param weigh: by vCPUs that the samples do not show; None: neutral
        :param base: vCPUs in use that those are counted from; None: those
            that are seen next
        :param carried: those that came before
        :param room: vCPUs that the samples do not show, with which its
            first ceiling is reached; where hosts are to be filled
        """
        self._weigh = weigh
        self.base = base
        self._carried = carried
        self._room = room
        self.limit = math.inf if base is None else base + room - carried
        """vCPUs in use up to which it is below its ceilings."""
        self.is_seen = False
        self.spot: tuple[float | None, list[Any], float | None] = (
            base,
            aggregates,
            weigh(carried) if weigh else None,
        )
        """vCPUs in use, aggregates, and what the host then weighs."""

    @property
    def is_neutral(self) -> bool:
        return self._weigh is None

    def update(self, used: float) -> float | None:
        """What the host weighs with so many vCPUs in use; None: neutral."""
        if self.base is None:
            self.base = used
            self.limit = used + self._room - self._carried
        more = used - self.base + self._carried
        weight = self._weigh(more) if self._weigh else None
        self.spot = (used, self.spot[1], weight)
        return weight


@dataclass(frozen=True)
class HostScores:
    """All hosts at one moment."""

    rows: Mapping[str, HostScore]
    asked_at: float
    """When Prometheus was asked."""
    troubles: list[str]
    """Why hosts are neutral or not judged by all policies."""
    answers: PolicyAnswers
    """What it was made of."""

    @property
    def scored(self) -> int:
        """How many hosts have a score."""
        return sum(not row.is_neutral for row in self.rows.values())


@dataclass
class _Judged:
    """A scope, as an audit of it judges its hosts of one mode."""

    places: Mapping[str, host_weights.HostWeight]
    policies: int
    """So many could be used."""
    troubles: list[str]


def build(
    known_hosts: Mapping[str, KnownHost],
    answers: PolicyAnswers,
    placements: RecentPlacements,
    asked_at: float,
    now: float,
) -> HostScores:
    """Score every known host, as an audit of its scope does.

    :param asked_at: when Prometheus was asked, on the clock of ``now``
    """
    troubles = list(answers.troubles)
    modes = _modes(known_hosts, answers.default_mode, troubles)
    best = _best(known_hosts, modes, answers, placements, now, troubles)
    if modes and not best:
        troubles += _why_none(known_hosts, modes, answers, bool(troubles))
    weighs, rooms = {}, {}
    for host, place in best.items():
        weighs[host] = _weigher(place, modes[host], answers.step)
        if modes[host] is Mode.PACK:
            rooms[host] = place.free_vcpus
    rows = {
        host: HostScore(
            weighs.get(host),
            placements.base(host, now),
            placements.pending(host, now),
            known_host.aggregates,
            rooms.get(host, math.inf),
        )
        for host, known_host in known_hosts.items()
    }
    return HostScores(rows, asked_at, troubles, answers)


def _best(
    known_hosts: Mapping[str, KnownHost],
    modes: Mapping[str, Mode],
    answers: PolicyAnswers,
    placements: RecentPlacements,
    now: float,
    troubles: list[str],
) -> dict[str, host_weights.HostWeight]:
    """What each host is in the one of its scopes that can judge it best.

    Of scopes that use as many policies, the first counts. What is wrong in
    a scope is a trouble where it is the best that one of its hosts has.
    """
    types = {name.lower() for name in answers.hypervisor_types}
    scopes = {
        host: [(mode, name) for name in _scopes_of(known_hosts[host], answers)]
        for host, mode in modes.items()
        if known_hosts[host].hypervisor_type.lower() in types
    }
    members: dict[tuple[Mode, str], list[str]] = {}
    for host, of_host in scopes.items():
        for scope in of_host:
            members.setdefault(scope, []).append(host)
    judged = {
        scope: _judge(*scope, hosts, known_hosts, answers, placements, now)
        for scope, hosts in members.items()
    }
    weights, chosen = {}, {}
    for host, of_host in scopes.items():
        # Of equals, the first.
        scope = max(of_host, key=lambda name: _worth(judged[name], host))
        chosen[scope] = judged[scope]
        if host in judged[scope].places:
            weights[host] = judged[scope].places[host]
    troubles += [
        text for scored in chosen.values() for text in scored.troubles
    ]
    return weights


def _why_none(
    known_hosts: Mapping[str, KnownHost],
    modes: Mapping[str, Mode],
    answers: PolicyAnswers,
    is_explained: bool,
) -> list[str]:
    """Why no host has a score, though one at least should have one.

    :param is_explained: whether something else tells it
    """
    kinds = {known_hosts[host].hypervisor_type for host in modes}
    planned = {name.lower() for name in answers.hypervisor_types}
    none = f'none of {wording.counted(len(known_hosts), "host")} has a score'
    if not {kind.lower() for kind in kinds} & planned:
        return [
            f'{none}: their hypervisor types are '
            f'{wording.some(sorted(kind or "unknown" for kind in kinds))}, '
            f'and hypervisor_types is {", ".join(answers.hypervisor_types)}; '
            'set hypervisor_types in [kronos] of nova-scheduler'
        ]
    if is_explained:
        return []
    return [
        f'{none}: no policy is enabled, or no policy has a sample of these '
        f'hosts; see {ShellCommand.TEST_CONFIG}'
    ]


def _worth(judged: _Judged, host: str) -> int:
    return judged.policies if host in judged.places else -1


def _weigher(
    place: host_weights.HostWeight, mode: Mode, step: float
) -> Callable[[float], float]:
    return lambda vcpus: place.weight(mode, vcpus, step)


def _modes(
    known_hosts: Mapping[str, KnownHost], default: Mode, troubles: list[str]
) -> dict[str, Mode]:
    """Of each host that is not left to Nova's own weighers."""
    mode_of: dict[str, Mode] = {}
    wrong: dict[str, list[str]] = {}
    for host, known_host in sorted(known_hosts.items()):
        modes = known_host.modes() or {str(default)}
        if len(modes) > 1 or modes - {*Mode, OFF}:
            wrong.setdefault(', '.join(sorted(modes)), []).append(host)
        elif modes != {OFF}:
            mode_of[host] = Mode(modes.pop())
    troubles += [
        f'{wording.some(hosts)}: neutral, because {MODE_KEY} of their '
        f'aggregates is {values}; it must be one of '
        f'{", ".join([*Mode, OFF])}, and the same in all of them'
        for values, hosts in wrong.items()
    ]
    return mode_of


def _scopes_of(known_host: KnownHost, answers: PolicyAnswers) -> list[str]:
    """Those that an audit may plan it in, the likeliest first."""
    names = known_host.names()
    named = [name for name in answers.aggregates if name in names]
    return list(dict.fromkeys(named + sorted(names))) or [UNASSIGNED]


def _judge(
    mode: Mode,
    scope: str,
    hosts: list[str],
    known_hosts: Mapping[str, KnownHost],
    answers: PolicyAnswers,
    placements: RecentPlacements,
    now: float,
) -> _Judged:
    policies = answers.policies.get(mode, [])
    snapshot = Snapshot(
        scope=scope,
        hosts={host: Host(host) for host in hosts},
        instances={},
        readings=answers.readings.get(mode, {}),
        # Nova's filters have left out those that are not.
        services={
            host: ComputeService(host, state='up', status='enabled')
            for host in hosts
        },
    )
    card = scorecard.score(snapshot, policies, answers.settings)
    sizes = {}
    for host in hosts:
        used = placements.used(host)
        if used is not None:
            used = max(0.0, used - placements.pending(host, now))
        sizes[host] = host_weights.Size(known_hosts[host].vcpus, used)
    skipped = [result.skipped for result in card.results if result.skipped]
    return _Judged(
        host_weights.places(card, policies, sizes),
        len(card.values),
        [f'{scope}: {text}' for text in skipped + card.warnings],
    )
