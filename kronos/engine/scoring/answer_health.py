# SPDX-License-Identifier: Apache-2.0
"""The health of an answer of Prometheus: whole, partial, stale, unreachable.

The client judges each answer here, once. Planning, the actions, the weigher,
recordings and the commands read of the result what it means to them: whether
a policy can use it, whether it is known that nothing is missing from it, and
what an operator should hear of it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from kronos.common import durations
from kronos.engine import wording
from kronos.engine.scoring import labels
from kronos.engine.settings import PartialAnswers
from kronos.engine.types import ClockDifference, Health, Reading, Sample

SKEW_SECONDS = 5.0
"""Clocks that differ by more are reported."""
CLOCKS = 'Prometheus: '
"""What a warning of clocks that differ begins with."""
_ONE_MOMENT = 1.0
"""Seconds between the samples of one query at most."""
_DAY = 86400


@dataclass
class QueryAnswer:
    """An instant vector as it came."""

    samples: list[Sample]
    """Without a label where the series lacks it."""
    asked_at: float
    """Unix seconds by the clock here, as the next one."""
    answered_at: float
    dated: float | None = None
    """The Date header, in Unix seconds; None: there is none."""
    incomplete: list[str] = field(default_factory=list)
    """Why series may be missing, by Prometheus itself."""


def judge(
    query: str, label: str, answer: QueryAnswer, staleness_threshold: float
) -> Reading:
    """What an answer is good for.

    :param label: each series should have it; '': none is asked for
    :param staleness_threshold: seconds after which a sample does not count
    """
    samples = [s for s in answer.samples if s.label or not label]
    reading = Reading(
        query,
        incomplete=wording.some(answer.incomplete, 3),
        clock=_clock(answer),
    )
    if reading.incomplete:
        reading.health = Health.PARTIAL
    _note_unlabelled(reading, label, answer.samples)
    if answer.samples and not samples:
        reading.health = Health.PARTIAL
        reading.error = _none_labelled(reading, label)
        return reading
    oldest = answer.answered_at - staleness_threshold
    reading.samples = [s for s in samples if s.timestamp >= oldest]
    reading.too_old = len(samples) - len(reading.samples)
    limit = f'staleness_threshold is {durations.exact(staleness_threshold)}'
    clock = reading.clock
    is_behind = clock and clock.seconds < -staleness_threshold
    if not is_behind and (reading.samples or not samples):
        return reading
    reading.health, reading.samples = Health.STALE, []
    if clock:
        reading.error = (
            f'{_difference(clock)}, so no sample counts as fresh; {limit}. '
            f'{_SYNCHRONISE}'
        )
    else:
        age = answer.answered_at - max(sample.timestamp for sample in samples)
        reading.error = (
            'the newest sample is '
            f'{durations.beside(age, staleness_threshold)} old; {limit}'
        )
    return reading


def why_unusable(reading: Reading, partial: PartialAnswers) -> str:
    """Why a policy cannot use an answer; '' if it can.

    :param partial: ``[kronos] partial_answers``
    """
    if reading.error or reading.health in (Health.STALE, Health.UNREACHABLE):
        return reading.error or reading.health.value
    if reading.incomplete and partial is PartialAnswers.SKIP:
        return f'{why_partial(reading)}; [kronos] partial_answers is skip'
    return ''


def why_unknown(reading: Reading) -> str:
    """Why a series may be missing from an answer; '' if none is.

    For what fails closed: who is not in it may be in the part that is missing.
    """
    if reading.error or reading.health in (Health.STALE, Health.UNREACHABLE):
        return reading.error or reading.health.value
    if reading.health is Health.PARTIAL:
        return why_partial(reading)
    if reading.too_old:
        return (
            f'{reading.too_old} of its series are older than '
            'staleness_threshold'
        )
    return ''


def may_pass(reading: Reading) -> bool:
    """Whether the next answer may be better though nothing is changed."""
    return (
        reading.is_away
        or reading.health is Health.STALE
        or bool(reading.incomplete or reading.too_old)
    )


def why_partial(reading: Reading) -> str:
    """That series may be missing from an answer, and why."""
    why = reading.incomplete or 'series that were expected are not in it'
    return f'the answer is partial ({why}), so series may be missing from it'


def doubts(reading: Reading, label: str) -> list[str]:
    """What an operator should hear of an answer that is used."""
    texts = []
    if reading.incomplete:
        texts.append(
            f'{why_partial(reading)}, and sums over it are too small; see '
            'that every store of Prometheus answers'
        )
    if reading.unlabelled and not reading.error:
        texts.append(unlabelled(reading, label))
    return texts


def unlabelled(reading: Reading, label: str) -> str:
    """Which series are left out since they lack the label."""
    verbs = ('has', 'is') if reading.unlabelled == 1 else ('have', 'are')
    such = reading.unlabelled_series.replace('{}', '')
    return (
        f'{reading.unlabelled} series of the answer {verbs[0]} no label '
        f'"{label}" and {verbs[1]} left out'
        + (f', such as {such}' if such else '')
        + f'; add {{{label}!=""}} to the selectors of the query, or give '
        'the label to all targets'
    )


def clocks(readings: Iterable[Reading]) -> str:
    """That the clocks differ, by the answer that shows most; '' if not."""
    differences = [
        reading.clock for reading in readings if reading.clock is not None
    ]
    if not differences:
        return ''
    most = max(differences, key=lambda difference: abs(difference.seconds))
    return f'{CLOCKS}{_difference(most)}. {_SYNCHRONISE}'


_SYNCHRONISE = 'Synchronise the clocks of both machines (NTP)'


def _clock(answer: QueryAnswer) -> ClockDifference | None:
    """How the clocks differ.

    Prometheus gives each sample of an instant query the moment of the query
    by its own clock, and leaves out itself what is too old; so samples of one
    age are no sign of old samples. Without samples its Date header counts.
    """
    stamps = {sample.timestamp for sample in answer.samples}
    remote = max(stamps, default=answer.dated)
    if stamps and max(stamps) - min(stamps) > _ONE_MOMENT:
        return None
    if remote is None or not math.isfinite(remote):
        return None
    # The query was evaluated at some moment between the two.
    local = min(max(remote, answer.asked_at), answer.answered_at)
    if abs(remote - local) <= SKEW_SECONDS:
        return None
    return ClockDifference(remote, local)


def _difference(clock: ClockDifference) -> str:
    seconds = clock.seconds
    side = 'ahead of' if seconds > 0 else 'behind'
    return (
        f"its clock is {abs(seconds):.1f} s {side} this host's "
        f'({_time(clock.there)} there, {_time(clock.here)} here, UTC)'
    )


def _time(moment: float) -> str:
    seconds = int(moment) % _DAY
    return f'{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}'


def _note_unlabelled(
    reading: Reading, label: str, samples: list[Sample]
) -> None:
    if not label:
        return
    lacking = [sample for sample in samples if not sample.label]
    reading.unlabelled = len(lacking)
    reading.unlabelled_series = lacking[0].series if lacking else ''


def _none_labelled(reading: Reading, label: str) -> str:
    series = reading.unlabelled_series
    names = ', '.join(sorted(labels.of_series(series))) or 'none'
    return (
        f'no series has the label "{label}"; the labels of {series}: {names}. '
        'Keep the label with "by", or name another one in the policy'
    )
