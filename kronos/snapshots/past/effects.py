# SPDX-License-Identifier: Apache-2.0
"""The effects of past plans, from Watcher, Nova and Prometheus.

Nothing is stored: whoever reads the same plans comes to the same numbers.
What is measured is kept in memory, so each query is asked once.
"""

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

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
from kronos.policies import fingerprints
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
    lives: Sequence[ServerLife]


@dataclass(frozen=True)
class PlanEffect:
    """A plan in one scope, and what it changed."""

    plan: PastPlan
    effects: list[PolicyEffect]
    """Of each policy, in the order of the policies file."""
    taken_seconds: float = 0.0
    """How long its moves took, one after the other, by Nova."""


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
    _measured: dict[tuple[str, str, str], PolicyEffect] = field(
        default_factory=dict
    )

    def read(
        self,
        plans: Sequence[PastPlan],
        policies: Sequence[Policy],
        now: float,
    ) -> list[PlanEffect]:
        """Measure plans as far as that can be done.

        :param now: Unix seconds
        """
        if not plans:
            return []
        history: NovaHistory | None = None
        with contextlib.suppress(exceptions.NovaClientError):
            history = self.history(min(plan.created for plan in plans))
        return [self._plan(plan, policies, history, now) for plan in plans]

    def _plan(
        self,
        plan: PastPlan,
        policies: Sequence[Policy],
        history: NovaHistory | None,
        now: float,
    ) -> PlanEffect:
        until = plan.ended + self.settling
        if plan.is_running or now < until:
            reason: Unmeasured | None = Unmeasured.NOT_SETTLED
        else:
            reason = None if history else Unmeasured.NO_HISTORY
        if reason or history is None:
            effects = [
                PolicyEffect(policy.name, unmeasured=reason)
                for policy in policies
            ]
            return PlanEffect(plan, effects)
        own, others = _sorted(plan, history.events, until)
        moves = _arrived(plan, own) if plan.is_started else plan.moves()
        disturbed = _disturbed(others, history, plan.created, until)
        effects = [
            self._effect(plan, policy, moves, disturbed, until)
            for policy in policies
        ]
        taken = sum(max(0.0, event.at - event.began) for event in own)
        return PlanEffect(plan, effects, taken)

    def _effect(
        self,
        plan: PastPlan,
        policy: Policy,
        moves: Sequence[PastMove],
        disturbed: Collection[str],
        until: float,
    ) -> PolicyEffect:
        query = fingerprints.of(policy)
        if reason := _unpredicted(plan, policy.name, query):
            return PolicyEffect(policy.name, unmeasured=reason)
        key = plan.uuid, plan.scope, f'{policy.name} {query}'
        if key not in self._measured:
            hosts = self._hosts(plan)
            try:
                before = self._values(policy, hosts, plan.created)
                after = self._values(policy, hosts, until)
            except exceptions.PrometheusError:
                reason = Unmeasured.NO_SAMPLES
                return PolicyEffect(policy.name, unmeasured=reason)
            self._measured[key] = measurement.measure(
                policy.name, moves, before, after, disturbed
            )
        return self._measured[key]

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


def _unpredicted(plan: PastPlan, policy: str, query: str) -> Unmeasured | None:
    """Why the actions of a plan predict nothing that can be compared."""
    shares = [move.shares.get(policy) for move in plan.moves()]
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
