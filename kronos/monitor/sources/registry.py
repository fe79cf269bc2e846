# SPDX-License-Identifier: Apache-2.0
"""The registry of sources: a hypervisor is one more row, loaded if used.

Another package brings one as an entry point of ``NAMESPACE``.
"""

from collections import deque

from kronos.common.plugins.registry import Registry
from kronos.monitor.sources.base import News, Options, Source

NAMESPACE = 'kronos.monitor.sources'
SOURCES = {
    'libvirt': 'kronos.monitor.sources.libvirt.source:Libvirt',
    'synthetic': 'kronos.monitor.sources.synthetic:Synthetic',
}
"""Name to its class, of Kronos."""
_REGISTRY = Registry(NAMESPACE, SOURCES, Source)  # type: ignore[type-abstract]
names, load = _REGISTRY.names, _REGISTRY.load


def make(
    name: str, news: deque[News], options: Options | None = None
) -> Source:
    """A source by its name.

    :param news: what it appends to
    """
    return load(name)(news, options)
