# SPDX-License-Identifier: Apache-2.0
"""The effects of past plans, from Watcher, Nova and Prometheus.

Nothing is stored: whoever reads the same plans comes to the same numbers.
What is measured is kept in memory, so each query is asked once.
"""

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from kronos.clients.nova import server_lives
from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.server_lives import ServerLife
from kronos.common import exceptions
from kronos.engine.effect import measurement
from kronos.engine.effect.measurement import (
    PastMove,
    PolicyEffect,
    Unmeasured,
)
from kronos.engine.scoring import labels
from kronos.engine.settings import HostMatch
from kronos.engine.types import Event, Outcome, Sample
from kronos.policies import fingerprints, windows
from kronos.policies.models import Policy
from kronos.snapshots.past.past_plans import PastPlan


class PastQueries(Protocol):
    """What answers queries about the past."""

    def query_at(
        self, query: str, time: float, label_key: str
    ) -> list[Sample]:
        """:raises PrometheusError: it does not answer"""


@dataclass(frozen=True)
class NovaHistory:
    """What happened on the hosts since the oldest plan."""

    events: Sequence[Event]
    """Of Nova's, with when they began."""
    lives: Sequence[ServerLife]


@dataclass(frozen=True)
class PlanEffect:
    """A plan in one scope, and what it changed."""

    plan: PastPlan
    effects: list[PolicyEffect]
    """Of each policy, in the order of the policies file."""
    taken_seconds: float = 0.0
    """How long its moves took, one after the other, by Nova."""


PlanKey = tuple[str, str, float]
"""A plan, its scope, and the end of its settling: a plan that is started
after all settles later."""


@dataclass
class Measured:
    """What needs no query any more; readers of a process may share it."""

    effects: dict[tuple[PlanKey, str], PolicyEffect] = field(
        default_factory=dict
    )
    """By plan, and name and fingerprint of the policy."""
    taken: dict[PlanKey, float] = field(default_factory=dict)

    def forget(self, plans: Collection[str]) -> None:
        """Forget all but these plans."""
        for key, policy in list(self.effects):
            if key[0] not in plans:
                self.effects.pop((key, policy), None)
        for key in list(self.taken):
            if key[0] not in plans:
                self.taken.pop(key, None)


@dataclass
class EffectReader:
    """Measures plans."""

    prometheus: PastQueries
    history: Callable[[float], NovaHistory]
    """What changed since a time; raises NovaClientError."""
    hosts: Mapping[str, Collection[str]]
    """By scope the names of its hosts."""
    settling: float
    """Seconds after a plan until its metrics contain its moves."""
    host_match: HostMatch = HostMatch.EXACT
    measured: Measured = field(default_factory=Measured)
    _silent: set[str] = field(default_factory=set)
    """Policies whose queries failed in this reading."""

    def read(
        self,
        plans: Sequence[PastPlan],
        policies: Sequence[Policy],
        now: float,
    ) -> list[PlanEffect]:
        """Measure plans as far as that can be done.

        :param now: Unix seconds
        """
        self._silent.clear()
        open_plans = [
            plan
            for plan in plans
            if self._is_settled(plan, now)
            and not self._is_known(plan, policies)
        ]
        history: NovaHistory | None = None
        if open_plans:
            with contextlib.suppress(exceptions.NovaClientError):
                history = self.history(min(p.created for p in open_plans))
        return [self._plan(plan, policies, history, now) for plan in plans]

    def _key(self, plan: PastPlan) -> PlanKey:
        return plan.uuid, plan.scope, plan.ended + self.settling

    def _is_settled(self, plan: PastPlan, now: float) -> bool:
        return not plan.is_running and now >= plan.ended + self.settling

    def _is_known(self, plan: PastPlan, policies: Sequence[Policy]) -> bool:
        key = self._key(plan)
        return key in self.measured.taken and all(
            (key, _name(policy)) in self.measured.effects
            for policy in policies
        )

    def _plan(
        self,
        plan: PastPlan,
        policies: Sequence[Policy],
        history: NovaHistory | None,
        now: float,
    ) -> PlanEffect:
        if self._is_settled(plan, now):
            if history and not self._is_known(plan, policies):
                self._measure(plan, policies, history)
            reason = Unmeasured.NO_SAMPLES
            if history is None:
                reason = Unmeasured.NO_HISTORY
        else:
            reason = Unmeasured.NOT_SETTLED
        key = self._key(plan)
        effects = [
            self.measured.effects.get((key, _name(policy)))
            or PolicyEffect(policy.name, unmeasured=reason)
            for policy in policies
        ]
        return PlanEffect(plan, effects, self.measured.taken.get(key, 0.0))

    def _measure(
        self,
        plan: PastPlan,
        policies: Sequence[Policy],
        history: NovaHistory,
    ) -> None:
        key = self._key(plan)
        until = key[-1]
        own, others = _sorted(plan, history.events, until)
        moves = _arrived(plan, own) if plan.is_started else plan.moves()
        disturbed = _disturbed(others, history, plan.created, until)
        for policy in policies:
            name = key, _name(policy)
            if name not in self.measured.effects:
                effect = self._effect(plan, policy, moves, disturbed)
                if effect is not None:
                    self.measured.effects[name] = effect
        self.measured.taken[key] = sum(
            max(0.0, event.at - event.began) for event in own
        )

    def _effect(
        self,
        plan: PastPlan,
        policy: Policy,
        moves: Sequence[PastMove],
        disturbed: Collection[str],
    ) -> PolicyEffect | None:
        """None if Prometheus does not answer.

        Of other plans, the query is not asked then: each would wait as long.
        """
        if reason := _unpredicted(plan, policy):
            return PolicyEffect(policy.name, unmeasured=reason)
        if policy.name in self._silent:
            return None
        hosts = self._hosts(plan)
        try:
            before = self._values(policy, hosts, plan.created)
            after = self._values(policy, hosts, plan.ended + self.settling)
        except exceptions.PrometheusError:
            self._silent.add(policy.name)
            return None
        return measurement.measure(
            policy.name, moves, before, after, disturbed
        )

    def _hosts(self, plan: PastPlan) -> set[str]:
        ends = {
            host
            for move in plan.moves()
            for host in (move.source, move.destination)
        }
        return ends | set(self.hosts.get(plan.scope, ()))

    def _values(
        self, policy: Policy, hosts: Collection[str], time: float
    ) -> dict[str, float]:
        """By host; one with several series has no value."""
        samples = self.prometheus.query_at(
            policy.imbalance_query, time, policy.host_label
        )
        names = [sample.label for sample in samples]
        matches = labels.match_hosts(names, hosts, self.host_match)
        values: dict[str, list[float]] = {}
        for sample in samples:
            if sample.label in matches.hosts:
                host = matches.hosts[sample.label]
                values.setdefault(host, []).append(sample.value)
        return {
            host: numbers[0]
            for host, numbers in values.items()
            if len(numbers) == 1
        }


