# SPDX-License-Identifier: Apache-2.0
"""The goals of the strategies, and how success is measured.

Names, units and schemas are frozen: Watcher cancels all audits of a goal
whose specification changes.
"""

import abc
from dataclasses import dataclass
from typing import Any, ClassVar

from watcher.decision_engine.goal import base
from watcher.decision_engine.goal.efficacy import base as efficacy_base
from watcher.decision_engine.goal.efficacy import indicators
from watcher.decision_engine.solution import efficacy

from kronos.engine.types import CycleReport
from kronos.extensions.cells import cell_drain
from kronos.reports import certificates


class Number(indicators.IndicatorSpecification):
    """A required number that is not negative."""

    def __init__(self, name: str, description: str) -> None:
        super().__init__(name, description, unit=None, required=True)

    @property
    def schema(self) -> dict[str, Any]:
        return {'type': 'number', 'minimum': 0}


@dataclass(frozen=True)
class Share:
    """The success as a whole: how much of an indicator a plan takes."""

    name: str
    description: str
    before: str
    after: str
    """The two indicators that it is computed of."""


class Efficacy(efficacy_base.EfficacySpecification):
    """The numbers of a goal, and its share."""

    def __init__(self, numbers: dict[str, str], share: Share) -> None:
        """Take what a goal is measured by.

        :param numbers: name of each indicator to its description
        """
        self._numbers = numbers
        self._share = share
        self.beside: list[efficacy.Indicator] = []
        """What a plan says of itself beside the share. It is no part of the
        specification, which is frozen."""
        super().__init__()

    def get_indicators_specifications(self) -> list[Number]:
        return [Number(*one) for one in self._numbers.items()]

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


class Goal(base.Goal):
    """A goal with a name, words for it and a measure."""

    NAME: str
    DISPLAY_NAME: str
    INDICATORS: ClassVar[dict[str, str]]
    """Name to description."""
    SHARE: Share

    @classmethod
    @abc.abstractmethod
    def indicators(cls, report: CycleReport) -> dict[str, float]:
        """What a plan does, as the numbers of :attr:`INDICATORS`."""

    @classmethod
    def beside(cls, report: CycleReport) -> list[efficacy.Indicator]:
        """What to say of a plan's efficacy beside the share."""
        return []

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
        return Efficacy(cls.INDICATORS, cls.SHARE)


class Balance(Goal):
    """Hosts that are as even as the policies ask for."""

    NAME = 'kronos_balance'
    DISPLAY_NAME = 'Kronos: even hosts'
    INDICATORS: ClassVar = {
        'combined_imbalance_before': 'Weighted sum of the imbalances of the '
        'policies before the plan; of several scopes the most uneven one '
        'counts.',
        'combined_imbalance_after': 'The same, as simulated after the plan.',
        'migrations': 'Live migrations in the plan.',
        'hosts_over_threshold_before': 'Hosts further above the lowest host '
        'of a policy than its threshold, before the plan; summed over the '
        'scopes.',
        'hosts_over_threshold_after': 'The same, as simulated after the plan.',
    }
    SHARE = Share(
        'imbalance_removed',
        'Share of the combined imbalance of the most uneven scope that the '
        'plan removes.',
        before='combined_imbalance_before',
        after='combined_imbalance_after',
    )

    @classmethod
    def indicators(cls, report: CycleReport) -> dict[str, float]:
        scopes = report.scopes
        return {
            'combined_imbalance_before': max(
                (scope.combined_before for scope in scopes), default=0.0
            ),
            'combined_imbalance_after': max(
                (scope.combined_after for scope in scopes), default=0.0
            ),
            'migrations': len(report.steps),
            'hosts_over_threshold_before': sum(
                scope.hosts_over_before for scope in scopes
            ),
            'hosts_over_threshold_after': sum(
                scope.hosts_over_after for scope in scopes
            ),
        }

    @classmethod
    def beside(cls, report: CycleReport) -> list[efficacy.Indicator]:
        """How much of what is possible the plan does, if that is known."""
        found = [
            scope.certificate for scope in report.scopes if scope.certificate
        ]
        if not found:
            return []
        worst = max(found, key=lambda one: one.reached)
        percent = certificates.percent(worst)
        if percent is None:
            return []
        return [
            efficacy.Indicator(
                name='removed_of_possible',
                description='Share that the plan removes, at least, of the '
                'combined imbalance that any plan of as many migrations '
                'could remove from the most uneven scope.',
                unit='%',
                value=percent,
            )
        ]


class Consolidate(Goal):
    """As few hosts in use as the policies allow."""

    NAME = 'kronos_consolidate'
    DISPLAY_NAME = 'Kronos: fewer hosts in use'
    INDICATORS: ClassVar = {
        'hosts_in_use_before': 'Hosts with at least one instance before the '
        'plan; summed over the scopes.',
        'hosts_in_use_after': 'The same, after the plan.',
        'hosts_released': 'Hosts that the plan empties.',
        'migrations': 'Live migrations in the plan.',
    }
    SHARE = Share(
        'hosts_emptied',
        'Share of the hosts in use that the plan empties.',
        before='hosts_in_use_before',
        after='hosts_in_use_after',
    )

    @classmethod
    def indicators(cls, report: CycleReport) -> dict[str, float]:
        before = sum(scope.hosts_in_use_before for scope in report.scopes)
        after = sum(scope.hosts_in_use_after for scope in report.scopes)
        return {
            'hosts_in_use_before': before,
            'hosts_in_use_after': after,
            'hosts_released': max(before - after, 0),
            'migrations': len(report.steps),
        }


