# SPDX-License-Identifier: Apache-2.0
"""The registry of extensions: those of Kronos, and of other packages.

A package brings one along by an entry point of the group
``kronos.extensions``: its name is that of the extension.
"""

import importlib
import importlib.metadata
from typing import Any

from kronos.common.exceptions import ConfigurationError
from kronos.engine.extension import PLAIN, Extension

GROUP = 'kronos.extensions'
OWN = {
    'cells': 'kronos.extensions.cells.extension:Cells',
    'recovery': 'kronos.extensions.recovery.extension:Recovery',
}
"""Module and class by name; nobody pays for one that is not asked for."""


def make(name: str, asked: Any = None) -> Extension:
    """An extension, with what an audit asks of it.

    :param name: '': none is meant
    :raises ConfigurationError: no package that is installed has it
    """
    if not name:
        return PLAIN
    if name in OWN:
        module, _, kind = OWN[name].partition(':')
        own: type[Extension] = getattr(importlib.import_module(module), kind)
        return own(asked)
    for entry in importlib.metadata.entry_points(group=GROUP, name=name):
        found: type[Extension] = entry.load()
        return found(asked)
    raise ConfigurationError(
        reason=f'there is no extension "{name}": no installed package has an '
        f'entry point of this name in the group {GROUP}. Install the package '
        'that the recording was made with'
    )
