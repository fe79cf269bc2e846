# SPDX-License-Identifier: Apache-2.0
"""The settings of the group [kronos] of a configuration."""

import dataclasses
import operator
from collections.abc import Callable
from typing import Any

from oslo_config import cfg

from kronos.conf import opts, validation
from kronos.engine.settings import (
    HostMatch,
    ModePhases,
    PartialAnswers,
    PlanMode,
    SearchName,
    Settings,
    SoftRules,
    SwapMoves,
    TieBreak,
    UnexplainedLoad,
    VetoReference,
)
from kronos.snapshots.scopes import ScopeRequest

FIELDS = {
    'restrict_to_az': 'restrict_to_az',
    'require_all_policies': 'require_all_policies',
    'min_host_coverage': 'min_host_coverage',
    'unexplained_load': 'unexplained_load',
    'host_match': 'host_match',
    'partial_answers': 'partial_answers',
    'check_disk': 'check_disk',
    'require_headroom': 'require_headroom',
    'allowed_extra_specs': 'allowed_extra_specs',
    'cooldown': 'cooldown_seconds',
    'instance_cooldown': 'instance_cooldown_seconds',
    'instance_quarantine_seconds': 'quarantine_seconds',
    'return_guard': 'return_guard_seconds',
    'stuck_after': 'stuck_seconds',
    'evacuate_disabled_hosts': 'evacuate',
    'drain_may_exceed_threshold': 'drain_may_exceed_threshold',
    'max_closed_hosts': 'max_closed_hosts',
    'restart_servers': 'restart_servers',
    'recovery_window': 'recovery_window_seconds',
    'cell_move_lossy': 'cell_move_lossy',
    'long_rpc_timeout': 'long_rpc_timeout_seconds',
    'snapshot_mb_per_second': 'snapshot_mb_per_second',
    'enforce_hard_affinity': 'enforce_hard_affinity',
    'enforce_soft_affinity': 'enforce_soft_affinity',
    'soft_rules': 'soft_rules',
    'soft_rule_penalty': 'soft_rule_penalty',
    'pack_partial_drains': 'pack_partial_drains',
    'keep_hosts': 'keep_hosts',
    'headroom_hosts': 'headroom_hosts',
    'search': 'search',
    'veto_reference': 'veto_reference',
    'min_gain': 'min_gain',
    'min_plan_gain': 'min_plan_gain',
    'optimal_limit': 'optimal_limit',
    'optimal_time_limit': 'optimal_seconds',
    'cost_weight': 'cost_weight',
    'migration_bandwidth': 'migration_bandwidth',
    'migration_timeout': 'migration_timeout_seconds',
    'migration_timeout_per_gib': 'migration_timeout_per_gib',
    'plateau_moves': 'plateau_moves',
    'swap_moves': 'swap_moves',
    'tie_break': 'tie_break',
}
"""Name of the option to field of :class:`Settings`."""
_KINDS: dict[str, Callable[[Any], Any]] = {
    'host_match': HostMatch,
    'partial_answers': PartialAnswers,
    'search': SearchName,
    'soft_rules': SoftRules,
    'swap_moves': SwapMoves,
    'tie_break': TieBreak,
    'unexplained_load': UnexplainedLoad,
    'veto_reference': VetoReference,
    'allowed_extra_specs': list,
}


def settings_of(kronos: Any) -> Settings:
    """What an operator configured, before an audit or a mode changes it.

    :param kronos: the group ``[kronos]``
    """
    return Settings(
        **{
            field: _of_kind(option, getattr(kronos, option))
            for option, field in FIELDS.items()
        }
    )


def ask(
    settings: Settings,
    configured: Settings,
    mode: PlanMode | ModePhases | None,
    **values: Any,
) -> None:
    """Set what an audit, or a replay, asks for.

    :param configured: what holds where it asks for nothing
    :param mode: that is planned; None: the one that is set
    :param values: by their fields; None: not asked for
    """
    differing = {
        name: value for name, value in values.items() if value is not None
    }
    for name in ('max_migrations', 'restrict_to_az'):
        if name in differing:
            setattr(settings, name, differing.pop(name))
    if mode is not None:
        selection = dataclasses.replace(configured.selection(), **differing)
        settings.set_mode(mode, selection)


def request_of(kronos: Any) -> ScopeRequest:
    """The scopes of an audit that names none."""
    return ScopeRequest(
        aggregates=list(kronos.aggregates),
        include_unassigned=kronos.include_unassigned_hosts,
    )


def default_settings() -> Settings:
    """What holds where nobody configured anything."""
    return settings_of(_untouched().kronos)


def default_concurrency() -> int:
    """``max_concurrent_migrations`` where nobody configured it."""
    number: int = _untouched().kronos.max_concurrent_migrations
    return number


def understood(option: str, text: str) -> Any:
    """The value of an option as a configuration file would give it.

    :raises KeyError: no option of this name is a setting of planning
    :raises ValueError: it is no value for this option; the text says why
    """
    if option not in FIELDS:
        raise KeyError(option)
    chosen = {registered.name: registered for registered in _options()}[option]
    try:
        value = chosen.type(text)
    except ValueError as error:
        raise ValueError(validation.rule_of(chosen, error)) from None
    if fault := validation.fault_of(chosen, value):
        raise ValueError(fault)
    return _of_kind(option, value)


def _of_kind(option: str, value: Any) -> Any:
    return _KINDS[option](value) if option in _KINDS else value


def _options() -> list[Any]:
    return dict(opts.list_opts())[opts.KRONOS]


def _untouched() -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    opts.register_opts(conf)
    conf([], default_config_files=[], default_config_dirs=[])
    return conf


def fault_of(settings: Settings) -> str:
    """What no configuration could say, as ``field: text``; '' if nothing."""
    by_name = {registered.name: registered for registered in _options()}
    for option, field in FIELDS.items():
        value = getattr(settings, field)
        kind = by_name[option].type
        for bound, wrong, text in (
            ('min', operator.lt, 'at least'),
            ('max', operator.gt, 'at most'),
        ):
            limit = getattr(kind, bound, None)
            if limit is not None and wrong(value, limit):
                return f'{field}: must be {text} {limit}'
    if settings.max_migrations is not None and settings.max_migrations < 1:
        return 'max_migrations: must be at least 1'
    if not (settings.evacuate or settings.enforces or settings.rebalance):
        return 'rebalance: it asks for no phase at all'
    return ''
