# SPDX-License-Identifier: Apache-2.0
"""The registry of extensions: those of Kronos, and of other packages.

A package brings one along by an entry point of the group
``kronos.extensions``: its name is that of the extension.
"""

from typing import Any

from kronos.common.plugins.registry import Registry
from kronos.engine.extension import PLAIN, Extension

NAMESPACE = 'kronos.extensions'
OWN = {
    'cells': 'kronos.extensions.cells.extension:Cells',
    'recovery': 'kronos.extensions.recovery.extension:Recovery',
}
"""Module and class by name; nobody pays for one that is not asked for."""
_REGISTRY = Registry[Extension](NAMESPACE, OWN, Extension)


def make(name: str, request: Any = None) -> Extension:
    """An extension, with what an audit asks of it.

    :param name: '': none is meant
    :raises ConfigurationError: no package that is installed has it, or it
        cannot be loaded
    """
    return _REGISTRY.required('extension', name)(request) if name else PLAIN
