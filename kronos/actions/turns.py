# SPDX-License-Identifier: Apache-2.0
"""Which moves of Kronos have their turn, across all appliers?

The appliers of a Watcher share nothing but its database. A move that has its
turn holds a claim: the key ``turn`` of its action's own input parameters.
One row that every Watcher has and that is ours, the description of our
action, is what the appliers queue up for (K3).
"""

import datetime
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa
from oslo_db import api as oslo_db_api
from oslo_db import exception as db_exc
from oslo_db.sqlalchemy import enginefacade
from oslo_log import log as logging
from oslo_utils import timeutils
from sqlalchemy import exc as sa_exc
from watcher import objects
from watcher.db.sqlalchemy import models

from kronos.common import exceptions

LOG = logging.getLogger(__name__)

ACTION_TYPE = 'kronos_live_migrate'
KEY = 'turn'
"""Of the input parameters: ``{"at": 1763752294.1, "held": true}``."""
MAX_AGE = 7200.0
_SLACK = 60.0
_NEEDED = ('aggregate', 'resource_id', 'source_node', 'destination_node')

_T = TypeVar('_T')
_Action = models.Action.__table__
_Plan = models.ActionPlan.__table__
_Lock = models.ActionDescription.__table__
# Not as Watcher's type: one row that is no JSON would spoil all others.
_PARAMETERS = sa.type_coerce(_Action.c.input_parameters, sa.Text)


class TurnUnknown(exceptions.MigrationError):
    """Watcher's database cannot be asked; it may answer the next time."""


@dataclass
class Claim:
    """A move that has its turn, or had it a moment ago."""

    action: str
    plan: str
    scope: str
    instance: str
    source: str
    destination: str
    at: float
    """Unix seconds when its turn came, by the clock of its applier."""
    held: bool
    """It is or will soon be migrating; False: its turn is over."""


Decide = Callable[[list[Claim]], str]


class Turns:
    """The turn of one move among all others.

    :param action_uuid: the move
    :param recent: seconds for which others are told whose turn is over
    :param max_age: seconds after which nobody believes a claim any more:
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
        self._recent = recent
        self._clock = clock
        self._max_age = max_age

    def take(self, decide: Decide) -> str:
        """Hold a claim if ``decide`` has nothing against it.

        :param decide: is given the claims of all other moves, the earliest
            first, and returns why this one has to wait, or ''. Others wait
            for it, so it does no I/O. It may be asked more than once.
        :returns: what ``decide`` returned
        :raises TurnUnknown: the database failed; no claim is held, unless
            the connection broke after the very last word
        """
        return self._locked(lambda session: self._take(session, decide))

    def release(self) -> None:
        """Hold no claim any more; a database that is away is only logged."""
        try:
            self._locked(self._release)
        except Exception as error:
            LOG.warning(
                'The turn of action %s could not be given back, others may '
                'wait for it: %s',
                self._uuid,
                error,
            )

    def _take(self, session: Any, decide: Decide) -> str:
        now = self._clock()
        told = self._own(session)
        reason = decide(self._claims(session, now))
        if not reason:
            _mark(session)
            self._write(session, told, {'at': now, 'held': True})
        return reason

    def _release(self, session: Any) -> None:
        told = self._own(session)
        turn = told.get(KEY)
        if isinstance(turn, dict) and turn.get('held'):
            self._write(session, told, {**turn, 'held': False})

    def _locked(self, work: Callable[[Any], _T]) -> _T:
        """Do the work in a transaction that no other one overlaps."""
        try:
            return _transaction(work)
        except _Absent:
            pass
        except (db_exc.DBError, sa_exc.SQLAlchemyError) as error:
            raise _unknown(error) from error
        try:
            _insert()
            return _transaction(work)
        except (_Absent, db_exc.DBError, sa_exc.SQLAlchemyError) as error:
            raise _unknown(error) from error

    def _own(self, session: Any) -> dict[str, Any]:
        """The input parameters of this move's action, as they are now."""
        query = sa.select(_PARAMETERS).where(_Action.c.uuid == self._uuid)
        told = _parsed(session.execute(query).scalar())
        if told is None:
            raise TurnUnknown(
                reason=f'action {self._uuid} has no input parameters in '
                "Watcher's database"
            )
        return told

    def _claims(self, session: Any, now: float) -> list[Claim]:
        """The claims of all other moves, the earliest first."""
        rows = session.execute(_query(self._uuid, now - self._recent))
        found = []
        for row in rows:
            claim = _claim(row)
            if claim is None:
                continue
            if claim.at < now - self._max_age:
                claim.held = False
            if claim.held or claim.at >= now - self._recent:
                found.append(claim)
        return sorted(found, key=lambda claim: (claim.at, claim.action))

    def _write(
        self, session: Any, told: dict[str, Any], turn: dict[str, Any]
    ) -> None:
        session.execute(
            sa.update(_Action)
            .where(_Action.c.uuid == self._uuid)
            .values(input_parameters={**told, KEY: turn})
        )


