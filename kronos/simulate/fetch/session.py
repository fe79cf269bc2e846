# SPDX-License-Identifier: Apache-2.0
"""The session of a fetch: from a cloud and its Prometheus to a load."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kronos.clients.nova.server_lives import ServerLife
from kronos.common import durations, exceptions
from kronos.common.exceptions import ArchiveError, ConfigurationError
from kronos.engine.types import Event, Reading
from kronos.policies import promql, windows
from kronos.policies.models import Policy
from kronos.recordings import redaction
from kronos.recordings.recording import Recording
from kronos.simulate import load_schema
from kronos.simulate.fetch import (
    assembly,
    documents,
    limits,
    lives,
    raw_queries,
)
from kronos.simulate.fetch.ranges import RangeReader, RangeSource
from kronos.simulate.fetch.raw_queries import RawQuery
from kronos.simulate.fetch.workplace import (
    FORMAT_VERSION,
    Plan,
    PolicyNotes,
    PolicyPlan,
    Wish,
    Workplace,
    host_piece,
    usage_piece,
)

STEP = 300
ENOUGH = 0.95
"""Of the series above 0 that a query gives; a raw one that gives fewer lacks
samples, or sees the same one again and again, where the exporter gets them
less often than it is scraped."""
WIDER = (1, 2, 4)
"""So many steps a raw query may average over, if it must."""


class Metrics(RangeSource, Protocol):
    """Prometheus."""

    def instant_query(self, query: str, label_key: str) -> Reading:
        """The newest value of each series; never raises for the world."""


@dataclass
class Source:
    """The cloud that is fetched from; nothing is asked before it is used."""

    record: Callable[[], Recording]
    """The cloud as it is now."""
    changed: Callable[[float], Iterable[ServerLife]]
    """The servers that came, changed or went since a time."""
    moves: Callable[[float], Iterable[Event]]
    """The same of moves."""
    prometheus: Callable[[], Metrics]


@dataclass
class Report:
    """What a user sees of it."""

    step: Callable[[str], None]
    count: Callable[[int, int], None]
    line: Callable[[str], None] = field(default=lambda _text: None)


def fetch(
    directory: str,
    wish: Wish,
    source: Source,
    now: float,
    report: Report,
) -> list[str]:
    """Fetch a load, or go on with what is there of it.

    :param directory: is made, empty, or holds such a fetch
    :param now: Unix seconds; a fetch that goes on keeps its own
    :returns: what the load cannot tell, as sentences
    :raises ArchiveError: the directory holds something else, or cannot be
        written
    :raises ClientError: Nova or Prometheus refuses, or cannot be reached
    :raises ConfigurationError: the wish does not fit
    """
    place = Workplace(directory)
    with place.locked():
        return _fetched(place, wish, source, now, report)


def _fetched(
    place: Workplace, wish: Wish, source: Source, now: float, report: Report
) -> list[str]:
    directory = str(place.target)
    if place.is_whole:
        if not place.is_there:
            raise ArchiveError(
                path=directory,
                reason='there is a load already; use a new directory',
            )
        # It was cut while it was removed.
        place.finish()
        return []
    prometheus = source.prometheus()
    if place.is_begun:
        plan = place.plan()
        place.tidy()
        _require_same(directory, plan.wish, wish)
        report.line(f'continuing the fetch in {directory}')
    else:
        plan = _begin(place, wish, source, prometheus, now, report)
    _fetch_pieces(place, plan, prometheus, report)
    return _assemble(place, plan, report)


def _require_same(directory: str, begun: Wish, wish: Wish) -> None:
    if begun == wish:
        return
    what = 'other policies'
    if begun.seconds != wish.seconds or begun.step != wish.step:
        what = (
            f'{durations.exact(begun.seconds)} by steps of '
            f'{durations.exact(begun.step)}'
        )
    elif begun.raw != wish.raw:
        what = 'other raw queries'
    raise ArchiveError(
        path=directory,
        reason=f'a fetch of {what} has started there. Repeat its command to '
        'continue, or use a new directory',
    )


def _begin(
    place: Workplace,
    wish: Wish,
    source: Source,
    prometheus: Metrics,
    now: float,
    report: Report,
) -> Plan:
    """Look at the cloud as it is, and plan what to ask of its past."""
    ticks = _ticks(wish)
    last = math.floor(now / wish.step) * wish.step
    start = float(last - (ticks - 1) * wish.step)
    recording = redaction.redacted(source.record())
    policies = [policy for policy in recording.policies if policy.enabled]
    _require_known(wish, policies)
    report.step('reading from Prometheus the series of the policies')
    policy_plans = [
        _policy_plan(policy, wish, prometheus) for policy in policies
    ]
    report.step('reading from Nova the servers of the past')
    every = lives.joined(
        recording.gathered.instances,
        source.changed(start),
        source.moves(start),
        recording.gathered.groups,
    )
    plan = Plan(FORMAT_VERSION, start, wish.step, ticks, policy_plans, wish)
    place.begin(plan, recording, every)
    return plan


def _ticks(wish: Wish) -> int:
    """:raises ConfigurationError: they are too few, or too many"""
    ticks = math.floor(wish.seconds / wish.step)
    if ticks < 2:
        raise ConfigurationError(
            reason=f'{durations.exact(wish.seconds)} hold fewer than two '
            f'steps of {durations.exact(wish.step)}; fetch more'
        )
    if ticks > load_schema.MOST_TICKS:
        raise ConfigurationError(
            reason=f'{durations.exact(wish.seconds)} hold more than '
            f'{load_schema.MOST_TICKS} steps of '
            f'{durations.exact(wish.step)}; fetch less, or by longer steps'
        )
    return ticks


def _require_known(wish: Wish, policies: Sequence[Policy]) -> None:
    names = {policy.name for policy in policies}
    for name in wish.raw:
        if name not in names:
            raise ConfigurationError(
                reason=f'there is a raw query for policy {name}, which is '
                f'not among the enabled ones: {", ".join(sorted(names))}'
            )


def _policy_plan(
    policy: Policy, wish: Wish, prometheus: Metrics
) -> PolicyPlan:
    """The raw queries of a policy, and the windows that are not in them."""
    usage_window = windows.of_query(policy.vm_profile_query)
    if policy.name in wish.raw:
        usage = RawQuery(wish.raw[policy.name])
        _count(usage.text, prometheus)
    else:
        usage = _raw(policy.vm_profile_query, wish.step, prometheus)
    hosts = _raw(policy.imbalance_query, wish.step, prometheus)
    host_window = windows.of_query(policy.imbalance_query)
    return PolicyPlan(
        policy.name,
        usage.text,
        policy.vm_profile_label,
        hosts.text,
        policy.host_label,
        str(windows.NOW if usage.is_windowed else usage_window),
        str(windows.NOW if hosts.is_windowed else host_window),
        [
            *(f'vm_profile_query: {text}' for text in usage.doubts),
            *(f'imbalance_query: {text}' for text in hosts.doubts),
        ],
    )


def _raw(query: str, step: int, prometheus: Metrics) -> RawQuery:
    """The raw query with the shortest window that has enough samples."""
    plain = promql.text(promql.parse(query))
    expected = _count(f'({plain}) > 0', prometheus)
    for steps in WIDER:
        raw = raw_queries.derived(query, steps * step)
        if not raw.seconds:
            return raw
        number = _count(f'({raw.text}) > 0', prometheus)
        if number >= ENOUGH * expected:
            if steps == 1:
                return raw
            text = (
                f'its values are averages of {durations.exact(raw.seconds)}, '
                f'since {durations.exact(step)} have too few samples'
            )
            return RawQuery(raw.text, raw.seconds, [*raw.doubts, text])
    text = 'it is asked with its own windows: shorter ones have no samples'
    return RawQuery(plain, doubts=[text], is_windowed=True)


def _count(query: str, prometheus: Metrics) -> float:
    """How many series a query gives now.

    :raises PrometheusError: it is refused, or Prometheus cannot be reached
    """
    reading = prometheus.instant_query(f'count({query})', '')
    if reading.error:
        raise exceptions.PrometheusError(
            f'{reading.error} (query: {query:.300})'
        )
    return sum(sample.value for sample in reading.samples[:1])


def _fetch_pieces(
    place: Workplace, plan: Plan, prometheus: Metrics, report: Report
) -> None:
    """Fetch what is not there yet."""
    pieces = plan.pieces()
    policies = [
        policy_plan
        for policy_plan in plan.policies
        if place.notes(policy_plan.name) is None
    ]
    total = 2 * len(pieces) * len(policies)
    done = 0
    for policy_plan in policies:
        report.step(f'reading policy {policy_plan.name}')
        for name_of, query, label in (
            (usage_piece, policy_plan.usage_query, policy_plan.usage_label),
            (host_piece, policy_plan.host_query, policy_plan.host_label),
        ):
            reader = RangeReader(prometheus, plan.step)
            for piece in pieces:
                done += 1
                report.count(done, total)
                name = name_of(policy_plan.name, piece)
                if place.read(name, piece.ticks) is None:
                    block = reader.read(
                        query, label, plan.moment(piece.first), piece.ticks
                    )
                    place.write(name, block)


def _assemble(place: Workplace, plan: Plan, report: Report) -> list[str]:
    report.count(1, 1)
    report.step('writing the load')
    recording, every = place.recording(), place.lives()
    own = assembly.columns(plan, recording, every)
    anonymize = plan.wish.anonymize
    named = documents.other_names if anonymize else documents.own_names
    names = named(recording, own)
    assembly.write_placement(place, plan, own)
    texts = [*limits.ALWAYS, *limits.of_lives(every, own.lives)]
    for policy_plan in plan.policies:
        name = names.policies[policy_plan.name]
        notes = place.notes(policy_plan.name)
        if notes is None:
            work = assembly.PolicyAssembly(
                place, plan, policy_plan, recording, own
            )
            notes = PolicyNotes(work.write(name))
            place.finish_policy(policy_plan.name, notes)
        texts += [f'Policy {name}: {text}.' for text in notes.limits]
    documents.write(place, plan, names, own, texts, anonymize)
    place.finish()
    return texts
