# SPDX-License-Identifier: Apache-2.0
"""The evaluation of a policy: whether it can be used, and its values."""

import math
from dataclasses import dataclass, field

from kronos.engine import wording
from kronos.engine.reasons import Code, Reason
from kronos.engine.scoring import (
    answer_health,
    attribution,
    labels,
    recent_moves,
    usages,
)
from kronos.engine.scoring.attribution import Attribution
from kronos.engine.scoring.usages import NOISE
from kronos.engine.settings import HostMatch, Settings, UnexplainedLoad
from kronos.engine.types import Health, PolicyResult, Reading, Sample, Snapshot
from kronos.policies import models
from kronos.policies.models import Mode, Policy, PolicyQuery

MAX_UNMATCHED = 20
"""Unmatched labels that are listed; a query may cover a whole cloud."""


@dataclass
class PolicyEvaluation:
    """One policy tried on the scope."""

    policy: Policy
    result: PolicyResult
    values: dict[str, float] = field(default_factory=dict)
    capacities: dict[str, float] | None = None
    """None when a usage is a share already."""
    loads: dict[str, float] = field(default_factory=dict)
    """Readings of the hosts' capacity in use, where ceilings matter."""
    unmatched: list[str] = field(default_factory=list)
    """All labels that are no host of the scope."""
    measured: usages.Measured | None = None
    """What instances are said to use; None: nobody asked."""
    attribution: Attribution | None = None
    """The same held against their hosts; None: the literal rule."""
    warnings: list[str] = field(default_factory=list)

    def gaps(self, host: str) -> list[Reason]:
        """Which values of a host are lacking for it to take part."""
        name, gaps = self.policy.name, []
        if host not in self.values:
            text = f'policy {name} has no fresh sample for it'
            gaps.append(Reason(text, Code.HOST_NO_SAMPLE, name))
        if self.capacities is not None and host not in self.capacities:
            text = (
                f'policy {name}: host_capacity_query has no value above 0 '
                'for it'
            )
            gaps.append(Reason(text, Code.HOST_NO_CAPACITY, name))
        return gaps


class _Unusable(Exception):
    """A policy cannot be used; the text is the reason. Never leaves here."""


def asks_capacity(policy: Policy, settings: Settings) -> bool:
    """Whether ``capacity_query`` is run, and its answer needed."""
    if policy.mode is Mode.PACK:
        return True
    return policy.capacity_query is not None and settings.uses_ceilings


def asks(query: PolicyQuery, policy: Policy, settings: Settings) -> bool:
    """Whether a query of a policy is run, and its answer needed."""
    if getattr(policy, query.field) is None:
        return False
    return not query.for_ceilings or asks_capacity(policy, settings)


def attempt(
    policy: Policy,
    snapshot: Snapshot,
    available: list[str],
    settings: Settings,
) -> PolicyEvaluation:
    evaluated = PolicyEvaluation(
        policy,
        PolicyResult(
            policy.name,
            policy.weight,
            policy.threshold,
            policy.mode,
            policy.capacity_threshold,
        ),
    )
    try:
        _measure(evaluated, snapshot, available, settings)
    except _Unusable as error:
        evaluated.result.skipped = f'policy {policy.name}: {error}'
        evaluated.result.weight = 0.0
    return evaluated


def _measure(
    evaluated: PolicyEvaluation,
    snapshot: Snapshot,
    available: list[str],
    settings: Settings,
) -> None:
    answers = _answers(evaluated.policy, snapshot, settings)
    _require_usable(answers, settings, evaluated)
    values = _by_host(
        'imbalance_query', answers, snapshot, settings, evaluated
    )
    evaluated.values = _in_range('imbalance_query', values)
    missing = [host for host in available if host not in values]
    if missing:
        evaluated.result.missing_hosts = missing
        evaluated.result.health = Health.PARTIAL
        evaluated.warnings.append(_missing_text(evaluated, settings))
    _check_coverage('imbalance_query', values, available, settings)
    if 'host_capacity_query' in answers:
        sizes = _by_host(
            'host_capacity_query', answers, snapshot, settings, evaluated
        )
        evaluated.capacities = {
            host: value for host, value in sizes.items() if value > 0.0
        }
        _check_coverage(
            'host_capacity_query', evaluated.capacities, available, settings
        )
    evaluated.loads = evaluated.values
    if 'capacity_query' in answers:
        evaluated.loads = _in_range(
            'capacity_query',
            _by_host('capacity_query', answers, snapshot, settings, evaluated),
        )
        _check_coverage('capacity_query', evaluated.loads, available, settings)
    if 'vm_profile_query' in answers:
        _check_profiles(evaluated, snapshot, settings)


def _check_profiles(
    evaluated: PolicyEvaluation, snapshot: Snapshot, settings: Settings
) -> None:
    """Compare the usages of servers with the values of their hosts."""
    policy = evaluated.policy
    names = usages.named(snapshot, policy.vm_profile_label_type)
    evaluated.measured = usages.measure(policy, snapshot, settings, names)
    if settings.unexplained_load is UnexplainedLoad.IGNORED:
        return
    evaluated.attribution = _attributed(evaluated, snapshot)
    moves = recent_moves.of(snapshot, policy, evaluated.measured.usage)
    if moves.ages:
        shown, (scores, loads) = (
            evaluated.attribution,
            recent_moves.windows_of(policy),
        )
        evaluated.loads = moves.corrected(evaluated.loads, shown, loads)
        evaluated.values = moves.corrected(evaluated.values, shown, scores)
        evaluated.attribution = _attributed(evaluated, snapshot)
    if fault := evaluated.attribution.fault:
        raise _Unusable(f'vm_profile_query: {fault}')


