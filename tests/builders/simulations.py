# SPDX-License-Identifier: Apache-2.0
"""Audits and columns to simulate, for the tests."""

from typing import Any

import numpy as np
import numpy.typing as npt

from kronos.engine.settings import PlanMode, SearchName
from kronos.simulate.audits import Audit
from kronos.simulate.columns import Column, Kind
from kronos.simulate.load import Load
from kronos.simulate.meter import QueryWindows
from kronos.snapshots import settings_from_conf
from kronos.snapshots.scopes import ScopeRequest
from tests.builders import loads


def audit(
    load: Load,
    mode: PlanMode = PlanMode.SPREAD,
    budget: int = 3,
    windows: QueryWindows | None = None,
    interval: float = 300.0,
    **settings: Any,
) -> Audit:
    """A greedy audit with the options of the default configuration."""
    values = settings_from_conf.default_settings()
    values.search = SearchName.GREEDY
    for name, value in settings.items():
        setattr(values, name, value)
    settings_from_conf.ask(values, values, mode, max_migrations=budget)
    policies = load.recording.policies
    return Audit(
        policies,
        values,
        ScopeRequest([loads.AGGREGATE]),
        interval,
        windows={
            policy.name: windows or QueryWindows() for policy in policies
        },
        strategy=f'kronos_{mode.value}',
    )


def column(load: Load, kind: Kind = Kind.ENGINE, **fields: Any) -> Column:
    return Column(kind.value, [audit(load, **fields)], kind)


def noisy(ticks: int, servers: int, seed: int = 1) -> npt.NDArray[np.float64]:
    """Usages in cores: most of the variance is between servers."""
    rng = np.random.default_rng(seed)
    mean = rng.lognormal(-1.5, 1.0, servers)
    return np.asarray(mean * rng.lognormal(0.0, 0.3, (ticks, servers)))
