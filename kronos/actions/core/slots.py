# SPDX-License-Identifier: Apache-2.0
"""The slots of moves, shared by all appliers through Watcher's database.

The appliers of a Watcher share nothing but its database. A move that has its
turn holds a slot: the key ``turn`` of its action's own input parameters.
One row that every Watcher has and that is ours, the description of our
action, is what the appliers queue up for.
"""

import datetime
import json
import math
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

import sqlalchemy as sa
from oslo_log import log as logging
from watcher import objects
from watcher.db.sqlalchemy import models

from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.snapshots import watcher_actions
from kronos.watcher_db import lock, marks

LOG = logging.getLogger(__name__)

MAX_AGE = 7200.0
"""Seconds: about what a move may take, Nova's queue included."""
RENEWALS = 10
"""So often does a carrier that waits say so within ``max_age``."""
GIVEN_UP_SECONDS = 30.0
"""For so long the turn of a move counts whose plan was given up while it was
held: its applier need not be dead, and may be about to ask Nova."""
_SLACK = 60.0
"""Seconds by which the clocks of appliers may differ."""
_NEEDED = ('aggregate', 'resource_id', 'source_node', 'destination_node')

_OVER = ('SUCCEEDED', 'FAILED', 'SKIPPED')
_T = TypeVar('_T')
_Action = models.Action.__table__
_Plan = models.ActionPlan.__table__
# Not as Watcher's type: one row that is no JSON would spoil all others.
_PARAMETERS = sa.literal_column('actions.input_parameters', sa.Text)
_ROWS = sa.select(
    _Action.c.id,
    _Action.c.uuid,
    _Action.c.state,
    _PARAMETERS.label('parameters'),
    _Plan.c.uuid.label('plan'),
    _Plan.c.state.label('plan_state'),
).join_from(_Action, _Plan, _Action.c.action_plan_id == _Plan.c.id)


class Replaced(exceptions.MigrationError):
    """Another delivery of the plan took this one for dead, and is at it."""


class DeliveryState(Enum):
    """What becomes of an action that is carried out."""

    FREE = 'free'
    TAKEN = 'taken'
    """Its plan was delivered twice, and another delivery is at it."""
    OVER = 'over'
    """Another delivery has finished it."""


@dataclass
class Slot:
    """A move that has its turn, had it a moment ago, or comes before."""

    action: str
    plan: str
    scope: str
    instance: str
    source: str
    destination: str
    since: float
    """Unix seconds when its turn came, by the clock of its applier."""
    is_held: bool
    """It is or will soon be moving; False: its turn is over."""
    cell: str = ''
    """Name of the cell that it leaves; '': it stays in its cell."""
    is_own_plan: bool = False
    """Whether it is of the plan of the move that asks."""
    is_ahead: bool = False
    """It has had no turn yet and waits for one, and its row stands before
    that of the move that asks: the planner writes them in their order."""


Decide = Callable[[list[Slot]], str]


