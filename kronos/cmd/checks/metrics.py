# SPDX-License-Identifier: Apache-2.0
"""The checks of the metrics: what Prometheus answers to each query."""

import math
import time
from collections.abc import Collection, Sequence
from typing import Any

from kronos.clients.prometheus import remedies
from kronos.cmd.checks.causes.answers import Causes, CheckedAnswer
from kronos.cmd.checks.findings import Cause, Findings, group
from kronos.engine.scoring import answer_health, evaluation, labels
from kronos.engine.settings import HostMatch, PartialAnswers
from kronos.engine.types import Health, Reading
from kronos.policies import models
from kronos.policies.models import Policy

EXAMPLES = 5
SET_CLOCKS = 'synchronise the clocks of this machine and of Prometheus (NTP)'
SEE_STORES = 'check that every store of Prometheus answers'


def check(
    policies: Sequence[Policy], causes: Causes, findings: Findings
) -> list[dict[str, Any]]:
    """Look at each answer; what was asked before is not asked again.

    :param causes: gets what keeps the policies from being used
    :returns: a row for each query
    """
    hosts, settings = causes.hosts, causes.settings
    rows = []
    for policy in policies:
        for query in models.QUERIES:
            text = getattr(policy, query.field)
            label = getattr(policy, query.label)
            if not text:
                continue
            reading = causes.prometheus.instant_query(text, label)
            is_used = evaluation.asks(query, policy, settings)
            row = {
                'policy': policy.name,
                'field': query.field,
                'label': label,
                'is_used': is_used,
                **_answer(reading),
            }
            if not query.label_type and hosts:
                row |= _coverage(reading, hosts, settings.host_match)
            row['series_without_label'] = reading.unlabelled
            rows.append(row)
            if reading.is_away:
                report_away(reading, findings)
            answer = CheckedAnswer(policy, query, reading, is_used)
            causes.look(answer)
            report_clock(reading, findings)
            _report_incomplete(answer, settings.partial_answers, findings)
    return rows


def report_clock(reading: Reading, to: Findings) -> None:
    """Tell once that the clocks differ, whatever was asked."""
    text = answer_health.clocks([reading])
    if not text or any(finding.code == 'clock' for finding in to.items):
        return
    report = to.error if reading.health is Health.STALE else to.warning
    report('clock', text, SET_CLOCKS, key=Cause.CLOCK)


def remedy(reading: Reading) -> tuple[str, str]:
    """What to do about an answer where its query is not to blame.

    :returns: and its cause; empty if the query may be
    """
    if reading.clock and reading.health is Health.STALE:
        return SET_CLOCKS, Cause.CLOCK
    if reading.remedy:
        return reading.remedy, Cause.PROMETHEUS
    if reading.incomplete and not reading.error:
        return SEE_STORES, Cause.INCOMPLETE
    return '', ''


def report_away(reading: Reading, to: Findings) -> None:
    """Tell that Prometheus is away, whatever it was asked."""
    because = [Cause.FILES, group(remedies.GROUP)]
    if reading.remedy in (remedies.ENDPOINT, remedies.ROLE):
        because.append(Cause.KEYSTONE)
    to.error(
        'prometheus-away',
        reading.error,
        reading.remedy or remedies.LISTENING,
        key=Cause.PROMETHEUS,
        because=because,
    )


def _answer(reading: Reading) -> dict[str, Any]:
    values = [s.value for s in reading.samples if math.isfinite(s.value)]
    stamps = [s.timestamp for s in reading.samples]
    return {
        'query': reading.query,
        'health': reading.health.value,
        'error': reading.error,
        'series': len(reading.samples),
        'lowest': min(values, default=None),
        'highest': max(values, default=None),
        'oldest_seconds': _age(min(stamps, default=None)),
    }


def _age(stamp: float | None) -> float | None:
    return None if stamp is None else round(time.time() - stamp, 1)


def _coverage(
    reading: Reading, hosts: Collection[str], how: HostMatch
) -> dict[str, Any]:
    """Which hosts of the scopes have a value, and their range."""
    finite = [s for s in reading.samples if math.isfinite(s.value)]
    matches = labels.match_hosts((s.label for s in finite), hosts, how)
    values = [s.value for s in finite if s.label in matches.hosts]
    missing = sorted(set(hosts) - set(matches.hosts.values()))
    return {
        'hosts': len(hosts) - len(missing),
        'hosts_of_scope': len(hosts),
        'hosts_missing': missing[:EXAMPLES],
        'labels_unmatched': matches.unmatched[:EXAMPLES],
        'labels_unmatched_count': len(matches.unmatched),
        'lowest': min(values, default=None),
        'highest': max(values, default=None),
    }


def _report_incomplete(
    answer: CheckedAnswer, partial: PartialAnswers, to: Findings
) -> None:
    """Tell what is missing from an answer that would do."""
    reading = answer.reading
    if reading.error:
        return
    if reading.incomplete:
        is_skipped = partial is PartialAnswers.SKIP and answer.is_used
        report = to.error if is_skipped else to.warning
        report(
            'answer-partial',
            f'{answer.what}: {answer_health.why_partial(reading)}',
            SEE_STORES,
            key=Cause.INCOMPLETE,
        )
    if reading.unlabelled:
        to.warning(
            'series-unlabelled',
            f'{answer.what}: '
            + answer_health.unlabelled(reading, answer.label),
            'this is right if such series belong to no host and no server',
        )
