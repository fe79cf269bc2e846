# SPDX-License-Identifier: Apache-2.0
"""A registry of plugins: Kronos' own, and those of other packages.

A plugin is imported when it is used, and only then. One of another package is
an entry point of a namespace; a name of Kronos' own always means Kronos' own.
"""

import importlib
import inspect
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, Generic, TypeVar

from kronos.common import plain_text
from kronos.common.exceptions import ConfigurationError
from kronos.common.plugins import entry_points

T = TypeVar('T')


class UnusableError(Exception):
    """A plugin of another package cannot be used; the text says why."""


class Registry(Generic[T]):
    """Classes by name.

    :param namespace: of entry points
    :param own: Kronos' own: name to ``module:class``
    :param kind: that all of them have to be
    """

    def __init__(
        self, namespace: str, own: Mapping[str, str], kind: type[T]
    ) -> None:
        self._namespace = namespace
        self._own = own
        self._kind = kind

    def names(self) -> list[str]:
        """All that there are; none of them is imported."""
        others = entry_points.of_group(self._namespace).names
        return [*self._own, *sorted(others - self._own.keys())]

    def load(self, name: str) -> type[T]:
        """The class of that name.

        :raises KeyError: there is none
        :raises ImportError: one of Kronos needs what is not installed
        :raises UnusableError: it is of another package, and broken
        """
        if name in self._own:
            module, _, attribute = self._own[name].partition(':')
            own: type[T] = getattr(importlib.import_module(module), attribute)
            return own
        points = entry_points.of_group(self._namespace).select(name=name)
        if not points:
            raise KeyError(name)
        try:
            return self._other([*points])
        except UnusableError as error:
            packages = sorted(
                {point.dist.name for point in points if point.dist}
            )
            raise UnusableError(
                f'{name} of the package {" and ".join(packages)} cannot be '
                f'loaded: {plain_text.line(str(error))}. Correct the package '
                'or remove it'
            ) from error

    def required(self, noun: str, name: str) -> type[T]:
        """The same of a name that a configuration or a recording has.

        :param noun: what it is the name of
        :raises ConfigurationError: there is none, or it is broken
        """
        try:
            return self.load(name)
        except KeyError:
            raise ConfigurationError(
                reason=f'there is no {noun} "{name}": no installed package '
                'has an entry point of this name in the group '
                f'{self._namespace}. Install the package that has it'
            ) from None
        except UnusableError as error:
            raise ConfigurationError(reason=f'the {noun} {error}') from error

    def _other(self, points: Sequence[metadata.EntryPoint]) -> type[T]:
        if len(points) > 1:
            raise UnusableError('several packages have one')
        try:
            plugin: Any = points[0].load()
        except Exception as error:
            raise UnusableError(f'{type(error).__name__}: {error}') from error
        if not (inspect.isclass(plugin) and issubclass(plugin, self._kind)):
            kind = f'{self._kind.__module__}.{self._kind.__name__}'
            raise UnusableError(f'it is no subclass of {kind}')
        if lacking := getattr(plugin, '__abstractmethods__', ()):
            raise UnusableError(f'it lacks {", ".join(sorted(lacking))}')
        return plugin