class Slots:
    """The turn of one move among all others.

    One class, since all that is read and written is one row under one lock.

    :param action_uuid: the move
    :param recent: seconds for which others are told whose turn is over
    :param max_age: seconds after which nobody believes in a slot any more:
        its applier died, and no other has cancelled its plan
    :param clock: Unix seconds; the clocks of all appliers must agree
    """

    def __init__(
        self,
        action_uuid: str,
        recent: float = 0.0,
        clock: Callable[[], float] = time.time,
        max_age: float = MAX_AGE,
    ) -> None:
        self._uuid = action_uuid
        self._self = uuid.uuid4().hex
        self._recent = recent
        self._clock = clock
        self._max_age = max_age
        self._renewed = -math.inf

    def enter(self) -> DeliveryState:
        """Be the one who carries the move out, unless there is another.

        A message broker may deliver a plan twice; Watcher then carries it
        out twice, in one applier or in two.

        :raises MigrationCancelled, TurnUnknown: see :meth:`take`
        """
        return self._exclusively(self._enter)

    def renew(self) -> None:
        """Say that it is waited on, now and then: it is no dead delivery.

        :raises Replaced, MigrationCancelled, TurnUnknown: see :meth:`take`
        """
        if self._clock() - self._renewed >= self._max_age / RENEWALS:
            self._exclusively(self._renew)

    def take(self, decide: Decide) -> str:
        """Hold a slot if ``decide`` has nothing against it.

        :param decide: is given the slots of all other moves, the earliest
            first, and returns why this one has to wait, or ''. Others wait
            for it, so it does no I/O. It may be asked more than once.
        :returns: what ``decide`` returned
        :raises MigrationCancelled: Watcher has given this move up, say
            because it takes its applier for dead; others would not see it
        :raises Replaced: another delivery of the plan carries it out
        :raises TurnUnknown: the database failed; no slot is held, unless
            the connection broke after the very last word
        """
        return self._exclusively(lambda session: self._take(session, decide))

    def look(self) -> list[Slot]:
        """The slots of all other moves, the earliest first.

        :raises MigrationCancelled, TurnUnknown: see :meth:`take`
        """

        def read(session: Any) -> list[Slot]:
            row, _told = self._own(session)
            self._check_goes_on(row)
            return self._others(session, self._clock(), row)

        return self._exclusively(read)

    def release(self) -> None:
        """Hold no slot any more; a database that is away is only logged."""
        try:
            self._exclusively(self._release)
        except Exception as error:
            LOG.warning(
                'The slot of action %s could not be released, so other '
                'actions may wait for it: %s',
                self._uuid,
                error,
            )

    def mark(self, key: str, value: object, must_go_on: bool = True) -> None:
        """Write a mark into the action's own row.

        :param key: of its input parameters
        :param must_go_on: whether nothing is written where the move was
            given up meanwhile, or is carried out by another delivery
        :raises MigrationCancelled, Replaced, TurnUnknown: see :meth:`take`
        """

        def write(session: Any) -> None:
            row, data = self._own(session)
            if must_go_on:
                self._check_goes_on(row)
                self._check_not_replaced(data)
            self._write(session, data, key, value)

        self._exclusively(write)

    def mark_of(self, key: str, action_uuid: str = '') -> dict[str, Any]:
        """A mark of this action or of another one; {} if it has none.

        :raises TurnUnknown: the database does not tell
        """

        def read(session: Any) -> dict[str, Any]:
            query = _ROWS.where(_Action.c.uuid == (action_uuid or self._uuid))
            row = session.execute(query).first()
            return marks.part(marks.parsed(row and row.parameters) or {}, key)

        return self._exclusively(read)

    def _take(self, session: Any, decide: Decide) -> str:
        row, data = self._own(session)
        self._check_goes_on(row)
        self._check_not_replaced(data)
        reason = decide(self._others(session, self._clock(), row))
        if not reason:
            lock.mark(session)
            turn = {'at': self._clock(), 'held': True}  # not before decided
            self._write(session, data, marks.TURN, turn)
        return reason

    def _enter(self, session: Any) -> DeliveryState:
        now = self._clock()
        row, data = self._own(session)
        if row.state in _OVER:
            return DeliveryState.OVER
        self._check_goes_on(row)
        if marks.last_sign(data, self._self) >= now - self._max_age:
            return DeliveryState.TAKEN
        self._sign(session, data)
        return DeliveryState.FREE

    def _renew(self, session: Any) -> None:
        row, data = self._own(session)
        self._check_goes_on(row)
        self._check_not_replaced(data)
        self._sign(session, data)

    def _sign(self, session: Any, data: dict[str, Any]) -> None:
        lock.mark(session)
        sign = {'at': self._clock(), 'by': self._self}
        self._write(session, data, marks.CARRIER, sign)
        self._renewed = self._clock()

    def _check_not_replaced(self, data: dict[str, Any]) -> None:
        if self._is_replaced(data):
            raise Replaced(
                reason=f'another delivery of the plan carries out action '
                f'{self._uuid}'
            )

    def _is_replaced(self, data: dict[str, Any]) -> bool:
        carrier = marks.part(data, marks.CARRIER).get('by')
        return carrier not in (None, self._self)

    def _check_goes_on(self, row: Any) -> None:
        if not _goes_on(row):
            raise faults.error(
                Fault.GIVEN_UP,
                f"in Watcher's database, action {self._uuid} is "
                f'{row.state} and its plan {row.plan_state}',
            )

    def _release(self, session: Any) -> None:
        _row, data = self._own(session)
        if self._is_replaced(data):
            return
        turn = marks.part(data, marks.TURN)
        if turn.get('held'):
            self._write(session, data, marks.TURN, {**turn, 'held': False})

    def _exclusively(self, work: Callable[[Any], _T]) -> _T:
        try:
            return lock.exclusively(work)
        except lock.FAILURES as error:
            raise faults.error(
                Fault.WATCHER_ERROR,
                "Watcher's database does not show which moves are under way: "
                f'{lock.reason(error)}',
            ) from error

    def _own(self, session: Any) -> Any:
        """This move's action as it is now, and its input parameters."""
        row = session.execute(
            _ROWS.where(_Action.c.uuid == self._uuid)
        ).first()
        data = marks.parsed(row.parameters) if row else None
        if data is None:
            raise faults.error(
                Fault.WATCHER_ERROR,
                f'action {self._uuid} has no input parameters in '
                "Watcher's database",
                transient=False,
            )
        return row, data

    def _others(self, session: Any, now: float, own: Any) -> list[Slot]:
        """The slots of all other moves, the earliest first.

        Then those that wait, in the order of their rows.
        """
        begun, ahead = list[Slot](), list[Slot]()
        for row in session.execute(_query(self._uuid, now - self._recent)):
            data = marks.parsed(row.parameters) or {}
            is_ahead = self._is_ahead(row, data, own, now)
            slot = _slot(row, data, math.inf if is_ahead else _at(data))
            if slot is None:
                continue
            slot.is_own_plan, slot.is_ahead = row.plan == own.plan, is_ahead
            limit = self._max_age if _goes_on(row) else GIVEN_UP_SECONDS
            if row.state in _OVER or slot.since < now - limit:
                slot.is_held = False
            if is_ahead:
                ahead.append(slot)
            elif slot.is_held or slot.since > now - self._recent:
                begun.append(slot)
        begun.sort(key=lambda slot: (slot.since, slot.action))
        return begun + ahead

    def _is_ahead(
        self, row: Any, data: dict[str, Any], own: Any, now: float
    ) -> bool:
        """Whether a move waits for its turn, and comes before this one."""
        return (
            row.plan == own.plan
            and row.id < own.id
            and _goes_on(row)
            and marks.TURN not in data
            # Its carrier is not dead, nor does it still wait for a worker.
            and marks.last_sign(data, '') >= now - 2 * self._max_age / RENEWALS
        )

    def _write(
        self, session: Any, data: dict[str, Any], key: str, value: object
    ) -> None:
        text = sa.literal(json.dumps({**data, key: value}), sa.Text)
        session.execute(
            sa.update(_Action)
            .where(_Action.c.uuid == self._uuid)
            .values(input_parameters=text)
        )


