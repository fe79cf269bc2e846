# SPDX-License-Identifier: Apache-2.0
"""The source of the scores: options, policies file and Prometheus.

Asked by the background thread of a process, never by a request.
"""

import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from oslo_log import log as logging

from kronos.clients.prometheus import client
from kronos.common import durations, exceptions
from kronos.conf import validation
from kronos.engine.scoring import answer_health
from kronos.engine.settings import HostMatch, PartialAnswers, Settings
from kronos.engine.types import Health, Reading
from kronos.policies import loader
from kronos.policies.models import Mode, Policy, PolicyFile
from kronos.snapshots import queries
from kronos.weighers import host_scores

LOG = logging.getLogger(__name__)

LONGEST = 32 * 2**20
"""Bytes of an answer; as objects they take some fourteen times as many, in
each process of nova-scheduler. That is 200,000 hosts of 150 bytes each."""


@dataclass
class RefreshSeconds:
    """How often the scores are made anew, and how long they count."""

    refresh_seconds: float
    settling_seconds: float
    staleness_threshold: float


class ScoreSource:
    """The outside world of a weigher.

    :param conf: options of nova-scheduler
    :param session: gives a Keystone session, for Aetos
    """

    def __init__(
        self,
        conf: Any,
        session: Callable[[], Any] = lambda: None,
    ) -> None:
        self._conf = conf
        self._session = session
        self._clients: dict[int, client.PrometheusClient] = {}
        self._logged = 0, ''

    def options(self) -> RefreshSeconds:
        """How often to ask, and how long answers serve."""
        validation.require_valid(self._conf)
        kronos = self._conf.kronos
        staleness = self._conf.kronos_prometheus.staleness_threshold
        return RefreshSeconds(
            # Else they would be too old before the next ones come.
            refresh_seconds=min(kronos.refresh_seconds, staleness / 2),
            settling_seconds=kronos.settling_seconds,
            staleness_threshold=staleness,
        )

    def ask(self, modes: Collection[str]) -> host_scores.PolicyAnswers:
        """Read and ask all anew.

        :param modes: that aggregates ask for beside the default one
        :raises KronosException: Prometheus is away, or the policies file is
            not valid
        """
        kronos = self._conf.kronos
        settings = Settings(
            require_all_policies=kronos.require_all_policies,
            min_host_coverage=kronos.min_host_coverage,
            host_match=HostMatch(kronos.host_match),
            partial_answers=PartialAnswers(kronos.partial_answers),
        )
        main = loader.load(kronos.policies_file)
        answers = host_scores.PolicyAnswers(
            policies={},
            readings={},
            default_mode=main.mode,
            aggregates=list(kronos.aggregates),
            hypervisor_types=list(kronos.hypervisor_types),
            settings=settings,
            step=kronos.score_step,
        )
        for mode in Mode:
            if mode is main.mode or mode in modes:
                policies = self._policies(mode, main, answers.troubles)
                answers.policies[mode] = [
                    _for_hosts(policy) for policy in policies
                ]
        self._ask_prometheus(answers)
        return answers

    def _policies(
        self, mode: Mode, main: PolicyFile, troubles: list[str]
    ) -> list[Policy]:
        """Of mode pack there may be a file of its own, as for audits.

        Where there is none for a mode, the queries of the other one serve:
        they measure the same hosts.
        """
        own = self._conf.kronos.pack_policies_file
        if mode is main.mode or not own:
            return main.policies
        try:
            return loader.load(own).policies
        except exceptions.KronosException as error:
            troubles.append(str(error))
            return []

    def _ask_prometheus(self, answers: host_scores.PolicyAnswers) -> None:
        policy_queries = queries.PolicyQueries(
            self._prometheus(), answers.settings
        )
        for mode, policies in answers.policies.items():
            readings = policy_queries.of_hosts(policies)
            answers.readings[mode] = readings
        _require(
            reading
            for readings in answers.readings.values()
            for of_policy in readings.values()
            for reading in vars(of_policy).values()
            if reading is not None
        )
        if clock := answer_health.clocks(policy_queries.readings):
            answers.troubles.append(clock)
        self._log(policy_queries.queries)

    def _prometheus(self) -> client.PrometheusClient:
        # A process that forked shares no connection with the other one.
        pid = os.getpid()
        if pid not in self._clients:
            group = self._conf.kronos_prometheus
            self._clients[pid] = client.from_options(
                group,
                None if group.url else self._session(),
                complain=LOG.debug,
                longest=LONGEST,
            )
        return self._clients[pid]

    def _log(self, queries: int) -> None:
        text = (
            f'sends {self._prometheus().address} {queries} queries every '
            f'{durations.exact(self.options().refresh_seconds)}, in each '
            'process of nova-scheduler'
        )
        if (os.getpid(), text) != self._logged:
            self._logged = os.getpid(), text
            LOG.info('The weigher of Kronos %s', text)


def _for_hosts(policy: Policy) -> Policy:
    # It turns a server's usage into a share; nothing is known of a new one.
    return policy.model_copy(update={'host_capacity_query': None})


def _require(readings: Iterable[Reading]) -> None:
    """:raises PrometheusError: it is away, or does not answer as one"""
    answers = list(readings)
    bad = [
        reading for reading in answers if reading.health is Health.UNREACHABLE
    ]
    away = [reading for reading in bad if reading.is_away]
    if away or (bad and bad == answers):
        raise exceptions.PrometheusError((away or bad)[0].error)
