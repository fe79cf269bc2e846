# SPDX-License-Identifier: Apache-2.0
"""The goals of the strategies, and how success is measured.

They are frozen, as :mod:`kronos.strategies.efficacy` says.
"""

from collections.abc import Callable
from typing import ClassVar

from watcher.decision_engine.goal import base
from watcher.decision_engine.solution import efficacy

from kronos.engine.types import AggregateResult, CycleReport
from kronos.reports import certificates
from kronos.strategies.efficacy import Efficacy, Measure, Share


class Named:
    """A goal or a strategy, as Watcher calls it."""

    NAME: str
    """The same as in its entry point."""
    DISPLAY_NAME: str

    @classmethod
    def get_name(cls) -> str:
        return cls.NAME

    @classmethod
    def get_display_name(cls) -> str:
        return cls.DISPLAY_NAME

    get_translatable_display_name = get_display_name


class Goal(Named, base.Goal):
    """A goal with a name, words for it and a measure."""

    MEASURES: ClassVar[tuple[Measure, ...]]
    SHARE: Share

    @classmethod
    def indicators(cls, report: CycleReport) -> dict[str, float]:
        """What a plan does, in numbers."""
        return {measure.name: measure.of(report) for measure in cls.MEASURES}

    @classmethod
    def beside(cls, report: CycleReport) -> list[efficacy.Indicator]:
        """What to say of a plan's efficacy beside the share."""
        return []

    @classmethod
    def get_efficacy_specification(cls) -> Efficacy:
        return Efficacy(cls.MEASURES, cls.SHARE)


OfScope = Callable[[AggregateResult], float]
OfReport = Callable[[CycleReport], float]


def _sum(number: OfScope) -> OfReport:
    return lambda report: sum(map(number, report.scopes))


def _most(number: OfScope) -> OfReport:
    return lambda report: max(map(number, report.scopes), default=0.0)


_IN_USE = _sum(lambda scope: scope.hosts_in_use_before)
_STILL_IN_USE = _sum(lambda scope: scope.hosts_in_use_after)


def _drained(report: CycleReport) -> list[tuple[int, int]]:
    """Instances before and after of each host that is drained.

    A later scope sees a host as the earlier one leaves it.
    """
    hosts: dict[str, tuple[int, int]] = {}
    for scope in report.scopes:
        for drain in scope.drains:
            before, _ = hosts.get(drain.host, (drain.instances, 0))
            hosts[drain.host] = before, len(drain.staying)
    return list(hosts.values())


MIGRATIONS = Measure(
    'migrations',
    'Live migrations in the plan.',
    lambda report: len(report.steps),
)


class Balance(Goal):
    """Hosts that are as even as the policies ask for."""

    NAME = 'kronos_balance'
    DISPLAY_NAME = 'Kronos: even hosts'
    MEASURES: ClassVar = (
        Measure(
            'combined_imbalance_before',
            'Weighted sum of the imbalances of the policies before the plan; '
            'of several scopes the most uneven one counts.',
            _most(lambda scope: scope.combined_before),
        ),
        Measure(
            'combined_imbalance_after',
            'The same, as simulated after the plan.',
            _most(lambda scope: scope.combined_after),
        ),
        MIGRATIONS,
        Measure(
            'hosts_over_threshold_before',
            'Hosts further above the lowest host of a policy than its '
            'threshold, before the plan; summed over the scopes.',
            _sum(lambda scope: scope.hosts_over_before),
        ),
        Measure(
            'hosts_over_threshold_after',
            'The same, as simulated after the plan.',
            _sum(lambda scope: scope.hosts_over_after),
        ),
    )
    SHARE = Share(
        'imbalance_removed',
        'Share of the combined imbalance of the most uneven scope that the '
        'plan removes.',
        before='combined_imbalance_before',
        after='combined_imbalance_after',
    )

    @classmethod
    def beside(cls, report: CycleReport) -> list[efficacy.Indicator]:
        """How much of what is possible the plan does, if that is known."""
        proofs = [
            scope.certificate for scope in report.scopes if scope.certificate
        ]
        if not proofs:
            return []
        worst = max(proofs, key=lambda certificate: certificate.reached)
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
    MEASURES: ClassVar = (
        Measure(
            'hosts_in_use_before',
            'Hosts with at least one instance before the plan; summed over '
            'the scopes.',
            _IN_USE,
        ),
        Measure(
            'hosts_in_use_after',
            'The same, after the plan.',
            _STILL_IN_USE,
        ),
        Measure(
            'hosts_released',
            'Hosts that the plan empties.',
            lambda report: max(_IN_USE(report) - _STILL_IN_USE(report), 0),
        ),
        MIGRATIONS,
    )
    SHARE = Share(
        'hosts_emptied',
        'Share of the hosts in use that the plan empties.',
        before='hosts_in_use_before',
        after='hosts_in_use_after',
    )


class Drain(Goal):
    """Hosts without instances where an operator wants them so."""

    NAME = 'kronos_drain'
    DISPLAY_NAME = 'Kronos: drained hosts'
    MEASURES: ClassVar = (
        Measure(
            'hosts_to_drain',
            'Hosts that are drained.',
            lambda report: len(_drained(report)),
        ),
        Measure(
            'instances_before',
            'Instances on these hosts before the plan.',
            lambda report: sum(before for before, _ in _drained(report)),
        ),
        Measure(
            'instances_after',
            'Instances that are still there after the plan.',
            lambda report: sum(after for _, after in _drained(report)),
        ),
        MIGRATIONS,
    )
    SHARE = Share(
        'instances_leaving',
        'Share of the instances on the hosts to be drained that leave them '
        'by the plan.',
        before='instances_before',
        after='instances_after',
    )


class Affinity(Goal):
    """Server groups whose rules hold."""

    NAME = 'kronos_affinity'
    DISPLAY_NAME = 'Kronos: kept server groups'
    MEASURES: ClassVar = (
        Measure(
            'violations_before',
            'Server groups whose rule is broken before the plan, of the kinds '
            'that are enforced; summed over the scopes.',
            _sum(lambda scope: len(scope.violations_before)),
        ),
        Measure(
            'violations_after',
            'The same, after the plan.',
            _sum(lambda scope: len(scope.violations_after)),
        ),
        MIGRATIONS,
    )
    SHARE = Share(
        'violations_removed',
        'Share of the broken server-group rules that the plan repairs.',
        before='violations_before',
        after='violations_after',
    )
