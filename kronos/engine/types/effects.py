# SPDX-License-Identifier: Apache-2.0
"""The effect ratio: how far earlier plans did what they promised."""

from dataclasses import dataclass

from kronos.common.names.name_marks import Text


@dataclass(frozen=True)
class EffectRatio:
    """How far the plans of a scope keep what they promise of a policy."""

    policy: Text
    ratio: float = 1.0
    """Realised over predicted; below 0 where scores moved the other way."""
    plans: int = 0
    """Measured plans behind it."""
    former: int = 0
    """Plans that cannot be measured since the queries have changed."""

    @property
    def trust(self) -> float:
        """From 0 to 1."""
        return max(0.0, 1.0 - abs(1.0 - self.ratio))
