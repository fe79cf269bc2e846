# SPDX-License-Identifier: Apache-2.0
"""The forecast by windows: how well each tells the next half hour."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from kronos.policies.windows import NOW, Window
from kronos.simulate.windows import Table, Windowed, ticks_of

AHEAD_SECONDS = 1800.0
CANDIDATES = (
    NOW,
    *(Window('avg', minutes * 60.0) for minutes in (15, 30, 60, 120, 240)),
)
"""What is tried."""
NEARLY = 1.05
"""Times the least error: no difference that the loop would show."""
SERVERS = 2000
MOMENTS = 200
"""So many are looked at, evenly taken."""


def errors(
    usage: Table, step: float, candidates: Sequence[Window] = CANDIDATES
) -> dict[Window, float]:
    """By window its mean error, as ratio of the mean usage.

    :param usage: by tick and server; NaN: not known
    :param step: seconds from tick to tick
    :returns: only what the length of the load allows
    """
    ahead = max(1, round(AHEAD_SECONDS / step))
    table = _sample(usage)
    if not table.shape[1]:
        return {}
    usable = [each for each in candidates if each.seconds >= step]
    usable = [*(each for each in candidates if each == NOW), *usable]
    lengths = {window: ticks_of(window, step) for window in usable}
    # All are judged by the same moments, as far as the load allows.
    common = max(
        (ticks for ticks in lengths.values() if 2 * ticks <= len(table)),
        default=1,
    )
    result: dict[Window, float] = {}
    for window in usable:
        first = max(lengths[window], common) - 1
        last = len(table) - ahead
        if last <= first:
            continue
        windowed = Windowed(table, window, step)
        ticks = np.unique(np.linspace(first, last - 1, MOMENTS).astype(int))
        gaps, means = [], []
        for tick in ticks.tolist():
            then = _mean(table[tick + 1 : tick + 1 + ahead])
            gaps.append(np.abs(windowed.at(tick) - then))
            means.append(then)
        mean = float(np.nanmean(means)) if means else 0.0
        if mean > 0:
            result[window] = float(np.nanmean(gaps)) / mean
    return result


def best(errors: Mapping[Window, float]) -> Window:
    """The shortest of the windows that are nearly as good as the best.

    It follows a change sooner.
    """
    least = min(errors.values())
    good = [each for each, error in errors.items() if error <= NEARLY * least]
    return min(good, key=lambda window: window.seconds)


def _sample(usage: Table) -> npt.NDArray[np.float32]:
    """Some servers, those that live long enough to be told anything of."""
    columns = np.flatnonzero((~np.isnan(usage)).sum(axis=0) > 1)
    every = max(1, len(columns) // SERVERS)
    sample: npt.NDArray[np.float32] = np.asarray(usage[:, columns[::every]])
    return sample


def _mean(rows: Table) -> npt.NDArray[np.float64]:
    """By column; NaN where a row lacks it."""
    mean: npt.NDArray[np.float64] = rows.mean(axis=0, dtype=np.float64)
    return mean
