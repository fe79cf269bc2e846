# SPDX-License-Identifier: Apache-2.0
"""The needs of moves between cells, as the report tells them."""

from dataclasses import dataclass
from typing import Any


@dataclass
class Need:
    """One thing that such a move depends on."""

    what: str
    value: str
    where: str
    """The service or the file that tells it."""
    is_good: bool | None
    """None: nobody tells."""

    def document(self) -> dict[str, Any]:
        """As programs read it; its keys stay."""
        return {
            'what': self.what,
            'value': self.value,
            'where': self.where,
            'is_good': self.is_good,
        }
