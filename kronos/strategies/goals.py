# SPDX-License-Identifier: Apache-2.0
"""What do Kronos' strategies aim at, and how is success measured?

Names, units and schemas are frozen: Watcher cancels all audits of a goal
whose specification changes.
"""

from typing import Any

from watcher.decision_engine.goal import base
from watcher.decision_engine.goal.efficacy import base as efficacy_base
from watcher.decision_engine.goal.efficacy import indicators
from watcher.decision_engine.solution import efficacy

BALANCE = 'kronos_balance'


class Number(indicators.IndicatorSpecification):
    """A required number that is not negative."""

    def __init__(self, name: str, description: str, unit: str | None) -> None:
        super().__init__(name, description, unit, required=True)

    @property
    def schema(self) -> dict[str, Any]:
        return {'type': 'number', 'minimum': 0}


class BalanceEfficacy(efficacy_base.EfficacySpecification):
    """What a plan is expected to do to the hosts of the audit's scopes."""

    def get_indicators_specifications(self) -> list[Number]:
        return [
            Number(
                'combined_imbalance_before',
                'Weighted sum of the imbalances of the policies before the '
                'plan; of several scopes the most uneven one counts.',
                None,
            ),
            Number(
                'combined_imbalance_after',
                'The same, as simulated after the plan.',
                None,
            ),
            Number('migrations', 'Live migrations in the plan.', None),
            Number(
                'hosts_over_threshold_before',
                'Hosts further above the lowest host of a policy than its '
                'threshold, before the plan; summed over the scopes.',
                None,
            ),
            Number(
                'hosts_over_threshold_after',
                'The same, as simulated after the plan.',
                None,
            ),
        ]

    def get_global_efficacy_indicator(
        self, indicators_map: Any = None
    ) -> list[efficacy.Indicator]:
        """The share of the combined imbalance that the plan removes."""
        before = after = 0.0
        if indicators_map:
            before = indicators_map.combined_imbalance_before
            after = indicators_map.combined_imbalance_after
        removed = 100 * (before - after) / before if before > 0 else 0.0
        return [
            efficacy.Indicator(
                name='imbalance_removed',
                description='Share of the combined imbalance of the most '
                'uneven scope that the plan removes.',
                unit='%',
                value=round(max(removed, 0.0), 1),
            )
        ]


class Balance(base.Goal):
    """Hosts that are as even as the policies ask for."""

    @classmethod
    def get_name(cls) -> str:
        return BALANCE

    @classmethod
    def get_display_name(cls) -> str:
        return 'Kronos: even hosts'

    @classmethod
    def get_translatable_display_name(cls) -> str:
        return 'Kronos: even hosts'

    @classmethod
    def get_efficacy_specification(cls) -> BalanceEfficacy:
        return BalanceEfficacy()
