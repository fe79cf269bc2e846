# SPDX-License-Identifier: Apache-2.0
"""The columns of a simulation: what is compared, and what each came to."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from kronos.policies.models import Mode
from kronos.simulate.accounting import Figures
from kronos.simulate.audits import Audit
from kronos.simulate.boots import BootCounts, Boots

Series = npt.NDArray[np.float32]


class Kind(StrEnum):
    """Who decides about moves."""

    ENGINE = 'engine'
    AS_IT_WAS = 'as it was'
    NOTHING = 'nothing moved'
    PLAIN_RULE = 'plain rule'


@dataclass
class Column:
    """One run of the loop."""

    name: str
    audits: list[Audit]
    """Several run side by side; they tell, too, which hosts are judged."""
    kind: Kind = Kind.ENGINE
    boots: Boots = field(default_factory=Boots)
    failures: float = 0.0
    """Ratio of the moves that fail."""
    seed: int = 0
    words: str = ''
    """Its name in a sentence; '': the name itself."""

    @property
    def fills(self) -> bool:
        """Whether hosts are to be filled, and not to be even."""
        return self.audits[0].enabled[0].mode is Mode.PACK


@dataclass(slots=True)
class Journey:
    """A move that arrived."""

    instance: str
    """Its uuid."""
    source: str
    destination: str
    at: float
    """Unix seconds."""
    name: str = ''
    """Of the server."""


@dataclass
class Result:
    """What a column came to."""

    name: str
    kind: Kind
    figures: Figures
    imbalance: dict[str, Series]
    """By policy, by tick: highest less lowest ratio of the hosts of a scope,
    on average over the scopes, each of which counts by its hosts."""
    hot: Series
    """Hosts above .9 by tick."""
    in_use: Series
    """Hosts with at least one server by tick."""
    journeys: list[Journey] = field(default_factory=list)
    first_plan: int = 0
    """Moves of the first plan."""
    ends: Counter[str] = field(default_factory=Counter)
    """How many scopes were planned, by the way in which that ended."""
    plans: int = 0
    plan_seconds: float = 0.0
    longest_plan: float = 0.0
    boots: BootCounts = field(default_factory=BootCounts)
    words: str = ''
    """As of the column."""
