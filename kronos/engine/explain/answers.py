# SPDX-License-Identifier: Apache-2.0
"""The answers about a plan, as documents for programs.

The command kronos-explain gives them. Keys are added, never changed.
"""

import functools
from collections.abc import Sequence
from typing import Any

from kronos.engine.explain import nearest_miss as nearest
from kronos.engine.explain import rows, scenario
from kronos.engine.explain.nearest_miss import (
    closest,
    each_closest,
    nearest_miss,
)
from kronos.engine.explain.proposals import Asked, Proposals
from kronos.engine.explain.trials import Prepare, Trials
from kronos.engine.explain.verdicts import Verdict
from kronos.engine.explain.why_not import Explainer
from kronos.engine.types import AggregateResult, CycleInput, CycleReport

FORMAT_VERSION = 1


class Answers:
    """The answers about a plan.

    One class, since every question is asked of the same led scopes, which are
    costly to lead there.

    :param report: the plan of the cycle
    """

    def __init__(
        self, cycle: CycleInput, report: CycleReport, prepare: Prepare
    ) -> None:
        self._report = report
        self._cases = scenario.cases(
            cycle.snapshots, cycle.policies, cycle.settings, report
        )
        self._prepare = prepare
        self.why = functools.cache(self._why)
        self._proposals = functools.cache(self._proposals_of)

    def _why(self, at: int) -> Explainer:
        """Who answers about one scope."""
        return Explainer(self._cases[at], self._result(at))

    def _proposals_of(self, at: int) -> Proposals:
        """What would help the moves of one scope."""
        result = self._result(at)
        hosts = len(result.availability_zones)
        trials = Trials(result.name, hosts, self._prepare)
        return Proposals(self._cases[at], result, self.why(at), trials)

    def scopes_of(self, *, instance: str = '', host: str = '') -> list[int]:
        """The scopes that have an instance, or a host."""
        return [
            at
            for at, one in enumerate(self._report.scopes)
            if instance in one.instances or host in one.availability_zones
        ]

    def scope(self, at: int) -> dict[str, Any]:
        """Why a scope's plan ends where it does, and the nearest miss."""
        result = self._report.scopes[at]
        miss = self._nearest(at, nearest_miss(self.why(at)), lambda _: True)
        code = result.stopped.code
        return {
            'scope': result.name,
            'code': code.value,
            'reason': result.reason,
            'steps': len(result.steps),
            'combined_before': result.combined_before,
            'combined_after': result.combined_after,
            'policies_skipped': result.policies_skipped,
            'nearest_miss': miss,
            **self._blockers(at, miss['source'] if miss else ''),
        }

    def instance(
        self, at: int, uuid: str, destination: str | None
    ) -> dict[str, Any]:
        """What became of an instance, for one or for every destination."""
        result, why = self._report.scopes[at], self.why(at)
        one = result.instances[uuid]
        found = {
            'scope': result.name,
            'instance': uuid,
            'instance_name': one.name,
            'host': one.host,
            'moves': rows.moves(result, lambda step: step.instance == uuid),
            'recovery': None,
        }
        found |= self._cases[at].settings.extension.answer(result, uuid)
        if destination is not None:
            verdict = why.verdict(uuid, destination)
            proposal = self._proposals(at).of(verdict)
            row = rows.of_proposal(result, proposal)
            return found | {'destinations': [row]}
        verdicts = why.verdicts([uuid], why.hosts)
        miss = closest(verdicts)
        return found | {
            **self._blockers(at, one.host),
            'codes': rows.codes(verdicts),
            'nearest_miss': self._nearest(
                at, miss, lambda step: step.instance == uuid
            ),
            'destinations': [rows.of_verdict(result, one) for one in verdicts],
        }

    def host(self, at: int, name: str) -> dict[str, Any]:
        """Why a host sends or receives, or neither."""
        result, why = self._report.scopes[at], self.why(at)
        here = [u for u, one in result.instances.items() if one.host == name]
        there = [u for u, one in result.instances.items() if one.host != name]
        leaving = each_closest(why.verdicts(here, why.hosts, quick=True))
        coming = why.verdicts(there, [name], quick=True)
        roles = {
            'sends': self._side(at, leaving, lambda step: step.source == name),
            'receives': self._side(
                at, coming, lambda step: step.destination == name
            ),
        }
        return {
            'scope': result.name,
            'host': name,
            'instances': len(here),
            'unavailable': result.unavailable_hosts.get(name, ''),
            'against': [
                rows.of_reason(one)
                for one in why.blockers.start.host_reasons(name)
            ],
            'policies': rows.standing(result, name),
            'set_aside': result.rest.of_host(name) if result.rest else [],
            'role': rows.role(roles),
            **roles,
            **self._blockers(at, name),
        }

    def _side(
        self, at: int, verdicts: Sequence[Verdict], which: Asked
    ) -> dict[str, Any]:
        """What a host sends, or receives, and what came closest."""
        miss = closest(verdicts)
        if miss is not None:
            miss = self.why(at).verdict(miss.instance, miss.destination)
        return {
            'moves': rows.moves(self._result(at), which),
            'codes': rows.codes(verdicts),
            'nearest_miss': self._nearest(at, miss, which),
        }

    def _nearest(
        self, at: int, miss: Verdict | None, which: Asked
    ) -> dict[str, Any] | None:
        """The move that came closest, or another one like it."""
        if miss is None:
            return None
        proposal = self._proposals(at).nearest(miss, which)
        return rows.of_proposal(self._result(at), proposal)

    def _blockers(self, at: int, host: str) -> dict[str, Any]:
        """What keeps a host from being emptied, if it is to be."""
        result, why = self._result(at), self.why(at)
        if not nearest.is_to_be_emptied(why, host):
            return {'blockers': [], 'if_all_lifted': None}
        held = nearest.blockers(why, host)
        trial, arguments = self._proposals(at).together(held)
        return {
            'blockers': [rows.of_verdict(result, one) for one in held],
            'if_all_lifted': trial
            and {
                'instances': nearest.number_on(result, host),
                'leaving': sum(
                    step.source == host for step in trial.result.steps
                ),
                'stays': nearest.why_left(trial.result, host),
                'try': arguments,
            },
        }

    def _result(self, at: int) -> AggregateResult:
        return self._report.scopes[at]
