# SPDX-License-Identifier: Apache-2.0
"""The registry of extensions: those of Kronos, and of other packages.

A package brings one along by an entry point of the group
``kronos.extensions``: its name is that of the extension. What the extension
adds to a layer that works offline is another class, of the same name in the
group ``kronos.extensions.LAYER``; one that adds nothing there has none.
"""

import functools
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from kronos.common.exceptions import ConfigurationError
from kronos.common.plugins.registry import Registry, UnusableError
from kronos.engine.extension import PLAIN, Extension

T = TypeVar('T')

NAMESPACE = 'kronos.extensions'
OWN = {
    'cells': 'kronos.extensions.cells.extension:Cells',
    'recovery': 'kronos.extensions.recovery.extension:Recovery',
}
"""Module and class by name; nobody pays for one that is not asked for."""
OWN_PARTS = {
    'commands': {
        'cells': 'kronos.extensions.cells.commands.part:CellCommands',
        'recovery': (
            'kronos.extensions.recovery.commands.part:RecoveryCommands'
        ),
    },
    'recordings': {
        'cells': 'kronos.extensions.cells.recordings.part:CellRecording',
        'recovery': (
            'kronos.extensions.recovery.recordings.part:RecoveryRecording'
        ),
    },
    'reports': {
        'cells': 'kronos.extensions.cells.reports.part:CellReport',
        'recovery': 'kronos.extensions.recovery.reports.part:RecoveryReport',
    },
}
"""The same of what they add to a layer, by the layer's name."""
_REGISTRY = Registry[Extension](NAMESPACE, OWN, Extension)


def make(name: str, request: Any = None) -> Extension:
    """An extension, with what an audit asks of it.

    :param name: '': none is meant
    :raises ConfigurationError: no package that is installed has it, or it
        cannot be loaded
    """
    return kind(name)(request) if name else PLAIN


def kind(name: str) -> type[Extension]:
    """The class of an extension.

    :raises ConfigurationError: as :func:`make`
    """
    return _REGISTRY.required('extension', name)


def names() -> Sequence[str]:
    """Those of all extensions that are installed."""
    return _names(tuple(sys.path))


@functools.cache
def _names(_: tuple[str, ...]) -> Sequence[str]:
    """Looked for once, as long as packages are at the same places."""
    return tuple(_REGISTRY.names())


def parts(layer: str, kind: type[T]) -> Mapping[str, T]:
    """What the extensions add to a layer, by their names.

    :param layer: one of :data:`OWN_PARTS`
    :param kind: that each of them has to be
    :raises ConfigurationError: one cannot be loaded
    """
    key: Any = kind
    return _parts(layer, key, tuple(sys.path))


@functools.cache
def _parts(layer: str, kind: Any, _: tuple[str, ...]) -> Mapping[str, Any]:
    """Likewise."""
    registry = Registry[Any](f'{NAMESPACE}.{layer}', OWN_PARTS[layer], kind)
    try:
        return {name: registry.load(name)() for name in registry.names()}
    except UnusableError as error:
        text = f'what an extension adds to {layer}: {error}'
        raise ConfigurationError(reason=text) from error
