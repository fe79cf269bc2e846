# SPDX-License-Identifier: Apache-2.0
"""The history of a few servers: which window of it forecasts best.

One short query of the past for each policy; ``kronos-simulate --advise`` looks
at the whole load, and at more than windows.
"""

import json
import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from kronos.cmd.checks.findings import Findings
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.engine.types import Reading
from kronos.policies import promql, windows
from kronos.policies.models import Policy
from kronos.policies.windows import NOW, Window
from kronos.simulate.fetch import raw_queries
from kronos.simulate.fetch.ranges import Floats, RangeReader, RangeSource
from kronos.simulate.outcome import forecast

HOURS = 8
STEP = 300
SERVERS = 60
"""So many are asked for, evenly taken."""
MOST_SERIES = 20_000
"""Of more of them Prometheus would compute for long what nobody reads."""
LEAST_TICKS = 48
LEAST_SERVERS = 3
WIDER = (1, 2, 4)
"""So many steps a raw query may average over, if it must."""
ENOUGH = 0.9
"""Of the values that there may be."""
WORTH = 0.9
"""What is better than the window in force by less is not worth a word."""


class Readings(Protocol):
    """What has been asked of Prometheus already."""

    def instant_query(self, query: str, label_key: str = 'host') -> Reading:
        """The newest value of each series."""


@dataclass
class Forecast:
    """How well windows tell the next half hour of a policy's servers."""

    policy: str
    in_force: Window
    errors: dict[Window, float]
    """Mean errors, as ratios of the mean usage."""
    servers: int
    hours: float

    @property
    def best(self) -> Window:
        return forecast.best(self.errors)

    @property
    def error(self) -> float:
        """Of the window in force."""
        return self.errors[self.in_force]


def check(
    policies: Sequence[Policy],
    readings: Readings,
    prometheus: RangeSource,
    findings: Findings,
    clock: Callable[[], float] = time.time,
) -> list[dict[str, Any]]:
    """Look at each policy with enough history.

    :param readings: of the profile queries
    :returns: a row for each of them
    """
    rows = []
    for policy in policies:
        try:
            result = _forecast(policy, readings, prometheus, clock())
        except exceptions.PrometheusError:
            # The history is too long for it, or it has none to ask for.
            continue
        if result is None:
            continue
        rows.append(_row(result))
        if result.errors[result.best] < WORTH * result.error:
            _report(result, findings)
    return rows


def _report(result: Forecast, to: Findings) -> None:
    to.note(
        'window-forecast',
        f'policy {result.policy}: in the last {result.hours:.0f} h, '
        f'{result.best.words} predicted the next 30 min best, with an error '
        f'of {100 * result.errors[result.best]:.0f} % of the mean usage; the '
        f'error of {result.in_force.words} was {100 * result.error:.0f} %',
        f'to see the effect, run "{ShellCommand.SIMULATE_FETCH}", then '
        f'"{ShellCommand.SIMULATE_ADVISE}"',
    )


def _row(result: Forecast) -> dict[str, Any]:
    return {
        'policy': result.policy,
        'window': str(result.in_force),
        'forecast_error': result.error,
        'best_window': str(result.best),
        'best_forecast_error': result.errors[result.best],
        'servers_asked': result.servers,
        'hours': result.hours,
    }


def _forecast(
    policy: Policy, readings: Readings, prometheus: RangeSource, now: float
) -> Forecast | None:
    query, label = policy.vm_profile_query, policy.vm_profile_label
    names = _some(readings.instant_query(query, label))
    if len(names) < LEAST_SERVERS:
        return None
    table = _table(query, label, names, prometheus, now)
    if table is None:
        return None
    in_force = windows.of_query(query)
    if in_force.seconds <= STEP:
        in_force = NOW
    tried = dict.fromkeys([in_force, *forecast.CANDIDATES])
    errors = forecast.errors(table, STEP, list(tried))
    if in_force not in errors:
        return None
    return Forecast(
        policy.name,
        in_force,
        errors,
        len(names),
        len(table) * STEP / 3600,
    )


def _some(reading: Reading) -> list[str]:
    """The labels of a few servers that use something now."""
    names = sorted(
        {
            sample.label
            for sample in reading.samples
            if math.isfinite(sample.value) and sample.value > 0
        }
    )
    if reading.error or len(reading.samples) > MOST_SERIES:
        return []
    every = max(1, len(names) // SERVERS)
    return names[::every][:SERVERS]


def _table(
    query: str,
    label: str,
    names: Sequence[str],
    prometheus: RangeSource,
    now: float,
) -> Floats | None:
    """Raw usage by tick and server; None: there is not enough of it."""
    ticks = HOURS * 3600 // STEP
    start = math.floor(now / STEP) * STEP - (ticks - 1) * STEP
    for steps in WIDER:
        raw = raw_queries.derived(query, steps * STEP)
        selection = only(raw.text, label, names)
        reader = RangeReader(prometheus, STEP, len(names))
        block = reader.read(selection, label, float(start), ticks)
        if len(block.labels) >= ENOUGH * len(names):
            has_sample = np.isfinite(block.values).any(axis=1)
            values = block.values[int(np.argmax(has_sample)) :]
            if _is_whole(values):
                return values if len(values) >= LEAST_TICKS else None
        if not raw.seconds:
            break
    return None


def _is_whole(values: Floats) -> bool:
    """Whether nearly all is above 0 since each server came."""
    is_born = np.maximum.accumulate(np.isfinite(values), axis=0)
    return float((values[is_born] > 0).mean()) >= ENOUGH


def only(query: str, label: str, names: Sequence[str]) -> str:
    """The query with nothing but the series of some label values."""
    pattern = json.dumps(
        '|'.join(re.escape(name) for name in names), ensure_ascii=False
    )
    marker = '"kronos_kept", "1"'
    return (
        f'label_replace({promql.text(promql.parse(query))}, {marker}, '
        f'"{label}", {pattern}) and on (kronos_kept) '
        f'label_replace(vector(1), {marker}, "kronos_kept", "")'
    )
