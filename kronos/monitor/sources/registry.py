# SPDX-License-Identifier: Apache-2.0
"""The registry of sources: a hypervisor is one more row, loaded if used."""

import importlib
from collections import deque

from kronos.monitor.sources.base import News, Options, Source

SOURCES = {
    'libvirt': 'kronos.monitor.sources.libvirt.source:Libvirt',
    'synthetic': 'kronos.monitor.sources.synthetic:Synthetic',
}
"""Name to its class."""


def load(name: str) -> type[Source]:
    """The class of a source.

    :raises KeyError: there is none of that name
    :raises ImportError: something that it needs is not installed
    """
    module, _, found = SOURCES[name].partition(':')
    loaded: type[Source] = getattr(importlib.import_module(module), found)
    return loaded


def make(
    name: str, news: deque[News], options: Options | None = None
) -> Source:
    """A source by its name.

    :param news: what it appends to
    """
    return load(name)(news, options)