def _name(policy: Policy) -> str:
    return f'{policy.name} {fingerprints.of(policy)}'


def _unpredicted(plan: PastPlan, policy: Policy) -> Unmeasured | None:
    """Why the actions of a plan predict nothing that can be compared."""
    if not plan.is_live:
        return Unmeasured.OFFLINE
    query = fingerprints.of(policy)
    shares = [move.shares.get(policy.name) for move in plan.moves()]
    predicted = [share for share in shares if share is not None]
    if len(predicted) < len(shares):
        return Unmeasured.NO_FORECAST
    if any(share.query != query for share in predicted):
        return Unmeasured.FORMER_QUERY
    return None


def _sorted(
    plan: PastPlan, events: Iterable[Event], until: float
) -> tuple[list[Event], list[Event]]:
    """The plan's own moves by Nova that arrived, and those of others."""
    planned = {
        (move.instance, move.source, move.destination)
        for move in plan.moves()
        if plan.is_started
    }
    own, others = [], []
    for event in events:
        if event.at < plan.created or event.began > until:
            continue
        route = event.instance, event.source, event.destination
        if route in planned:
            if event.outcome is Outcome.MOVED:
                own.append(event)
        elif event.outcome is not Outcome.FAILED:
            others.append(event)
    return own, others


def _arrived(plan: PastPlan, own: Iterable[Event]) -> list[PastMove]:
    """The moves that Watcher or Nova reports as done.

    What Watcher lost sight of may have arrived all the same.
    """
    routes = {
        (event.instance, event.source, event.destination) for event in own
    }
    return [
        move
        for move in plan.moves()
        if move.is_done
        or (move.instance, move.source, move.destination) in routes
    ]


def _disturbed(
    others: Sequence[Event], history: NovaHistory, since: float, until: float
) -> set[str]:
    """The hosts that other instances came to or left meanwhile."""
    hosts = {
        host for event in others for host in (event.source, event.destination)
    }
    first: dict[str, Event] = {}
    for event in sorted(history.events, key=lambda event: event.at):
        if event.outcome is Outcome.MOVED:
            first.setdefault(event.instance, event)
    for life in history.lives:
        instance = life.instance
        if instance.created and since < instance.created <= until:
            # It may have left the host that it was booted on.
            departure = first.get(instance.uuid)
            hosts.add(departure.source if departure else instance.host)
        if life.gone is not None and since < life.gone <= until:
            hosts.add(instance.host)
    return hosts


def settling_seconds(policies: Iterable[Policy], kronos: Any) -> float:
    """Seconds after a plan until its metrics contain its moves.

    :param kronos: the options ``[kronos]``
    """
    if kronos.effect_settling_seconds is not None:
        return float(kronos.effect_settling_seconds)
    ranges = (
        windows.of_query(policy.imbalance_query).seconds for policy in policies
    )
    return max(float(kronos.cooldown), *ranges, 0.0)


def live(
    nova: NovaClient,
    prometheus: PastQueries,
    hosts: Mapping[str, Collection[str]],
    policies: Iterable[Policy],
    kronos: Any,
    measured: Measured | None = None,
) -> EffectReader:
    """A reader of a live cloud.

    :param hosts: by scope
    :param policies: whose queries are to show whole plans
    :param kronos: the options ``[kronos]``
    :param measured: what readers before it have measured
    """
    return EffectReader(
        prometheus,
        lambda since: NovaHistory(
            nova.list_past_migrations(since),
            list(server_lives.listing(nova.api, since)),
        ),
        hosts,
        settling_seconds(policies, kronos),
        HostMatch(kronos.host_match),
        Measured() if measured is None else measured,
    )
