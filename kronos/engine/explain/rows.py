# SPDX-License-Identifier: Apache-2.0
"""The rows of the answers: moves, reasons and proposals as documents."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kronos.engine.reasons import Code, Reason
from kronos.engine.types import AggregateResult, MigrationStep
from kronos.policies.models import Mode

if TYPE_CHECKING:
    from kronos.engine.explain.proposals import Proposal
    from kronos.engine.explain.trials import Trial
    from kronos.engine.explain.verdicts import Verdict


def of_verdict(result: AggregateResult, verdict: Verdict) -> dict[str, Any]:
    """A move that was not made, with no remedy but that of its code."""
    instance = result.instances.get(verdict.instance)
    return {
        'instance': verdict.instance,
        'instance_name': instance.name if instance else '',
        'source': verdict.source,
        'destination': verdict.destination,
        'code': verdict.code.value,
        'text': verdict.text,
        'means': verdict.code.means,
        'remedy': verdict.code.remedy,
        'try': [],
        'also': [of_reason(reason) for reason in verdict.also],
        'phase': verdict.phase.value if verdict.phase else '',
        'after_steps': verdict.after,
        'gain': _finite(verdict.gain),
        'imbalances': {
            name: _finite(width) for name, width in verdict.widths.items()
        },
        'better_step': verdict.better,
        'if_lifted': None,
    }


def of_proposal(result: AggregateResult, proposal: Proposal) -> dict[str, Any]:
    """The same with its remedies, and what the plan makes of them.

    The arguments are those of all remedies together.
    """
    row = of_verdict(result, proposal.verdict)
    row['remedy'], row['try'] = proposal.remedies[0].text, proposal.arguments
    for other, remedy in zip(row['also'], proposal.remedies[1:], strict=True):
        other['remedy'] = remedy.text
    if proposal.trial is not None:
        row['if_lifted'] = _if_lifted(result, proposal.verdict, proposal.trial)
    return row


def _if_lifted(
    result: AggregateResult, verdict: Verdict, trial: Trial
) -> dict[str, Any]:
    """What the plan of a trial does with the instance."""
    is_made = trial.makes(verdict)
    judged = None if is_made else trial.judged(verdict)
    against: list[str] = []
    if judged is not None:
        against = [str(reason) for reason in judged.reasons]
    elif not is_made:
        against = ['the scope does not contain both of them then']
    return {
        'legal': not against,
        'against': against,
        'planned': is_made,
        'moves': [
            {
                'number': number,
                'phase': step.phase.value,
                'source': step.source,
                'destination': step.destination,
            }
            for number, step in trial.moves(verdict.instance)
        ],
        'stays': trial.result.stayed.get(verdict.instance, ''),
        'more_steps': len(trial.result.steps) - len(result.steps),
    }


def _finite(number: float | None) -> float | None:
    """None where values are absurd."""
    if number is None or not math.isfinite(number):
        return None
    return number


def of_reason(reason: Reason) -> dict[str, Any]:
    code = reason.code
    return {
        'code': code.value if code else '',
        'about': reason.about,
        'host': reason.host,
        'text': str(reason),
        'remedy': code.remedy if code else '',
        'try': [],
    }


def codes(verdicts: Sequence[Verdict]) -> dict[str, int]:
    counts = Counter(
        verdict.code.value
        for verdict in verdicts
        if verdict.code is not Code.ALREADY_THERE
    )
    return dict(sorted(counts.items(), key=lambda row: (-row[1], row[0])))


def moves(result: AggregateResult, which: Any) -> list[dict[str, Any]]:
    return [
        _step(number, step)
        for number, step in enumerate(result.steps, start=1)
        if which(step)
    ]


def _step(number: int, step: MigrationStep) -> dict[str, Any]:
    return {
        'number': number,
        'phase': step.phase.value,
        'instance': step.instance,
        'instance_name': step.instance_name,
        'source': step.source,
        'destination': step.destination,
        'memory_mb': step.memory_mb,
        'imbalance_before': dict(step.imbalance_before),
        'imbalance_after': dict(step.imbalance_after),
        'combined_before': step.combined_before,
        'combined_after': step.combined_after,
        'requires': step.requires,
    }


def standing(result: AggregateResult, host: str) -> list[dict[str, Any]]:
    """The rank of a host among the others, by policy."""
    rows = []
    for policy in result.policies:
        values = {score.host: score for score in policy.scores}
        if host not in values:
            continue
        ordered = sorted(score.value for score in policy.scores)
        own = values[host]
        rows.append(
            {
                'policy': policy.name,
                'weight': policy.weight,
                'threshold': policy.threshold,
                'value': own.value,
                'value_after': own.after,
                'lowest': ordered[0],
                'highest': ordered[-1],
                'rank': 1 + sum(value > own.value for value in ordered),
                'hosts': len(ordered),
                'mode': policy.mode.value,
                'over': policy.mode is Mode.SPREAD
                and own.value - ordered[0] > policy.threshold + 1e-9,
            }
        )
    return rows


def role(roles: Mapping[str, Mapping[str, Any]]) -> str:
    does = [role for role, side in roles.items() if side['moves']]
    return {0: 'neither', 1: does[0] if does else '', 2: 'both'}[len(does)]
