# SPDX-License-Identifier: Apache-2.0
"""The reader of a recovery: hosts at fault, servers that failed."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from kronos.engine.settings import Settings
from kronos.extensions.recovery.readings import failures, recoveries
from kronos.extensions.recovery.readings.failures import FailureQueries
from kronos.extensions.recovery.readings.recoveries import PastRestarts
from kronos.extensions.recovery.restarts import are_wanted
from kronos.snapshots.reader import Look, Reader


@dataclass
class RecoveryReader(Reader):
    """It reads what failed, and what was done about it before."""

    queries: FailureQueries
    restarts: Callable[[], PastRestarts] = lambda: recoveries.NONE
    """Gives those that action rows tell of."""
    _past: PastRestarts = field(default_factory=lambda: recoveries.NONE)

    @classmethod
    def of(
        cls,
        kronos: Any,
        settings: Settings,
        restarts: Callable[[float], PastRestarts],
    ) -> Self:
        """One that asks for past restarts only where some are made.

        :param kronos: the group ``[kronos]``
        :param restarts: gives those since a moment, in Unix seconds
        """
        queries = FailureQueries.of(kronos)
        if not are_wanted(settings):
            return cls(queries)
        since = time.time() - recoveries.REMEMBERED_SECONDS
        return cls(queries, lambda: restarts(since))

    def recall(self) -> None:
        self._past = self.restarts()

    def read(self, look: Look) -> None:
        how = look.settings.host_match
        failures.note(look.gathered, look.prometheus, self.queries, how)
        recoveries.note(look.nova, look.gathered, self._past, look.settings)
