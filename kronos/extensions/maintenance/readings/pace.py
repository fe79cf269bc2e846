# SPDX-License-Identifier: Apache-2.0
"""The pace of a run: how often it is planned, and what runs side by side."""

from dataclasses import dataclass

from kronos.extensions.maintenance.maintenance import TURN_SECONDS


@dataclass(frozen=True)
class Pace:
    """What Watcher lets a run do."""

    turn_seconds: float = TURN_SECONDS
    """From one audit of the run to the next."""
    plans_at_once: int = 0
    """Plans of the run that are carried out side by side; 0: not known."""
    is_forced: bool = True
    """Whether its audit plans while plans of Watcher run."""
