# SPDX-License-Identifier: Apache-2.0
"""The parameters and options that every kind of move has."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from kronos.actions.core import notifications
from kronos.clients.schema import seconds_of
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.settings import ConsentRule
from kronos.options.disruption import DisruptionOptions

_NOT_UP = re.compile(r'Compute service of (\S+) is unavailable')


@dataclass
class MigrationTask:
    """One planned move, as the action's parameters have it."""

    instance: str
    source: str
    destination: str
    phase: str
    aggregate: str = ''
    name: str = ''
    source_closed: bool = False
    """Whether it is only right while the source's nova-compute is disabled:
    an action before it closes that host."""

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        return cls(**cls._fields(parameters))

    @classmethod
    def _fields(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        return {
            'instance': parameters['resource_id'],
            'source': parameters['source_node'],
            'destination': parameters['destination_node'],
            'phase': parameters['phase'],
            'aggregate': parameters['aggregate'],
            'name': parameters.get('resource_name', ''),
            'source_closed': parameters.get('source_closed', False),
        }

    def refused(
        self, reason: str, after: str = ''
    ) -> exceptions.MigrationError:
        """The error if Nova refused the move before anything moved.

        :param reason: Nova's words
        :param after: what is not as it was, to go behind them
        """
        match = _NOT_UP.search(reason)
        host = match[1] if match else ''
        if host == self.source:
            return faults.error(
                Fault.SOURCE_NOT_UP, f'source refused: {reason}{after}'
            )
        fault = Fault.DESTINATION_REFUSED
        if host == self.destination:
            fault = Fault.DESTINATION_NOT_UP
        return faults.error(fault, f'destination refused: {reason}{after}')


@dataclass
class MoveTiming:
    """Limits, in seconds."""

    queue_timeout: float = 1800.0
    poll_interval: float = 5.0
    settle_timeout: float = 120.0
    """For what Nova shows to be in order after a move."""


@dataclass
class MoveSettings:
    """What is to be moved, and within which limits."""

    task: MigrationTask
    timing: MoveTiming = field(default_factory=MoveTiming)
    not_before: float = 0.0
    """Unix seconds."""
    forecast_seconds: float | None = None
    """How long it is expected to take; None: its plan does not know."""
    preflight_wait: float = 60.0
    """Seconds for what stands in the way to go away by itself."""
    max_retries: int = 3
    retry_backoff: float = 30.0
    """Seconds before the first further try; then doubled."""
    require_headroom: bool = True
    check_hypervisor_version: bool = True
    resources: Sequence[str] = field(
        default_factory=lambda: ['VCPU', 'MEMORY_MB']
    )
    """The classes that are looked at in Placement."""
    consent: ConsentRule = ConsentRule.HONOUR
    consent_projects: list[str] = field(default_factory=list)
    windows: list[str] = field(default_factory=list)
    freezes: list[str] = field(default_factory=list)
    window_seconds: float | None = None
    """How long it may take inside its window; None: it has no window."""
    aborts_at_end: bool = False
    """Whether it is aborted if it still runs when its window closes."""
    budgets: DisruptionOptions = field(default_factory=DisruptionOptions)
    """Only those of disruption budgets are set."""


def shared(parameters: dict[str, Any], kronos: Any) -> dict[str, Any]:
    """The fields of the settings that every kind of move reads alike.

    :param parameters: the action's input parameters
    :param kronos: the group ``[kronos]``
    :raises PreFlightError: ``not_before`` is no time
    """
    return {
        'not_before': unix_seconds(parameters.get('not_before', '')),
        'forecast_seconds': parameters.get('forecast_seconds'),
        'preflight_wait': kronos.preflight_wait,
        'max_retries': kronos.max_retries,
        'retry_backoff': kronos.retry_backoff,
        'require_headroom': kronos.require_headroom,
        'check_hypervisor_version': kronos.check_hypervisor_version,
        'resources': resources(kronos),
        'consent': ConsentRule(kronos.consent),
        'consent_projects': kronos.consent_projects,
        'windows': kronos.windows,
        'freezes': kronos.freezes,
        'window_seconds': parameters.get('window_seconds'),
        'aborts_at_end': kronos.window_end == 'abort',
        'budgets': DisruptionOptions(
            project_budget=kronos.project_budget,
            project_budgets=kronos.project_budgets,
            group_budget=kronos.group_budget,
            instance_budget=kronos.instance_budget,
            budget_exempt=kronos.budget_exempt,
        ),
    }


def resources(kronos: Any) -> list[str]:
    """The classes that are looked at in Placement."""
    return ['VCPU', 'MEMORY_MB', *(['DISK_GB'] if kronos.check_disk else [])]


def unix_seconds(moment: str) -> float:
    """Unix seconds of a time in ISO 8601; in UTC if it names no zone."""
    try:
        return seconds_of(moment)
    except ValueError as error:
        raise faults.error(
            Fault.BAD_PARAMETERS,
            f'its parameter not_before is no time: "{moment}"',
        ) from error


def facts(parameters: dict[str, Any]) -> notifications.Facts:
    """What every notice of an action tells.

    :param parameters: the action's input parameters
    """
    return notifications.Facts(
        instance_uuid=parameters['resource_id'],
        instance_name=parameters.get('resource_name', ''),
        scope=parameters['aggregate'],
        phase=parameters['phase'],
        source=parameters['source_node'],
        destination=parameters['destination_node'],
        action_uuid=parameters.get('action_uuid', ''),
        action_plan_uuid=parameters.get('action_plan_uuid', ''),
        audit_uuid=parameters.get('audit_uuid', ''),
    )
