# SPDX-License-Identifier: Apache-2.0
"""The registry of sinks: a driver is one more row, loaded when it is used.

Another package brings one as an entry point of ``NAMESPACE``.
"""

from kronos.common.plugins.registry import Registry
from kronos.monitor.sinks.base import Options, Sink

NAMESPACE = 'kronos.monitor.sinks'
DRIVERS = {
    'webhook': 'kronos.monitor.sinks.webhook:Webhook',
    'masakari': 'kronos.monitor.sinks.masakari:Masakari',
    'watcher': 'kronos.monitor.sinks.watcher:Watcher',
}
"""Driver to its class, of Kronos."""
_REGISTRY = Registry(NAMESPACE, DRIVERS, Sink)  # type: ignore[type-abstract]
names, load = _REGISTRY.names, _REGISTRY.load


def make(driver: str, name: str, options: Options) -> Sink:
    return load(driver)(name, options)
