# SPDX-License-Identifier: Apache-2.0
"""The options of extensions that no planning reads, by their entry points."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from kronos.common.exceptions import ConfigurationError
from kronos.common.plugins import extensions
from kronos.common.plugins.registry import UnusableError

Rule = Callable[[Any], str]
"""Says what is wrong with a value that oslo.config lets pass; '' if nothing
is."""


class ExtensionOpts:
    """What an extension adds to the group ``[kronos]``.

    One of another package is an entry point of the layer ``conf``.
    """

    OPTS: ClassVar[Sequence[Any]] = ()
    """Of ``oslo_config.cfg``."""
    RULES: ClassVar[Mapping[str, Rule]] = {}
    """By name of an option, beyond its type."""


def opts() -> list[Any]:
    """All of them; those that cannot be loaded are left out."""
    return [opt for kind in _kinds()[0] for opt in kind.OPTS]


def rules() -> dict[str, Rule]:
    """The rules of all of them, by name of an option."""
    return {
        name: rule for kind in _kinds()[0] for name, rule in kind.RULES.items()
    }


def require_usable() -> None:
    """:raises ConfigurationError: the options of one cannot be loaded"""
    if fault := _kinds()[1]:
        raise ConfigurationError(reason=f'options of an extension: {fault}')


def _kinds() -> tuple[list[type[ExtensionOpts]], str]:
    registry = extensions.of_layer('conf', ExtensionOpts)
    kinds, fault = list[type[ExtensionOpts]](), ''
    for name in registry.names():
        try:
            kinds.append(registry.load(name))
        except UnusableError as error:
            fault = str(error)
    return kinds, fault
