# SPDX-License-Identifier: Apache-2.0
"""The options of planning that extensions have, by their entry points.

Each extension has them in a dataclass of its own, which imports nothing that
plans: every process loads it that reads options.
"""

import functools

from kronos.common.exceptions import ConfigurationError
from kronos.common.plugins import extensions
from kronos.common.plugins.registry import UnusableError
from kronos.options.planning import PlanningOptions
from kronos.options.row import rows


@functools.cache
def classes() -> tuple[type, ...]:
    """A dataclass of each extension that has options of planning.

    Those that cannot be used are left out: :func:`require_usable`.
    """
    return tuple(_read()[0])


def require_usable() -> None:
    """:raises ConfigurationError: an extension has unusable options"""
    if fault := _read()[1]:
        raise ConfigurationError(reason=f'options of an extension: {fault}')


@functools.cache
def _read() -> tuple[list[type], str]:
    """Those that can be used, and why the last of the others cannot."""
    registry = extensions.of_layer('options', object)
    kinds: list[type] = []
    names = {row.name for row in rows(PlanningOptions)}
    fault = ''
    for extension in registry.names():
        try:
            kind = registry.load(extension)
            own = {row.name for row in rows(kind)}
        except (UnusableError, TypeError) as error:
            fault = f'{extension}: {error}'
            continue
        if twice := own & names:
            fault = (
                f'{extension}: Kronos or another extension has '
                f'{min(twice)}, too. Remove one of the packages'
            )
            continue
        names |= own
        kinds.append(kind)
    return kinds, fault
