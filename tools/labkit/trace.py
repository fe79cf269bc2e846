# SPDX-License-Identifier: Apache-2.0
"""A trace: usages of servers that change by the clock, tick by tick."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Trace:
    """Who uses how many cores, from when on.

    The first value holds before the start, too, and the last one after the
    end.
    """

    cores: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """By the name of a server, tick by tick."""
    step: float = 1.0
    """Seconds from tick to tick."""
    start: float = math.inf
    """Of the first tick, in Unix seconds."""

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> 'Trace':
        """From the file of that name; an empty one plays nothing.

        :raises ValueError: it makes no sense
        """
        if not content:
            return cls()
        step = float(content.get('step', 0.0))
        if not step > 0:
            raise ValueError('the step of a trace must be above 0')
        cores = {
            str(name): [float(value) for value in values]
            for name, values in content.get('cores', {}).items()
        }
        if not all(cores.values()):
            raise ValueError('a server of a trace has no values')
        return cls(cores, step, float(content.get('start', math.inf)))

    def at(self, name: str, now: float) -> float | None:
        """Cores that a server uses; None: it is not in the trace."""
        values = self.cores.get(name)
        if values is None:
            return None
        if now < self.start:
            return values[0]
        tick = math.floor((now - self.start) / self.step)
        return values[min(tick, len(values) - 1)]

    def switches(self, after: float, until: float) -> Iterator[float]:
        """The moments of a span of time at which usages change."""
        longest = max(map(len, self.cores.values()), default=0)
        for tick in range(1, longest):
            moment = self.start + tick * self.step
            if after < moment <= until:
                yield moment