def _query(uuid: str, since: float) -> Any:
    """Actions of ours in plans that go on or have ended a moment ago.

    Not by the actions' own times: no index helps to find those.
    """
    state = objects.action_plan.State
    # Watcher's columns are in UTC, without a zone; clocks differ a little.
    since = max(since - _SLACK, 0)
    moment = datetime.datetime.fromtimestamp(since, datetime.UTC)
    moment = moment.replace(tzinfo=None)
    return _ROWS.where(
        _Action.c.action_type.like(watcher_actions.MOVES),
        _Action.c.uuid != uuid,
        sa.or_(
            _Plan.c.state.in_((state.ONGOING, state.CANCELLING)),
            _Plan.c.updated_at >= moment,
            _Plan.c.deleted_at >= moment,
        ),
    ).order_by(_Action.c.id)


def _goes_on(row: Any) -> bool:
    """Whether an action is waiting or running, and its plan too."""
    action, plan = objects.action.State, objects.action_plan.State
    return row.state in (action.PENDING, action.ONGOING) and (
        row.plan_state in (plan.ONGOING, plan.CANCELLING)
    )


def _at(data: dict[str, Any]) -> float | None:
    return marks.number(marks.part(data, marks.TURN).get('at'))


def _slot(row: Any, data: dict[str, Any], since: float | None) -> Slot | None:
    """The slot in an action's row; None if there is none that makes sense.

    :param since: when its turn came or comes
    """
    texts = [data.get(name) for name in _NEEDED]
    if since is None or not all(isinstance(text, str) for text in texts):
        return None
    return Slot(
        action=row.uuid,
        plan=row.plan,
        scope=data['aggregate'],
        instance=data['resource_id'],
        source=data['source_node'],
        destination=data['destination_node'],
        since=since,
        is_held=marks.part(data, marks.TURN).get('held') is True,
        cell=marks.text(data.get('source_cell')),
    )
