# SPDX-License-Identifier: Apache-2.0
"""The registry of sinks: a driver is one more row, loaded when it is used."""

import importlib

from kronos.monitor.sinks.base import Options, Sink

DRIVERS = {
    'webhook': 'kronos.monitor.sinks.webhook:Webhook',
    'masakari': 'kronos.monitor.sinks.masakari:Masakari',
    'watcher': 'kronos.monitor.sinks.watcher:Watcher',
}
"""Driver to its class."""


def load(driver: str) -> type[Sink]:
    """The class of a driver.

    :raises KeyError: there is none of that name
    :raises ImportError: something that it needs is not installed
    """
    module, _, name = DRIVERS[driver].partition(':')
    found: type[Sink] = getattr(importlib.import_module(module), name)
    return found


def make(driver: str, name: str, options: Options) -> Sink:
    """A sink by its driver."""
    return load(driver)(name, options)
