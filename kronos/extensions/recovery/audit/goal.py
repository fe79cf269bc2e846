# SPDX-License-Identifier: Apache-2.0
"""The goal kronos_recovery, and how its success is measured.

It is frozen, as :mod:`kronos.strategies.efficacy` says.
"""

from typing import ClassVar

from kronos.engine.types import CycleReport
from kronos.extensions.recovery import outcome
from kronos.strategies.efficacy import Measure, Share
from kronos.strategies.goals import MIGRATIONS, Goal


def _trouble(report: CycleReport) -> set[str]:
    """Servers that failed, or are on hosts at fault."""
    return {uuid for scope in report.scopes for uuid in outcome.trouble(scope)}


def _handled(report: CycleReport) -> set[str]:
    """Servers that the plan moves or restarts."""
    moved = {step.instance for step in report.steps}
    return moved | {
        restart.instance for _, restart in outcome.restarts(report.scopes)
    }


class RecoveredServers(Goal):
    """No server at fault, and none on a host that is."""

    NAME = 'kronos_recovery'
    DISPLAY_NAME = 'Kronos: recovered servers'
    MEASURES: ClassVar = (
        Measure(
            'servers_in_trouble_before',
            'Servers that failed, and others on hosts that are closed for a '
            'fault, before the plan; summed over the scopes.',
            lambda report: len(_trouble(report)),
        ),
        Measure(
            'servers_in_trouble_after',
            'Those of them that the plan neither moves nor restarts.',
            lambda report: len(_trouble(report) - _handled(report)),
        ),
        Measure(
            'hosts_at_fault',
            'Hosts at fault, by host_fault_query.',
            lambda report: len(
                {
                    host
                    for scope in report.scopes
                    for host in outcome.of(scope).hosts_at_fault
                }
            ),
        ),
        Measure(
            'hosts_closed',
            'Hosts whose nova-compute the plan disables.',
            lambda report: len(report.closings),
        ),
        Measure(
            'restarts',
            'Servers that the plan restarts, on their host or elsewhere.',
            lambda report: len(outcome.restarts(report.scopes)),
        ),
        MIGRATIONS,
    )
    SHARE = Share(
        'servers_recovering',
        'Share of the servers in trouble that the plan moves or restarts.',
        before='servers_in_trouble_before',
        after='servers_in_trouble_after',
    )
