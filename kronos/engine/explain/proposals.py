# SPDX-License-Identifier: Apache-2.0
"""The proposals: the remedies of a verdict, and the trial of all of them.

A remedy of the search, which has nothing against the move, is proposed only
if the plan then makes the move. One of a rule makes the move legal; the trial
says what the plan makes of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kronos.engine.edits import Pair
from kronos.engine.explain import counterfactual, remedies
from kronos.engine.explain.nearest_miss import closest
from kronos.engine.explain.relaxations import can_lift
from kronos.engine.explain.remedies import Remedy
from kronos.engine.extension import ReasonCode
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import (
    AggregateResult,
    MigrationStep,
    PlanningInput,
    StopReason,
)

if TYPE_CHECKING:
    from kronos.engine.explain.trials import Lifted, Trial, Trials
    from kronos.engine.explain.verdicts import Verdict
    from kronos.engine.explain.why_not import Explainer

HIGHER = 2
"""So often a limit is raised to what the plan with the lower one needs."""
Asked = Callable[[MigrationStep], bool]
LIMITS = (Code.WORSENS_POLICY, Code.OVER_CEILING)


@dataclass
class Proposal:
    """What would help a move, and what the planner makes of it."""

    verdict: Verdict
    remedies: list[Remedy]
    """One for each reason, or that of the search."""
    trial: Trial | None = None
    """Of all of them; None: not tried, or nothing helps."""
    arguments: list[str] = field(default_factory=list)
    """All that it takes to try it; empty where more than arguments would
    have to change."""
    others: list[Trial] = field(default_factory=list)
    """What else was tried, in vain."""

    @property
    def is_made(self) -> bool:
        """Whether the plan then makes the move."""
        return self.trial is not None and self.trial.makes(self.verdict)


class Proposals:
    """The proposals for the moves of one scope.

    :param case: what the scope is planned by
    :param result: what was made of that
    """

    def __init__(
        self,
        case: PlanningInput,
        result: AggregateResult,
        why: Explainer,
        trials: Trials,
    ) -> None:
        self._case = case
        self._extension = case.settings.extension
        self._result = result
        self._why = why
        self._trials = trials

    def of(self, verdict: Verdict) -> Proposal:
        """What would help one move."""
        if verdict.code in (Code.ALREADY_THERE, Code.PLANNED):
            return Proposal(verdict, [Remedy('')])
        verdict = counterfactual.minimal(self._case, self._result, verdict)
        if verdict.reasons:
            return self._of_rules(verdict)
        return self._of_search(verdict)

    def nearest(self, miss: Verdict, which: Asked) -> Proposal:
        """That of a miss, or of another like it that its remedy brings about.

        :param miss: the move that came closest
        :param which: moves that are asked about
        """
        proposal = self.of(miss)
        if proposal.is_made:
            return proposal
        trials = [proposal.trial] if proposal.trial else []
        trials += proposal.others
        for trial in trials:
            other = self._alike(miss, trial, which)
            if other is not None:
                alike = self._confirmed(other, trial)
                if alike.is_made:
                    return alike
        return proposal

    def together(
        self, verdicts: Sequence[Verdict]
    ) -> tuple[Trial | None, list[str]]:
        """What the plan makes of the remedies of all reasons of some moves.

        :returns: with the arguments, if these are all that it takes
        """
        some: list[Remedy] = []
        lifted: list[Lifted] = []
        for verdict in verdicts:
            pair = _pair(verdict)
            for reason in verdict.reasons:
                remedy = remedies.of_reason(self._case, verdict, reason)
                if remedy.can_be_tried:
                    some.append(remedy)
                elif can_lift(reason.code, self._extension):
                    lifted.append((reason, pair))
        total = remedies.joined(some)
        trial = self._trials.of(total, lifted, is_counted=False)
        is_all = trial is not None and not lifted
        return trial, total.arguments() if is_all else []

    def _confirmed(self, verdict: Verdict, trial: Trial) -> Proposal:
        if verdict.reasons:
            return self.of(verdict)
        remedy = trial.remedy
        return Proposal(verdict, [remedy], trial, remedy.arguments())

    def _alike(
        self, miss: Verdict, trial: Trial, which: Asked
    ) -> Verdict | None:
        """A move of a trial's plan that is missed for the same reasons.

        What is lifted for one instance says nothing of others.
        """
        planned = {step.instance for step in self._result.steps}
        pairs = {
            step.instance: [step.destination]
            for step in trial.result.steps
            if step.instance not in planned
            and step.instance in self._result.instances
            and which(step)
            and (not miss.reasons or step.instance == miss.instance)
        }
        codes = [reason.code for reason in miss.reasons]
        return closest(
            verdict
            for verdict in self._why.some(pairs)
            if verdict.code is miss.code
            and [reason.code for reason in verdict.reasons] == codes
        )

    def _of_search(self, verdict: Verdict) -> Proposal:
        others: list[Trial] = []
        for remedy in remedies.of_search(self._case, self._result, verdict):
            trial = self._trials.of(remedy)
            if trial is None and self._trials.is_over:
                break
            if trial is None:
                continue
            if trial.makes(verdict):
                arguments = remedy.arguments()
                return Proposal(verdict, [remedy], trial, arguments, others)
            others.append(trial)
            if len(others) >= self._trials.share or _is_enough(verdict, trial):
                break
        text = remedies.in_vain(
            verdict,
            [trial.remedy for trial in others],
            self._trials.is_over,
        )
        return Proposal(verdict, [text], others=others)

    def _of_rules(self, verdict: Verdict) -> Proposal:
        own = [
            remedies.of_reason(self._case, verdict, reason)
            for reason in verdict.reasons
        ]
        proposal = Proposal(verdict, own)
        if not all(remedy.helps for remedy in own) or not all(
            remedy.can_be_tried or can_lift(reason.code, self._extension)
            for reason, remedy in zip(verdict.reasons, own, strict=True)
        ):
            return proposal
        best = -1
        for changed in self._variants(verdict, own):
            trial = self._tried(verdict, changed)
            if trial is None:
                continue
            worth = _worth(verdict, trial)
            if worth > best:
                best = worth
                proposal.remedies, proposal.trial = changed, trial
            if trial.makes(verdict):
                break
        if proposal.trial and all(o.can_be_tried for o in proposal.remedies):
            proposal.arguments = proposal.trial.remedy.arguments()
        return proposal

    def _variants(
        self, verdict: Verdict, own: list[Remedy]
    ) -> Iterator[list[Remedy]]:
        """As they are, with higher limits, and with lower prices."""
        yield own
        for _ in range(HIGHER):
            higher = self._higher(verdict, own)
            if higher is None:
                break
            own = higher
            yield own
        priced = [
            position
            for position, remedy in enumerate(own)
            if 'soft_rules' in remedy.overrides
        ]
        if priced:
            for price in remedies.prices(self._case, verdict):
                some = list(own)
                some[priced[0]] = remedies.joined([own[priced[0]], price])
                yield some

    def _higher(
        self, verdict: Verdict, own: list[Remedy]
    ) -> list[Remedy] | None:
        """With limits by which the plan with the lower ones has the move."""
        trial = self._tried(verdict, own)
        judged = trial and trial.judged(verdict)
        if not judged:
            return None
        needed = {
            _key(reason): reason
            for reason in judged.reasons
            if reason.code in LIMITS
        }
        changed = [
            remedies.of_reason(self._case, verdict, needed[_key(reason)])
            if _key(reason) in needed
            else remedy
            for reason, remedy in zip(verdict.reasons, own, strict=True)
        ]
        if changed == own or not all(remedy.helps for remedy in changed):
            return None
        return changed

    def _tried(self, verdict: Verdict, own: list[Remedy]) -> Trial | None:
        pair = _pair(verdict)
        lifted = [
            (reason, pair)
            for reason, remedy in zip(verdict.reasons, own, strict=True)
            if not remedy.can_be_tried
        ]
        return self._trials.of(remedies.joined(own), lifted)


def _key(reason: Reason) -> tuple[ReasonCode, str]:
    return reason.code, reason.about


def _pair(verdict: Verdict) -> Pair:
    return Pair(verdict.instance, verdict.source, verdict.destination)


def _worth(verdict: Verdict, trial: Trial) -> int:
    """2 if the plan makes the move, 1 if the move is legal then."""
    if trial.makes(verdict):
        return 2
    judged = trial.judged(verdict)
    return int(judged is not None and not judged.reasons)


def _is_enough(verdict: Verdict, trial: Trial) -> bool:
    """Whether larger budgets make no other plan than this trial's."""
    if verdict.code is not Code.BUDGET_USED:
        return False
    judged = trial.judged(verdict)
    return (
        trial.result.stopped is not StopReason.BUDGET
        and len(trial.result.steps) < (trial.remedy.max_migrations or 0)
        and judged is not None
        and judged.code is not Code.BUDGET_USED
    )
