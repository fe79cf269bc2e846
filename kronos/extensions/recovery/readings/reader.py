# SPDX-License-Identifier: Apache-2.0
"""The reader of a recovery: hosts at fault, servers that failed."""

from collections.abc import Callable
from dataclasses import dataclass, field

from kronos.extensions.recovery.readings import failures, recoveries
from kronos.extensions.recovery.readings.failures import FailureQueries
from kronos.extensions.recovery.readings.recoveries import PastRestarts
from kronos.snapshots.reader import Look, Reader


@dataclass
class RecoveryReader(Reader):
    """It reads what failed, and what was done about it before."""

    queries: FailureQueries
    restarts: Callable[[], PastRestarts] = lambda: recoveries.NONE
    """Gives those that action rows tell of."""
    _past: PastRestarts = field(default_factory=lambda: recoveries.NONE)

    def recall(self) -> None:
        self._past = self.restarts()

    def read(self, look: Look) -> None:
        how = look.settings.host_match
        failures.note(look.gathered, look.prometheus, self.queries, how)
        recoveries.note(look.nova, look.gathered, self._past, look.settings)
