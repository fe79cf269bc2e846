# SPDX-License-Identifier: Apache-2.0
"""The efficacy of a plan: the numbers of its goal, and their share.

Names, units and schemas are frozen: Watcher cancels all audits of a goal
whose specification changes.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from watcher.decision_engine.goal.efficacy import base, indicators
from watcher.decision_engine.solution import efficacy

from kronos.engine.types import CycleReport


class Number(indicators.IndicatorSpecification):
    """A required number that is not negative."""

    def __init__(self, name: str, description: str) -> None:
        super().__init__(name, description, unit=None, required=True)

    @property
    def schema(self) -> dict[str, Any]:
        return {'type': 'number', 'minimum': 0}


@dataclass(frozen=True)
class Measure:
    """An indicator, and how a plan is measured by it."""

    name: str
    description: str
    of: Callable[[CycleReport], float]


@dataclass(frozen=True)
class Share:
    """The success as a whole: how much of an indicator a plan takes."""

    name: str
    description: str
    before: str
    after: str
    """The two indicators that it is computed of."""


class Efficacy(base.EfficacySpecification):
    """The numbers of a goal, and its share."""

    def __init__(self, measures: Iterable[Measure], share: Share) -> None:
        self._measures = measures
        self._share = share
        self.beside: list[efficacy.Indicator] = []
        """What a plan says of itself beside the share. It is no part of the
        specification, which is frozen."""
        super().__init__()

    def get_indicators_specifications(self) -> list[Number]:
        return [
            Number(measure.name, measure.description)
            for measure in self._measures
        ]

    def get_global_efficacy_indicator(
        self, indicators_map: Any = None
    ) -> list[efficacy.Indicator]:
        """In percent; 0 where there was nothing to begin with."""
        before = after = 0.0
        if indicators_map:
            before = getattr(indicators_map, self._share.before)
            after = getattr(indicators_map, self._share.after)
        removed = 100 * (before - after) / before if before > 0 else 0.0
        return [
            efficacy.Indicator(
                name=self._share.name,
                description=self._share.description,
                unit='%',
                value=round(max(removed, 0.0), 1),
            ),
            *self.beside,
        ]