class _Absent(Exception):
    """Our row of the action descriptions is not there."""


@enginefacade.transaction_context_provider
class _Context:
    """A transaction of its own, whatever the thread is doing."""


_retried = oslo_db_api.wrap_db_retry(
    retry_interval=0.05,
    max_retries=20,
    max_retry_interval=1,
    retry_on_deadlock=True,
)


def _transaction(work: Callable[[Any], _T]) -> _T:
    def once() -> _T:
        with enginefacade.writer.using(_Context()) as session:
            _lock(session)
            return work(session)

    found: _T = _retried(once)()
    return found


def _lock(session: Any) -> None:
    """Let the others wait until this transaction is over.

    An UPDATE, though nothing changes: SQLite knows no SELECT FOR UPDATE. It
    must be the first statement: what is read next is then what the one
    before has left, in MySQL's REPEATABLE READ as well.
    """
    ours = _Lock.c.action_type == ACTION_TYPE
    session.execute(
        sa.update(_Lock)
        .where(ours)
        .values(action_type=_Lock.c.action_type, updated_at=_Lock.c.updated_at)
    )
    if session.execute(sa.select(_Lock.c.id).where(ours)).first() is None:
        raise _Absent


def _mark(session: Any) -> None:
    """Change our row, so that two nodes of a Galera cluster collide.

    They do not see each other's locks, only rows that were really changed;
    MySQL's times have whole seconds, hence another one than the last.
    """
    ours = _Lock.c.action_type == ACTION_TYPE
    last = session.execute(sa.select(_Lock.c.updated_at).where(ours)).scalar()
    now = timeutils.utcnow().replace(microsecond=0)
    if now == last:
        now = now.replace(second=now.second - 1 if now.second else 1)
    session.execute(sa.update(_Lock).where(ours).values(updated_at=now))


def _insert() -> None:
    """Put our row where an applier puts it when it starts.

    Somebody has deleted it. The next start corrects the text.
    """
    try:
        with enginefacade.writer.using(_Context()) as session:
            session.execute(
                sa.insert(_Lock).values(
                    action_type=ACTION_TYPE,
                    description='Live-migrate an instance',
                )
            )
    except db_exc.DBDuplicateEntry:
        LOG.debug('Another applier was faster')


def _query(uuid: str, since: float) -> Any:
    """Actions of ours in plans that go on or have ended a moment ago.

    Not by the actions' own times: no index helps to find those.
    """
    state = objects.action_plan.State
    # Watcher's columns are in UTC, without a zone; clocks differ a little.
    moment = datetime.datetime.fromtimestamp(since - _SLACK, datetime.UTC)
    moment = moment.replace(tzinfo=None)
    return (
        sa.select(
            _Action.c.uuid,
            _Action.c.state,
            _PARAMETERS.label('parameters'),
            _Plan.c.uuid.label('plan'),
            _Plan.c.state.label('plan_state'),
        )
        .join_from(_Action, _Plan, _Action.c.action_plan_id == _Plan.c.id)
        .where(
            _Action.c.action_type == ACTION_TYPE,
            _Action.c.uuid != uuid,
            sa.or_(
                _Plan.c.state.in_((state.ONGOING, state.CANCELLING)),
                _Plan.c.updated_at >= moment,
                _Plan.c.deleted_at >= moment,
            ),
        )
    )


def _parsed(text: str | None) -> dict[str, Any] | None:
    try:
        told = json.loads(text or '')
    except ValueError:
        return None
    return told if isinstance(told, dict) else None


def _claim(row: Any) -> Claim | None:
    """The claim in an action's row; None if there is none that makes sense."""
    told = _parsed(row.parameters) or {}
    turn = told.get(KEY)
    if not isinstance(turn, dict):
        return None
    at = turn.get('at')
    if isinstance(at, bool) or not isinstance(at, int | float):
        return None
    texts = [told.get(name) for name in _NEEDED]
    if not math.isfinite(at) or not all(isinstance(t, str) for t in texts):
        return None
    action, plan = objects.action.State, objects.action_plan.State
    goes_on = row.state in (action.PENDING, action.ONGOING)
    cared_for = row.plan_state in (plan.ONGOING, plan.CANCELLING)
    return Claim(
        action=row.uuid,
        plan=row.plan,
        scope=told['aggregate'],
        instance=told['resource_id'],
        source=told['source_node'],
        destination=told['destination_node'],
        at=float(at),
        held=turn.get('held') is True and goes_on and cared_for,
    )


def _unknown(error: Exception) -> TurnUnknown:
    """Without the error's text: it has the statement and its values."""
    return TurnUnknown(
        reason="Watcher's database does not tell whose turn it is: "
        f'{type(error).__name__}'
    )
