# SPDX-License-Identifier: Apache-2.0
"""The progress of a live migration, in bytes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from kronos.clients.schema import seconds_of

_GIB = 2**30
_FIGURES = tuple(
    f'{what}_{which}'
    for what in ('memory', 'disk')
    for which in ('total', 'processed', 'remaining')
)


@dataclass
class Progress:
    """What Nova tells of a migration's data; None: it does not tell.

    ``processed`` only grows, and beyond ``total`` where the guest writes
    to what was copied already; ``remaining`` may then grow, too. Two are equal
    if their figures are.
    """

    memory_total: int | None = None
    memory_processed: int | None = None
    memory_remaining: int | None = None
    disk_total: int | None = None
    disk_processed: int | None = None
    disk_remaining: int | None = None
    written_at: float | None = field(default=None, compare=False)
    """When Nova wrote them: Unix seconds by the clock of a conductor, which
    its database may cut to whole ones; None: it does not tell."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self | None:
        """From a row of ``servers/{id}/migrations``; None: no figures."""
        figures = {name: row.get(f'{name}_bytes') for name in _FIGURES}
        if all(figure is None for figure in figures.values()):
            return None
        written_at = seconds_of(row.get('updated_at')) or None
        return cls(**figures, written_at=written_at)

    @property
    def done(self) -> int:
        """Bytes of memory and disk that were sent, again and again too."""
        return (self.memory_processed or 0) + (self.disk_processed or 0)

    @property
    def remaining(self) -> int:
        """Bytes of memory and disk that are still to be sent."""
        return (self.memory_remaining or 0) + (self.disk_remaining or 0)

    def __str__(self) -> str:
        """Such as "1.2 of 4.0 GiB memory, 0 of 10 GiB disk".

        What is there already: the total less what remains.
        """
        parts = [
            f'{_share(total, remaining)} {name}'
            for name, total, remaining in (
                ('memory', self.memory_total, self.memory_remaining),
                ('disk', self.disk_total, self.disk_remaining),
            )
            if total
        ]
        return ', '.join(parts) or 'no figures'


def _share(total: int, remaining: int | None) -> str:
    digits = 2 if total < _GIB else 1 if total < 10 * _GIB else 0
    whole = f'{total / _GIB:.{digits}f} GiB'
    if remaining is None:
        return f'unknown of {whole}'
    transferred = max(0, total - remaining)
    return f'{transferred / _GIB:.{digits}f} of {whole}'
