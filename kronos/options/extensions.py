# SPDX-License-Identifier: Apache-2.0
"""The list of the options that extensions have.

They are imported by their names: nothing of the trunk imports an extension.
"""

import functools
import pkgutil

CLASSES = (
    'kronos.extensions.cells.options:CellOptions',
    'kronos.extensions.recovery.options:RecoveryOptions',
)


@functools.cache
def classes() -> tuple[type, ...]:
    """A dataclass of each extension that has options of planning."""
    return tuple(pkgutil.resolve_name(name) for name in CLASSES)
