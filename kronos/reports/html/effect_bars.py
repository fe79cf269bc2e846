# SPDX-License-Identifier: Apache-2.0
"""The bars of a policy's effect: each plan, predicted beside realised."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kronos.reports.html import formatting
from kronos.reports.html import scale as scales
from kronos.reports.html.scale import Scale


@dataclass
class EffectBar:
    """A measured plan; ``x`` are units of the scale."""

    plan: str
    """Uuid."""
    is_started: bool
    predicted: float
    realised: float
    """Below 0, which has no bar, if hosts went the other way."""
    x_predicted: float
    x_realised: float


@dataclass
class EffectFigure:
    """The measured plans of one policy, the newest first."""

    policy: str
    scale: Scale
    bars: list[EffectBar]


def figures(effect: Mapping[str, Any] | None) -> list[EffectFigure]:
    """A figure for each policy that a plan was measured for.

    :param effect: of a scope of the document; None: nothing was measured
    """
    by_policy: dict[str, list[tuple[Mapping[str, Any], Any, Any]]] = {}
    for plan in (effect or {}).get('plans', ()):
        for policy in plan['policies']:
            values = policy['predicted'], policy['realised']
            if all(map(formatting.is_number, values)):
                rows = by_policy.setdefault(policy['name'], [])
                rows.append((plan, *values))
    return [_figure(policy, rows) for policy, rows in by_policy.items()]


def _figure(
    policy: str, rows: list[tuple[Mapping[str, Any], float, float]]
) -> EffectFigure:
    scale = scales.scale(value for _, *values in rows for value in values)
    return EffectFigure(
        policy,
        scale,
        [
            EffectBar(
                plan['uuid'],
                plan['started'],
                predicted,
                realised,
                scale.position(predicted),
                scale.position(realised),
            )
            for plan, predicted, realised in rows
        ],
    )