def _attributed(
    evaluated: PolicyEvaluation, snapshot: Snapshot
) -> Attribution:
    usage = evaluated.measured.usage if evaluated.measured else {}
    return attribution.of(
        evaluated.policy,
        snapshot,
        evaluated.values,
        evaluated.capacities,
        usage,
    )


def _answers(
    policy: Policy, snapshot: Snapshot, settings: Settings
) -> dict[str, Reading]:
    """The readings of a policy, by the field of their query.

    A profile that nobody asked for is no obstacle here: who only ranks
    hosts needs none.
    """
    readings = snapshot.readings.get(policy.name)
    if readings is None:
        raise _Unusable('imbalance_query: it was not queried')
    answers: dict[str, Reading] = {}
    for row in models.QUERIES:
        if not asks(row, policy, settings):
            continue
        reading = getattr(readings, row.reading)
        if reading is not None:
            answers[row.field] = reading
        elif not row.label_type:
            raise _Unusable(f'{row.field}: there is no reading of it')
    return answers


def _require_usable(
    answers: dict[str, Reading],
    settings: Settings,
    evaluated: PolicyEvaluation,
) -> None:
    """Warn of what is missing from answers that can be used.

    :raises _Unusable: an answer cannot be used
    """
    policy, partial = evaluated.policy, settings.partial_answers
    fields = {row.field: row.label for row in models.QUERIES}
    bad: list[tuple[str, str]] = []
    for query, reading in answers.items():
        if why := answer_health.why_unusable(reading, partial):
            bad.append((query, why))
            continue
        if reading.incomplete:
            evaluated.result.health = Health.PARTIAL
        label = getattr(policy, fields[query])
        evaluated.warnings += [
            f'policy {policy.name}: {query}: {text}'
            for text in answer_health.doubts(reading, label)
        ]
    for query, why in bad[:1]:
        evaluated.result.health = answers[query].health
        raise _Unusable(f'{query}: {why}')


def _by_host(
    query: str,
    answers: dict[str, Reading],
    snapshot: Snapshot,
    settings: Settings,
    evaluated: PolicyEvaluation,
) -> dict[str, float]:
    """One finite value per host of the scope; NaN and Inf are missing."""
    samples = answers[query].samples
    matches = labels.match_hosts(
        (sample.label for sample in samples),
        snapshot.hosts,
        settings.host_match,
    )
    for label, others in matches.ambiguous.items():
        evaluated.warnings.append(
            f'policy {evaluated.policy.name}: {query}: label {label!r} is not '
            f'used: it cannot be distinguished from {wording.some(others)}'
        )
    if query == 'imbalance_query':
        evaluated.unmatched = matches.unmatched
        evaluated.result.unmatched_labels = matches.unmatched[:MAX_UNMATCHED]
    first: dict[str, Sample] = {}
    for sample in samples:
        host = matches.hosts.get(sample.label)
        if host is None or not math.isfinite(sample.value):
            continue
        other = first.setdefault(host, sample)
        if other is not sample:
            raise _Unusable(
                f'{query}: two series for host {host}: {_shown(other)} and '
                f'{_shown(sample)}; aggregate them in the query'
            )
    return {host: sample.value for host, sample in first.items()}


def _shown(sample: Sample) -> str:
    return f'{sample.series or sample.label} = {sample.value:g}'


def _in_range(query: str, values: dict[str, float]) -> dict[str, float]:
    """The values, noise clamped.

    :raises _Unusable: one is outside [0, 1]
    """
    wrong = {
        host: value
        for host, value in sorted(values.items())
        if not -NOISE <= value <= 1.0 + NOISE
    }
    if wrong:
        named = [f'{host} is at {value:g}' for host, value in wrong.items()]
        raise _Unusable(
            f'{query}: must be in [0, 1] for every host, but '
            f'{wording.some(named)}'
        )
    return {host: min(max(0.0, value), 1.0) for host, value in values.items()}


def _check_coverage(
    query: str,
    values: dict[str, float],
    available: list[str],
    settings: Settings,
) -> None:
    measured = sum(host in values for host in available)
    needed = settings.min_host_coverage * len(available)
    if available and (measured < needed - NOISE or not measured):
        lacking = [host for host in available if host not in values]
        raise _Unusable(
            f'{query}: {measured} of {len(available)} available hosts have '
            'a fresh, usable value, min_host_coverage is '
            f'{settings.min_host_coverage:g}; without: {wording.some(lacking)}'
        )


def _missing_text(evaluated: PolicyEvaluation, settings: Settings) -> str:
    missing = evaluated.result.missing_hosts
    text = (
        f'policy {evaluated.policy.name}: imbalance_query: no value for '
        f'{wording.some(missing)}'
    )
    short = {labels.short_name(host) for host in missing}
    if settings.host_match is HostMatch.EXACT:
        alike = [
            label
            for label in evaluated.unmatched
            if labels.short_name(label) in short
        ]
        if alike:
            text += (
                f'; there is {alike[0]!r}, which [kronos] host_match = short '
                'would match'
            )
    return text
