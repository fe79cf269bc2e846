# SPDX-License-Identifier: Apache-2.0
"""The goals of the strategies, and how success is measured.

Names, units and schemas are frozen: Watcher cancels all audits of a goal
whose specification changes.
"""

from typing import Any

from watcher.decision_engine.goal import base
from watcher.decision_engine.goal.efficacy import base as efficacy_base
from watcher.decision_engine.goal.efficacy import indicators
from watcher.decision_engine.solution import efficacy

BALANCE = 'kronos_balance'
CONSOLIDATE = 'kronos_consolidate'
DRAIN = 'kronos_drain'
AFFINITY = 'kronos_affinity'


class Number(indicators.IndicatorSpecification):
    """A required number that is not negative."""

    def __init__(self, name: str, description: str, unit: str | None) -> None:
        super().__init__(name, description, unit, required=True)

    @property
    def schema(self) -> dict[str, Any]:
        return {'type': 'number', 'minimum': 0}


class Efficacy(efficacy_base.EfficacySpecification):
    """Its numbers, and as the whole the share of one that the plan takes."""

    SHARE: str
    """Name of the share."""
    SHARE_OF: str
    """Its description."""
    BEFORE: str
    AFTER: str
    """The two indicators that it is computed of."""

    def get_global_efficacy_indicator(
        self, indicators_map: Any = None
    ) -> list[efficacy.Indicator]:
        """In percent; 0 where there was nothing to begin with."""
        before = after = 0.0
        if indicators_map:
            before = getattr(indicators_map, self.BEFORE)
            after = getattr(indicators_map, self.AFTER)
        removed = 100 * (before - after) / before if before > 0 else 0.0
        return [
            efficacy.Indicator(
                name=self.SHARE,
                description=self.SHARE_OF,
                unit='%',
                value=round(max(removed, 0.0), 1),
            )
        ]


class BalanceEfficacy(Efficacy):
    """What a plan is expected to do to the hosts of the audit's scopes."""

    SHARE = 'imbalance_removed'
    SHARE_OF = (
        'Share of the combined imbalance of the most uneven scope that the '
        'plan removes.'
    )
    BEFORE = 'combined_imbalance_before'
    AFTER = 'combined_imbalance_after'

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


class ConsolidateEfficacy(Efficacy):
    """How many hosts a plan is expected to empty."""

    SHARE = 'hosts_emptied'
    SHARE_OF = 'Share of the hosts in use that the plan empties.'
    BEFORE = 'hosts_in_use_before'
    AFTER = 'hosts_in_use_after'

    def get_indicators_specifications(self) -> list[Number]:
        return [
            Number(
                'hosts_in_use_before',
                'Hosts with at least one instance before the plan; summed '
                'over the scopes.',
                None,
            ),
            Number('hosts_in_use_after', 'The same, after the plan.', None),
            Number('hosts_released', 'Hosts that the plan empties.', None),
            Number('migrations', 'Live migrations in the plan.', None),
        ]


class DrainEfficacy(Efficacy):
    """How far a plan is expected to empty the hosts that are drained."""

    SHARE = 'instances_leaving'
    SHARE_OF = (
        'Share of the instances on the hosts to be drained that leave them '
        'by the plan.'
    )
    BEFORE = 'instances_before'
    AFTER = 'instances_after'

    def get_indicators_specifications(self) -> list[Number]:
        return [
            Number('hosts_to_drain', 'Hosts that are drained.', None),
            Number(
                'instances_before',
                'Instances on these hosts before the plan.',
                None,
            ),
            Number(
                'instances_after',
                'Instances that are still there after the plan.',
                None,
            ),
            Number('migrations', 'Live migrations in the plan.', None),
        ]


class AffinityEfficacy(Efficacy):
    """How many server groups a plan is expected to repair."""

    SHARE = 'violations_removed'
    SHARE_OF = 'Share of the broken server-group rules that the plan repairs.'
    BEFORE = 'violations_before'
    AFTER = 'violations_after'

    def get_indicators_specifications(self) -> list[Number]:
        return [
            Number(
                'violations_before',
                'Server groups whose rule is broken before the plan, of the '
                'kinds that are enforced; summed over the scopes.',
                None,
            ),
            Number('violations_after', 'The same, after the plan.', None),
            Number('migrations', 'Live migrations in the plan.', None),
        ]


class Goal(base.Goal):
    """A goal with a name, words for it and a measure."""

    NAME: str
    DISPLAY_NAME: str
    EFFICACY: type[Efficacy]

    @classmethod
    def get_name(cls) -> str:
        return cls.NAME

    @classmethod
    def get_display_name(cls) -> str:
        return cls.DISPLAY_NAME

    @classmethod
    def get_translatable_display_name(cls) -> str:
        return cls.DISPLAY_NAME

    @classmethod
    def get_efficacy_specification(cls) -> Efficacy:
        return cls.EFFICACY()


class Balance(Goal):
    """Hosts that are as even as the policies ask for."""

    NAME = BALANCE
    DISPLAY_NAME = 'Kronos: even hosts'
    EFFICACY = BalanceEfficacy


class Consolidate(Goal):
    """As few hosts in use as the policies allow."""

    NAME = CONSOLIDATE
    DISPLAY_NAME = 'Kronos: fewer hosts in use'
    EFFICACY = ConsolidateEfficacy


class Drain(Goal):
    """Hosts without instances where an operator wants them so."""

    NAME = DRAIN
    DISPLAY_NAME = 'Kronos: drained hosts'
    EFFICACY = DrainEfficacy


class Affinity(Goal):
    """Server groups whose rules hold."""

    NAME = AFFINITY
    DISPLAY_NAME = 'Kronos: kept server groups'
    EFFICACY = AffinityEfficacy
