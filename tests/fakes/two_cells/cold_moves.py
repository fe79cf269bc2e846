# SPDX-License-Identifier: Apache-2.0
"""What Nova shows of a cold move between cells, sight after sight.

Good ends and broken ones, as they were seen on Nova 34 with two cells.
"""

import dataclasses
from typing import NamedTuple

from tests.fakes.small_cloud import state

RUNNING, OFF = 1, 4
"""Power states."""
AS_BEFORE = None
"""Status or power of a server before its move."""
OVER = ('confirmed', 'reverted', 'error', 'completed')


class Sight(NamedTuple):
    """What Nova shows at a moment."""

    status: str | None
    task: str | None
    power: int | None
    is_there: bool
    """Whether the server is on its destination."""
    migration: str
    is_told: bool = True
    """Whether the migration's destination is known."""


MOVE = (
    Sight('RESIZE', 'resize_prep', AS_BEFORE, False, 'pre-migrating', False),
    Sight('RESIZE', 'resize_prep', AS_BEFORE, False, 'pre-migrating'),
    Sight('RESIZE', 'resize_migrating', AS_BEFORE, False, 'pre-migrating'),
    Sight('RESIZE', 'resize_migrating', AS_BEFORE, False, 'migrating'),
    Sight('RESIZE', 'resize_migrating', AS_BEFORE, False, 'post-migrating'),
    Sight('RESIZE', 'resize_migrated', OFF, False, 'post-migrating'),
    Sight('RESIZE', 'resize_migrated', OFF, False, 'finished'),
    Sight('VERIFY_RESIZE', None, AS_BEFORE, True, 'finished'),
)
CONFIRM = (
    Sight('VERIFY_RESIZE', None, AS_BEFORE, True, 'confirming'),
    Sight('VERIFY_RESIZE', None, AS_BEFORE, True, 'confirmed'),
    Sight(AS_BEFORE, None, AS_BEFORE, True, 'confirmed'),
)
REVERT = (
    Sight('REVERT_RESIZE', 'resize_reverting', AS_BEFORE, True, 'reverting'),
    Sight('ACTIVE', 'resize_reverting', OFF, False, 'reverted'),
    Sight('ACTIVE', 'resize_reverting', OFF, False, 'reverting'),
    Sight('ACTIVE', 'resize_reverting', OFF, False, 'reverted'),
    Sight(AS_BEFORE, None, AS_BEFORE, False, 'reverted'),
)
REBOOT = (
    Sight('HARD_REBOOT', 'rebooting_hard', OFF, False, ''),
    Sight('ACTIVE', None, RUNNING, False, ''),
)
STOP = (
    Sight('ACTIVE', 'powering-off', AS_BEFORE, False, ''),
    Sight('SHUTOFF', None, OFF, False, ''),
)
START = (
    Sight('SHUTOFF', 'powering-on', OFF, False, ''),
    Sight('ACTIVE', None, RUNNING, False, ''),
)
NO_HOST = 'No valid host was found. No valid host found for {kind}'
_UNTOUCHED = Sight(AS_BEFORE, None, AS_BEFORE, False, 'error')
_IN_ERROR = Sight('ERROR', None, OFF, False, 'error')


class Break(NamedTuple):
    """Where a move breaks, what Nova then shows, and says in the event."""

    after: int
    """So many sights of the whole are seen."""
    then: tuple[Sight, ...]
    says: str


BREAKS = {
    'scheduler': Break(1, (_UNTOUCHED._replace(is_told=False),), NO_HOST),
    'prep': Break(
        1,
        (MOVE[0]._replace(migration='error'),),
        'Info cache for instance {uuid} could not be found.',
    ),
    'power_off': Break(3, (_UNTOUCHED,), 'it does not stop'),
    'snapshot': Break(
        4, (_UNTOUCHED._replace(power=OFF),), 'Glance does not answer'
    ),
    'destroy': Break(5, (_IN_ERROR,), 'the domain is busy'),
    'finish': Break(6, (_IN_ERROR,), 'the volume cannot be connected'),
    'conductor': Break(4, (), ''),
    'restart': Break(
        4,
        (
            Sight('ACTIVE', None, RUNNING, False, 'migrating'),
            _IN_ERROR,
        ),
        'Conflict updating instance {uuid}. Expected: '
        "{{'task_state': ['resize_migrating']}}",
    ),
    'copy': Break(1, (_UNTOUCHED._replace(is_told=False),), (
        "Remote error: DBDuplicateEntry (pymysql.err.IntegrityError) "
        "Duplicate entry '{uuid}'"
    )),
    'confirm': Break(
        1, (Sight('ERROR', None, AS_BEFORE, True, 'error'),), 'no connection'
    ),
    'revert': Break(2, (_IN_ERROR,), 'no connection'),
}  # fmt: skip
"""How Nova was found to leave a server, by what fails."""
WHOLES = {'confirm': CONFIRM, 'revert': REVERT}
"""In which other whole than ``MOVE`` a break is."""


def script(whole: tuple[Sight, ...], breaks: str) -> list[Sight]:
    """The sights of a whole, or of how it breaks."""
    if not breaks or WHOLES.get(breaks, MOVE) is not whole:
        return list(whole)
    where = BREAKS[breaks]
    return [*whole[: where.after], *where.then]


@dataclasses.dataclass
class ColdServer(state.Server):
    """A server that may be moved to another cell."""

    power: int = RUNNING
    pinned: str | None = None
    flavor: str = 'small'
    breaks: str = ''
    """What fails when it is moved, see ``BREAKS``."""
    lands: str = ''
    """Where a resize takes it; ``''``: nowhere."""
    stubborn: tuple[str, ...] = ()
    """What Nova accepts, and what changes nothing."""
    volumes: list[str] = dataclasses.field(default_factory=list)
    loses: tuple[str, ...] = ()
    """Volumes that it does not have on its destination."""
    pins: list[str | None] = dataclasses.field(default_factory=list)
    """The zones that it was pinned to, one after the other."""
    asked: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    """(action, request) of what Nova accepted."""
    moves: list['Move'] = dataclasses.field(default_factory=list)
    plays: list[tuple[float, Sight]] = dataclasses.field(default_factory=list)
    """What it is to be, and from when."""


@dataclasses.dataclass
class Move:
    """A migration, of any type."""

    number: int
    kind: str
    server: ColdServer
    source: str
    destination: str
    status: str
    request: str
    began: float
    updated: float
    before: tuple[str, int] = ('ACTIVE', RUNNING)
    """Status and power of the server."""
    flavors: tuple[str, str] = ('small', 'small')
    is_told: bool = False
    holds: bool = False
    """Whether Placement holds room for it."""
    looks: int = 0

    @property
    def uuid(self) -> str:
        return f'b0000000-0000-0000-0000-{self.number:012d}'

    def row(self) -> dict[str, object]:
        """Its id is now that of the one cell's row, now of the other's."""
        self.looks += 1
        return {
            'id': 3 + self.looks % 2,
            'uuid': self.uuid,
            'instance_uuid': self.server.uuid,
            'status': self.status,
            'migration_type': self.kind,
            'source_compute': self.source,
            'dest_compute': self.destination if self.is_told else None,
            'created_at': state.stamp(self.began),
            'updated_at': state.stamp(self.updated),
            'user_id': 'user',
            'project_id': 'project',
        }
