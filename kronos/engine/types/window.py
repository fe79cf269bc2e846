# SPDX-License-Identifier: Apache-2.0
"""The window of a scope: whether its servers may be moved now.

It is plain data: zone data is read outside the engine.
"""

from dataclasses import dataclass


@dataclass
class ScopeWindow:
    """What windows and freezes say of a scope at the time of its snapshot."""

    is_open: bool
    until: str = ''
    """Local time at which that changes, with its zone; '' if it does not
    within three years."""
    changes_at: float | None = None
    """The same in Unix seconds; None where ``until`` is ''."""
    fault: str = ''
    """Why a window or freeze cannot be used; the scope is closed then."""
    is_exempt: bool = False
    """Whether the strategy plans all the same."""
    move_seconds: float = 0.0
    """How long a move is expected to take."""
    most_moves: int | None = None
    """How many moves are expected to end before it closes; None: any
    number."""

    @property
    def text(self) -> str:
        """``open until 2026-11-28 05:30 (Europe/Berlin)``"""
        if self.fault:
            return f'unusable: {self.fault}'
        state = 'open' if self.is_open else 'closed'
        return f'{state} until {self.until}' if self.until else state
