# SPDX-License-Identifier: Apache-2.0
"""The needs of moves between cells, as the report tells them."""

from dataclasses import dataclass


@dataclass
class Need:
    """One thing that such a move depends on; its fields are keys."""

    what: str
    value: str
    where: str
    """The service or the file that tells it."""
    is_good: bool | None
    """None: nobody tells."""
