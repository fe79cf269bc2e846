# SPDX-License-Identifier: Apache-2.0
"""The options whose default is another one for operators."""

from typing import Any

from kronos.options.row import rows


def differing(kind: type) -> dict[str, tuple[Any, Any]]:
    """By field the default of old recordings, and that of ``[kronos]``."""
    old = kind()
    return {
        row.field: (getattr(old, row.field), row.default)
        for row in rows(kind)
        if getattr(old, row.field) != row.default
    }
