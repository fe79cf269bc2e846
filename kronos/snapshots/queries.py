# SPDX-License-Identifier: Apache-2.0
"""The queries of the policies, asked now."""

from collections.abc import Sequence
from typing import Protocol

from kronos.engine.scoring import evaluation
from kronos.engine.settings import Settings
from kronos.engine.types import Health, PolicyReadings, Reading
from kronos.policies.models import Policy


class Source(Protocol):
    """What answers queries: Prometheus, or a recording of it."""

    def instant_query(self, query: str, label_key: str) -> Reading:
        """The newest value of each series; never raises for the world."""


class PolicyQueries:
    """The queries of one cycle, each of them asked once.

    When one of them is tried in vain, the others are not asked: each would
    be tried for as long.
    """

    def __init__(self, prometheus: Source, settings: Settings) -> None:
        self._prometheus = prometheus
        self._settings = settings
        self._away = ''
        self._asked: dict[tuple[str, str], Reading] = {}
        self._given: dict[tuple[str, str], Reading] = {}

    @property
    def queries(self) -> int:
        """So many were asked."""
        return len(self._asked)

    @property
    def answers(self) -> dict[tuple[str, str], Reading]:
        """By query and label: all that was given, asked or not."""
        return dict(self._given)

    def of(self, policies: Sequence[Policy]) -> dict[str, PolicyReadings]:
        return {
            policy.name: self._readings_of(policy)
            for policy in policies
            if policy.enabled
        }

    def of_hosts(
        self, policies: Sequence[Policy]
    ) -> dict[str, PolicyReadings]:
        """Only what ranks hosts: of policies that spread, one query."""
        return {
            policy.name: PolicyReadings(
                imbalance=self._ask(policy.imbalance_query, policy.host_label),
                capacity=self._by_host(self._capacity_query(policy), policy),
            )
            for policy in policies
            if policy.enabled
        }

    def _readings_of(self, policy: Policy) -> PolicyReadings:
        return PolicyReadings(
            imbalance=self._ask(policy.imbalance_query, policy.host_label),
            profile=self._ask(
                policy.vm_profile_query, policy.vm_profile_label
            ),
            host_capacity=self._by_host(policy.host_capacity_query, policy),
            capacity=self._by_host(self._capacity_query(policy), policy),
        )

    def _capacity_query(self, policy: Policy) -> str | None:
        if evaluation.asks_capacity(policy, self._settings):
            return policy.capacity_query
        return None

    def _by_host(self, query: str | None, policy: Policy) -> Reading | None:
        if query is None:
            return None
        return self._ask(query, policy.host_label)

    def _ask(self, query: str, label: str) -> Reading:
        self._given[query, label] = self._reading(query, label)
        return self._given[query, label]

    def _reading(self, query: str, label: str) -> Reading:
        if self._away:
            return Reading(
                query, Health.UNREACHABLE, error=self._away, is_away=True
            )
        if (query, label) not in self._asked:
            reading = self._prometheus.instant_query(query, label)
            if reading.is_away:
                self._away = reading.error
            self._asked[query, label] = reading
        return self._asked[query, label]
