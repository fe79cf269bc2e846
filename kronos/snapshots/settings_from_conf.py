# SPDX-License-Identifier: Apache-2.0
"""The settings of the group [kronos] of a configuration."""

import dataclasses
from typing import Any

from oslo_config import cfg

from kronos.conf import opts, planning, validation
from kronos.engine.settings import ModePhases, PlanMode, Settings
from kronos.options import extensions
from kronos.options.row import Row, rows, values
from kronos.snapshots.scopes import ScopeRequest


def by_name() -> dict[str, tuple[type, Row]]:
    """The options of planning, each with the class that has it as a field."""
    return {
        row.name: (kind, row)
        for kind in (Settings, *extensions.classes())
        for row in rows(kind)
    }


def settings_of(kronos: Any) -> Settings:
    """What an operator configured, before an audit or a mode changes it.

    :param kronos: the group ``[kronos]``
    :raises ConfigurationError: an extension has options that are unusable
    """
    extensions.require_usable()
    settings = Settings(**values(Settings, kronos))
    for kind in extensions.classes():
        settings.set_options(kind(**values(kind, kronos)))
    return settings


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
    _, row = by_name()[option]
    chosen = planning.option_of(row)
    try:
        value = chosen.type(text)
    except ValueError as error:
        raise ValueError(validation.rule_of(chosen, error)) from None
    if fault := validation.fault_of(chosen, value):
        raise ValueError(fault)
    return row.value(value)


def override(settings: Settings, option: str, text: str) -> None:
    """Set an option as a configuration file would.

    :raises KeyError: as :func:`understood`
    :raises ValueError: as :func:`understood`
    """
    value = understood(option, text)
    kind, row = by_name()[option]
    if kind is Settings:
        setattr(settings, row.field, value)
        return
    options: Any = settings.options(kind)
    changed = dataclasses.replace(options, **{row.field: value})
    settings.set_options(changed)


def _untouched() -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    opts.register_opts(conf)
    conf([], default_config_files=[], default_config_dirs=[])
    return conf


def fault_of(settings: Settings) -> str:
    """What no configuration could say, as ``field: text``; '' if nothing."""
    for kind, row in by_name().values():
        options = settings if kind is Settings else settings.options(kind)
        value = getattr(options, row.field)
        if row.least is not None and value < row.least:
            return f'{row.field}: must be at least {row.least}'
        if row.most is not None and value > row.most:
            return f'{row.field}: must be at most {row.most}'
        try:
            row.checked(value)
        except ValueError as error:
            return f'{row.field}: {error}'
        if row.plugins and value not in (words := row.words()):
            return f'{row.field}: must be one of {", ".join(words)}'
    if settings.max_migrations is not None and settings.max_migrations < 1:
        return 'max_migrations: must be at least 1'
    if not (settings.evacuate or settings.enforces or settings.rebalance):
        return 'rebalance: it contains no phase'
    return ''
