# SPDX-License-Identifier: Apache-2.0
"""The answers about a plan, as documents for programs.

The command kronos-explain gives them. Keys are added, never changed.
"""

import functools
from collections.abc import Sequence
from typing import Any

from kronos.engine.explain import nearest_miss as nearest
from kronos.engine.explain import remedies, rows, scenario
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


class PlanAnswers:
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

    def _why(self, position: int) -> Explainer:
        """Who answers about one scope."""
        return Explainer(self._cases[position], self._result(position))

    def _proposals_of(self, position: int) -> Proposals:
        """What would help the moves of one scope."""
        result = self._result(position)
        hosts = len(result.availability_zones)
        trials = Trials(result.name, hosts, self._prepare)
        return Proposals(
            self._cases[position], result, self.why(position), trials
        )

    def scopes_of(self, *, instance: str = '', host: str = '') -> list[int]:
        """The scopes that have an instance, or a host."""
        return [
            position
            for position, scope in enumerate(self._report.scopes)
            if instance in scope.instances or host in scope.availability_zones
        ]

    def scope(self, position: int) -> dict[str, Any]:
        """Why a scope's plan ends where it does, and the nearest miss."""
        result = self._report.scopes[position]
        miss = self._nearest(
            position, nearest_miss(self.why(position)), lambda _: True
        )
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
            **self._blockers(position, miss['source'] if miss else ''),
        }

    def instance(
        self, position: int, uuid: str, destination: str | None
    ) -> dict[str, Any]:
        """What became of an instance, for one or for every destination."""
        result, why = self._report.scopes[position], self.why(position)
        instance = result.instances[uuid]
        answer = {
            'scope': result.name,
            'instance': uuid,
            'instance_name': instance.name,
            'host': instance.host,
            'moves': rows.moves(result, lambda step: step.instance == uuid),
            'recovery': None,
        }
        answer |= self._cases[position].settings.extension.answer(result, uuid)
        if destination is not None:
            verdict = why.verdict(uuid, destination)
            proposal = self._proposals(position).of(verdict)
            row = rows.of_proposal(result, proposal)
            return answer | {'destinations': [row]}
        verdicts = why.verdicts([uuid], why.hosts)
        miss = closest(verdicts)
        return answer | {
            **self._blockers(position, instance.host),
            'codes': rows.codes(verdicts),
            'nearest_miss': self._nearest(
                position, miss, lambda step: step.instance == uuid
            ),
            'destinations': [
                rows.of_verdict(result, verdict) for verdict in verdicts
            ],
        }

    def host(self, position: int, name: str) -> dict[str, Any]:
        """Why a host sends or receives, or neither."""
        result, why = self._report.scopes[position], self.why(position)
        here = [
            u
            for u, instance in result.instances.items()
            if instance.host == name
        ]
        elsewhere = [
            u
            for u, instance in result.instances.items()
            if instance.host != name
        ]
        leaving = each_closest(why.verdicts(here, why.hosts, quick=True))
        coming = why.verdicts(elsewhere, [name], quick=True)
        roles = {
            'sends': self._side(
                position, leaving, lambda step: step.source == name
            ),
            'receives': self._side(
                position, coming, lambda step: step.destination == name
            ),
        }
        return {
            'scope': result.name,
            'host': name,
            'instances': len(here),
            'unavailable': result.unavailable_hosts.get(name, ''),
            'against': [
                rows.of_reason(reason)
                for reason in why.blockers.start.host_reasons(name)
            ],
            'policies': rows.standing(result, name),
            'set_aside': result.rest.of_host(name) if result.rest else [],
            'role': rows.role(roles),
            **roles,
            **self._cases[position].settings.extension.host_answer(
                result, name
            ),
            **self._blockers(position, name),
        }

    def drain(self, position: int, name: str) -> dict[str, Any]:
        """Which servers stay on a host if it is drained.

        The plan is that of the drain.
        """
        result = self._result(position)
        moves = rows.moves(result, lambda step: step.source == name)
        answer = {
            'scope': result.name,
            'host': name,
            'code': result.stopped.code.value,
            'reason': result.reason,
            'instances': nearest.number_on(result, name),
            'leaving': len(moves),
            'moves': moves,
            **self._blockers(position, name),
        }
        listed = {row['instance'] for row in answer['blockers']}
        answer['blockers'] += [
            self._blocker(position, verdict)
            for verdict in nearest.staying(result, name)
            if verdict.instance not in listed
        ]
        return answer

    def _side(
        self, position: int, verdicts: Sequence[Verdict], which: Asked
    ) -> dict[str, Any]:
        """What a host sends, or receives, and what came closest."""
        miss = closest(verdicts)
        if miss is not None:
            miss = self.why(position).verdict(miss.instance, miss.destination)
        return {
            'moves': rows.moves(self._result(position), which),
            'codes': rows.codes(verdicts),
            'nearest_miss': self._nearest(position, miss, which),
        }

    def _nearest(
        self, position: int, miss: Verdict | None, which: Asked
    ) -> dict[str, Any] | None:
        """The move that came closest, or another one like it."""
        if miss is None:
            return None
        proposal = self._proposals(position).nearest(miss, which)
        return rows.of_proposal(self._result(position), proposal)

    def _blockers(self, position: int, host: str) -> dict[str, Any]:
        """What keeps a host from being emptied, if it is to be."""
        result, why = self._result(position), self.why(position)
        if not nearest.is_to_be_emptied(why, host):
            return {'blockers': [], 'if_all_lifted': None}
        blockers = nearest.blockers(why, host)
        trial, arguments = self._proposals(position).together(blockers)
        return {
            'blockers': [
                self._blocker(position, verdict) for verdict in blockers
            ],
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

    def _blocker(self, position: int, verdict: Verdict) -> dict[str, Any]:
        """One that stays, with its project and what lifts each reason."""
        case = self._cases[position]
        row = rows.of_verdict(self._result(position), verdict)
        row['project'] = case.snapshot.instances[verdict.instance].project_id
        texts = [
            remedies.of_reason(case, verdict, reason).text
            for reason in verdict.reasons
        ]
        for each, text in zip([row, *row['also']], texts, strict=False):
            each['remedy'] = text
        return row

    def _result(self, position: int) -> AggregateResult:
        return self._report.scopes[position]