class Drain(Goal):
    """Hosts without instances where an operator wants them so."""

    NAME = 'kronos_drain'
    DISPLAY_NAME = 'Kronos: drained hosts'
    INDICATORS: ClassVar = {
        'hosts_to_drain': 'Hosts that are drained.',
        'instances_before': 'Instances on these hosts before the plan.',
        'instances_after': 'Instances that are still there after the plan.',
        'migrations': 'Live migrations in the plan.',
    }
    SHARE = Share(
        'instances_leaving',
        'Share of the instances on the hosts to be drained that leave them '
        'by the plan.',
        before='instances_before',
        after='instances_after',
    )

    @classmethod
    def indicators(cls, report: CycleReport) -> dict[str, float]:
        """The same; a later scope sees a host as the earlier one leaves it."""
        first: dict[str, int] = {}
        last: dict[str, int] = {}
        for scope in report.scopes:
            for one in scope.drains:
                first.setdefault(one.host, one.instances)
                last[one.host] = len(one.staying)
        return {
            'hosts_to_drain': len(first),
            'instances_before': sum(first.values()),
            'instances_after': sum(last.values()),
            'migrations': len(report.steps),
        }


class Recovery(Goal):
    """No server at fault, and none on a host that is."""

    NAME = 'kronos_recovery'
    DISPLAY_NAME = 'Kronos: recovered servers'
    INDICATORS: ClassVar = {
        'servers_in_trouble_before': 'Servers that failed, and others on '
        'hosts that are closed for a fault, before the plan; summed over the '
        'scopes.',
        'servers_in_trouble_after': 'Those of them that the plan neither '
        'moves nor restarts.',
        'hosts_at_fault': 'Hosts at fault, by host_fault_query.',
        'hosts_closed': 'Hosts whose nova-compute the plan disables.',
        'restarts': 'Servers that the plan restarts, on their host or '
        'elsewhere.',
        'migrations': 'Live migrations in the plan.',
    }
    SHARE = Share(
        'servers_recovering',
        'Share of the servers in trouble that the plan moves or restarts.',
        before='servers_in_trouble_before',
        after='servers_in_trouble_after',
    )

    @classmethod
    def indicators(cls, report: CycleReport) -> dict[str, float]:
        """A later scope sees a host as the earlier one leaves it."""
        before: set[str] = set()
        handled: set[str] = set()
        faulty: set[str] = set()
        for scope in report.scopes:
            before |= scope.trouble
            faulty |= set(scope.hosts_at_fault)
            handled |= {one.instance for one in scope.steps}
            handled |= {one.instance for one in scope.restarts}
        return {
            'servers_in_trouble_before': len(before),
            'servers_in_trouble_after': len(before - handled),
            'hosts_at_fault': len(faulty),
            'hosts_closed': len(report.closings),
            'restarts': len(report.restarts),
            'migrations': len(report.steps),
        }


class Cell(Goal):
    """A cell without servers."""

    NAME = 'kronos_cell'
    DISPLAY_NAME = 'Kronos: emptied cell'
    INDICATORS: ClassVar = {
        'servers_before': 'Servers on the hosts of the source cell that are '
        'emptied, before the plan.',
        'servers_after': 'Servers that are still there after the plan.',
        'servers_that_stay': 'Those of them that cannot leave, by a reason '
        'of their own or for want of a destination; not those that wait for '
        'another plan.',
        'migrations': 'Moves to another cell in the plan, those that it '
        'only finishes included.',
    }
    SHARE = Share(
        'servers_leaving',
        'Share of the servers of the source cell that leave it by the plan.',
        before='servers_before',
        after='servers_after',
    )

    @classmethod
    def indicators(cls, report: CycleReport) -> dict[str, float]:
        cells = cell_drain.outcomes(report.scopes).values()
        return {
            'servers_before': sum(one.servers_before for one in cells),
            'servers_after': sum(one.servers_after for one in cells),
            'servers_that_stay': sum(len(one.staying) for one in cells),
            'migrations': len(report.steps)
            + len(cell_drain.finishing(*report.scopes)),
        }


class Affinity(Goal):
    """Server groups whose rules hold."""

    NAME = 'kronos_affinity'
    DISPLAY_NAME = 'Kronos: kept server groups'
    INDICATORS: ClassVar = {
        'violations_before': 'Server groups whose rule is broken before the '
        'plan, of the kinds that are enforced; summed over the scopes.',
        'violations_after': 'The same, after the plan.',
        'migrations': 'Live migrations in the plan.',
    }
    SHARE = Share(
        'violations_removed',
        'Share of the broken server-group rules that the plan repairs.',
        before='violations_before',
        after='violations_after',
    )

    @classmethod
    def indicators(cls, report: CycleReport) -> dict[str, float]:
        scopes = report.scopes
        return {
            'violations_before': sum(len(s.violations_before) for s in scopes),
            'violations_after': sum(len(s.violations_after) for s in scopes),
            'migrations': len(report.steps),
        }
