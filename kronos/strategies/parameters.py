# SPDX-License-Identifier: Apache-2.0
"""The parameters of an audit, and what they mean.

The schemas are frozen: Watcher cancels all audits of a strategy whose schema
changes. They have no defaults (they would be written into stored audits), and
only what survives a trip through a string: dict, list, str and numbers.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kronos.common import parameter_types
from kronos.engine.extension import PLAIN, Extension
from kronos.snapshots.scopes import HostChoice

PHASES = (
    'evacuate_disabled_hosts',
    'enforce_hard_affinity',
    'enforce_soft_affinity',
)
"""For strategies whose audits choose which phases come before their own."""


@dataclass
class Parameters:
    """What an audit was asked for; None where it did not say."""

    aggregates: list[str] | None = None
    include_unassigned_hosts: bool | None = None
    restrict_to_az: bool | None = None
    max_migrations: int | None = None
    evacuate_disabled_hosts: bool | None = None
    enforce_hard_affinity: bool | None = None
    enforce_soft_affinity: bool | None = None
    hosts: list[str] | None = None
    extension: Extension = PLAIN
    """Only of a strategy that is an extension's, as the next."""
    chosen: HostChoice | None = None
    """The hosts that it plans, instead of aggregates."""


def schema(more: Sequence[str]) -> dict[str, Any]:
    """JSON schema (draft 4) of the parameters of a strategy.

    The command line sends ``-p name=value`` as JSON where it is JSON and
    as a string where it is not, so ``aggregates=5`` arrives as a number.

    :param more: names of those that not all strategies take
    """
    properties = {
        'aggregates': parameter_types.list_of_names(
            'Names of the host aggregates to plan, as a list or separated by '
            'commas, in this order. Each is planned by itself.'
        ),
        'include_unassigned_hosts': parameter_types.yes_or_no(
            'Whether the hosts that are in no aggregate are planned too, '
            'as a scope of their own.'
        ),
        'restrict_to_az': parameter_types.yes_or_no(
            'Whether a migration must stay in its availability zone.'
        ),
        'max_migrations': parameter_types.max_migrations(
            'Largest number of migrations in each scope.'
        ),
    }
    optional = _optional()
    return {'properties': properties | {name: optional[name] for name in more}}


def _optional() -> dict[str, dict[str, Any]]:
    return {
        'evacuate_disabled_hosts': parameter_types.yes_or_no(
            'Whether hosts whose nova-compute is disabled are drained first.'
        ),
        'enforce_hard_affinity': parameter_types.yes_or_no(
            'Whether server groups of the policies affinity and '
            'anti-affinity are repaired.'
        ),
        'enforce_soft_affinity': parameter_types.yes_or_no(
            'Whether server groups of the policies soft-affinity and '
            'soft-anti-affinity are repaired.'
        ),
        'hosts': parameter_types.list_of_names(
            'Names of the hosts to drain, as a list or separated by commas. '
            'Without it every disabled host of the scopes is drained.'
        ),
    }


def parse(raw: dict[str, Any], more: Sequence[str]) -> Parameters:
    """Understand an audit's parameters.

    Watcher checks them against the schema when an audit is created but not
    when it is changed, so everything is checked here.

    :param more: as of :func:`schema`
    :raises ConfigurationError: names the parameter, its value and what it
        should be
    """
    parameter_types.require_known(raw, schema(more)['properties'])
    boolean = functools.partial(parameter_types.boolean, raw)
    return Parameters(
        aggregates=parameter_types.names(raw, 'aggregates', 'aggregate'),
        include_unassigned_hosts=boolean('include_unassigned_hosts'),
        restrict_to_az=boolean('restrict_to_az'),
        max_migrations=parameter_types.count(raw.get('max_migrations')),
        evacuate_disabled_hosts=boolean('evacuate_disabled_hosts'),
        enforce_hard_affinity=boolean('enforce_hard_affinity'),
        enforce_soft_affinity=boolean('enforce_soft_affinity'),
        hosts=parameter_types.names(raw, 'hosts', 'host'),
    )
