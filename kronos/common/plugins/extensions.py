# SPDX-License-Identifier: Apache-2.0
"""The registry of extensions: those of Kronos, and of other packages.

A package brings one along by an entry point of the group
``kronos.extensions``: its name is that of the extension. What the extension
adds to a layer, such as its options, is another class, of the same name in the
group ``kronos.extensions.LAYER``; one that adds nothing there has none.
"""

import functools
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from kronos.common.exceptions import ConfigurationError
from kronos.common.plugins.registry import Registry, UnusableError

T = TypeVar('T')

NAMESPACE = 'kronos.extensions'


def names() -> Sequence[str]:
    """Those of all extensions that are installed."""
    return Registry(NAMESPACE, {}, object).names()


def kind(name: str, base: type[T]) -> type[T]:
    """The class of an extension.

    :param base: that it has to be derived from
    :raises ConfigurationError: no package that is installed has it, or it
        cannot be loaded
    """
    return Registry(NAMESPACE, {}, base).required('extension', name)


def of_layer(layer: str, base: type[T]) -> Registry[T]:
    """The classes of what the extensions add to a layer, by their names."""
    return Registry(f'{NAMESPACE}.{layer}', {}, base)


def parts(layer: str, base: type[T]) -> Mapping[str, T]:
    """What the extensions add to a layer, by their names.

    :param base: that each of them has to be derived from
    :raises ConfigurationError: one cannot be loaded
    """
    key: Any = base
    return _parts(layer, key, tuple(sys.path))


@functools.cache
def _parts(layer: str, base: Any, _: tuple[str, ...]) -> Mapping[str, Any]:
    """Made once, as long as packages are at the same places."""
    registry = of_layer(layer, base)
    try:
        return {name: registry.load(name)() for name in registry.names()}
    except UnusableError as error:
        text = f'what an extension adds to {layer}: {error}'
        raise ConfigurationError(reason=text) from error
