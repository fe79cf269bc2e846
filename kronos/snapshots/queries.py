# SPDX-License-Identifier: Apache-2.0
"""The queries of the policies, asked now."""

import time
from collections.abc import Sequence
from typing import Any, Protocol

from kronos.engine.scoring import evaluation
from kronos.engine.settings import Settings
from kronos.engine.types import Health, PolicyReadings, Reading
from kronos.metrics import process
from kronos.policies import models
from kronos.policies.models import Policy, PolicyQuery


class QuerySource(Protocol):
    """What answers queries: Prometheus, or a recording of it."""

    def instant_query(self, query: str, label_key: str) -> Reading:
        """The newest value of each series; never raises for the world."""


class PolicyQueries:
    """The queries of one cycle, each of them asked once.

    When one of them is tried in vain, the others are not asked: each would
    be tried for as long.
    """

    def __init__(self, prometheus: QuerySource, settings: Settings) -> None:
        self._prometheus = prometheus
        self._settings = settings
        self._away = ''
        self._asked_readings: dict[tuple[str, str], Reading] = {}
        self._answers: dict[tuple[str, str], Reading] = {}

    @property
    def queries(self) -> int:
        """So many were asked."""
        return len(self._asked_readings)

    @property
    def readings(self) -> list[Reading]:
        """What was said to all of them."""
        return list(self._asked_readings.values())

    @property
    def answers(self) -> dict[tuple[str, str], Reading]:
        """By query and label: all that was given, asked or not."""
        return dict(self._answers)

    def of(self, policies: Sequence[Policy]) -> dict[str, PolicyReadings]:
        return self._readings(policies, models.QUERIES)

    def of_hosts(
        self, policies: Sequence[Policy]
    ) -> dict[str, PolicyReadings]:
        """Only what ranks hosts."""
        return self._readings(
            policies, [query for query in models.QUERIES if query.ranks_hosts]
        )

    def instant_query(self, query: str, label_key: str) -> Reading:
        """One that is of no policy, and so no part of :attr:`answers`."""
        return self._reading(query, label_key)

    def _readings(
        self, policies: Sequence[Policy], rows: Sequence[PolicyQuery]
    ) -> dict[str, PolicyReadings]:
        readings = {}
        for policy in policies:
            if policy.enabled:
                answers: dict[str, Any] = {
                    row.reading: self._answer(row, policy) for row in rows
                }
                readings[policy.name] = PolicyReadings(**answers)
        return readings

    def _answer(self, row: PolicyQuery, policy: Policy) -> Reading | None:
        if not evaluation.asks(row, policy, self._settings):
            return None
        return self._ask(
            getattr(policy, row.field), getattr(policy, row.label)
        )

    def _ask(self, query: str, label: str) -> Reading:
        self._answers[query, label] = self._reading(query, label)
        return self._answers[query, label]

    def _reading(self, query: str, label: str) -> Reading:
        if self._away:
            return Reading(
                query, Health.UNREACHABLE, error=self._away, is_away=True
            )
        if (query, label) not in self._asked_readings:
            reading = _measured(self._prometheus, query, label)
            if reading.is_away:
                self._away = reading.error
            self._asked_readings[query, label] = reading
        return self._asked_readings[query, label]


def _measured(source: QuerySource, query: str, label: str) -> Reading:
    began = time.monotonic()
    reading = source.instant_query(query, label)
    store, health = process.of_process(), reading.health
    if reading.incomplete and health is Health.HEALTHY:
        health = Health.PARTIAL
    store.count('kronos_prometheus_queries_total', result=health.value)
    seconds = time.monotonic() - began
    store.observe('kronos_prometheus_query_seconds', seconds)
    return reading
