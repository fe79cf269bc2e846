# SPDX-License-Identifier: Apache-2.0
"""The moves of a plan: its actions, with what their messages tell."""

import datetime
import math
from dataclasses import dataclass
from typing import Any

from kronos.common import plain_text
from kronos.engine import faults
from kronos.snapshots import watcher_actions
from kronos.snapshots.watcher_actions import ActionRow

PREFIX = 'kronos_'
"""Of the names of the strategies and actions of Kronos."""
_OVER = (
    watcher_actions.FINISHED,
    watcher_actions.FAILED,
    watcher_actions.DELETED,
    'SKIPPED',
    'CANCELLED',
)
RESTART = 'kronos_restart_server'


@dataclass
class MoveAction:
    """An action of a plan; a text is '' where there is none.

    Closing a host is one, too: it has no server.
    """

    uuid: str
    plan: str
    audit: str
    kind: str
    """The type of the action."""
    server: str
    """Uuid."""
    name: str
    """Of the server, or of the host that is closed."""
    source: str
    destination: str
    scope: str
    phase: str
    state: str
    sequence: int
    changes: str
    """What the plan expects of it: ``cpu 0.62 -> 0.41``."""
    combined: str
    """The combined imbalance, likewise."""
    forecast: float
    """Seconds that it is expected to take; 0: not known."""
    fault: str
    """A code of :mod:`kronos.engine.faults`."""
    reason: str
    means: str
    remedy: str
    touched: float
    """Unix seconds: when Watcher last wrote it."""

    @property
    def is_over(self) -> bool:
        return self.state in _OVER

    @property
    def touched_at(self) -> str:
        return moment(self.touched)

    @property
    def way(self) -> str:
        """``h1 -> h3``, or the host where it stays."""
        ends = [self.source, self.destination]
        return ' -> '.join(dict.fromkeys(filter(None, ends)))

    @property
    def purpose(self) -> str:
        """Its phase; of what has none, the kind of action."""
        return self.phase or self.kind.removeprefix(PREFIX)

    @property
    def what(self) -> str:
        """The server and its way, and what that is for."""
        who = self.name or self.server
        way = '' if self.way == who else f' {self.way}'
        return f'{who}{way} ({self.purpose})'


def of(row: ActionRow) -> MoveAction:
    """Whatever its input parameters are: somebody may have edited them."""
    parameters = row.parameters if isinstance(row.parameters, dict) else {}

    def text(name: str) -> str:
        value = parameters.get(name)
        return plain_text.line(value) if isinstance(value, str) else ''

    sequence = parameters.get('sequence')
    fault = _fault(row)
    explained = faults.TABLE.get(fault) if fault else None
    return MoveAction(
        uuid=plain_text.line(row.uuid),
        plan=text('action_plan_uuid'),
        audit=text('audit_uuid'),
        kind=plain_text.line(row.action_type),
        server=text('resource_id')
        if text('phase') or row.action_type == RESTART
        else '',
        name=text('resource_name'),
        source=text('source_node'),
        destination=text('destination_node'),
        scope=text('aggregate'),
        phase=text('phase'),
        state=plain_text.line(row.state),
        sequence=sequence if isinstance(sequence, int) else 0,
        changes=text('imbalance'),
        combined=text('combined_imbalance'),
        forecast=max(0.0, number(parameters.get('forecast_seconds')) or 0.0),
        fault=fault.value if fault else '',
        reason=plain_text.line(watcher_actions.words_of(row.message))
        or text('reason'),
        means=explained.means if explained else '',
        remedy=explained.remedy if explained else '',
        touched=row.touched,
    )


def moment(seconds: float) -> str:
    """A time as ISO 8601 in UTC; '' of one that no calendar has."""
    try:
        date = datetime.datetime.fromtimestamp(int(seconds), datetime.UTC)
    except (ValueError, OverflowError, OSError):
        return ''
    return date.isoformat().replace('+00:00', 'Z')


def _fault(row: ActionRow) -> faults.Fault | None:
    """What its message tells; a word about what goes on tells none."""
    error, code = watcher_actions.error_of(row.message)
    is_named = code or error != watcher_actions.UNKNOWN
    if is_named or (row.message and row.state == watcher_actions.FAILED):
        return faults.of(code, error)
    return None


def number(value: Any) -> float | None:
    """A number of Watcher's JSON that has a size; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # hundreds of digits
        return None
