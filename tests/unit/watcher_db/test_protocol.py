# SPDX-License-Identifier: Apache-2.0
"""Do publishing and turns do what their model does?

:mod:`tests.protocol` is the model. Here it walks at random, and the code goes
with it over a database: step by step they must agree.
"""

import datetime
import json
import random
import uuid
from typing import Any, ClassVar

import sqlalchemy as sa
from oslo_db.sqlalchemy import enginefacade
from oslo_utils import timeutils
from watcher import objects
from watcher.common import context
from watcher.db.sqlalchemy import models

from kronos.actions.core import slots
from kronos.common import exceptions
from kronos.snapshots import watcher_actions
from kronos.watcher_db import marks, publishing
from tests.protocol import state as model
from tests.protocol import steps
from tests.protocol.state import DeliveryStep, PlanState, State
from tests.watcher_tests import db_base
from tests.watcher_tests import db_utils as utils

HOSTS = frozenset({'h1', 'h2'})
LENGTH = 120
NOW = 1763752294.5
WATCHER_STATES = {
    PlanState.UNFINISHED: 'CANCELLED',
    PlanState.FORGOTTEN: 'RECOMMENDED',
}
_Plan = models.ActionPlan.__table__
_Action = models.Action.__table__


class Database:
    """Watcher's, with the rows of the model's plans."""

    def __init__(self) -> None:
        goal = utils.create_test_goal()
        self._strategy = utils.create_test_strategy(goal_id=goal.id)
        self.uuids: dict[int, str] = {}
        objects.ActionDescription(
            context.make_context(),
            action_type=watcher_actions.ACTION_TYPE,
            description='as Watcher has it',
        ).create()

    def execute(self, statement: Any) -> None:
        with enginefacade.writer.using(context.make_context()) as session:
            session.execute(statement)

    def scalar(self, query: Any) -> Any:
        with enginefacade.reader.using(context.make_context()) as session:
            return session.execute(query).scalar()

    def write_plan(self, plan: int) -> None:
        number = plan + 1
        self.uuids[plan] = str(uuid.UUID(int=number))
        audit = utils.create_test_audit(
            id=number,
            uuid=str(uuid.uuid4()),
            name=f'audit {number}',
            goal_id=self._strategy.goal_id,
            strategy_id=self._strategy.id,
            auto_trigger=True,
        )
        utils.create_test_action_plan(
            id=number,
            uuid=self.uuids[plan],
            audit_id=audit.id,
            strategy_id=self._strategy.id,
            state='CANCELLED',
        )

    def write_action(self, plan: int, server: int) -> None:
        parameters = {
            'aggregate': 'alpha',
            'resource_id': f'server {server}',
            'source_node': 'h1',
            'destination_node': 'h2',
        }
        self.execute(
            sa.insert(_Action).values(
                id=plan + 1,
                uuid=self.uuids[plan],
                action_plan_id=plan + 1,
                action_type=watcher_actions.ACTION_TYPE,
                input_parameters=parameters,
                state='PENDING',
            )
        )

    def write_states(self, plan: int, row: model.Plan) -> None:
        """What Watcher itself writes, or somebody else."""
        now = timeutils.utcnow()
        if row.state is PlanState.FORGOTTEN:
            now -= datetime.timedelta(hours=2)
        values = {'state': watcher_state(row.state), 'created_at': now}
        self.execute(
            sa.update(_Plan).where(_Plan.c.id == plan + 1).values(values)
        )
        if row.action:
            self.execute(
                sa.update(_Action)
                .where(_Action.c.id == plan + 1)
                .values(state=row.action.name)
            )

    def make_old(self, plan: int) -> None:
        """The marks of an action are older than anybody believes."""
        data = self.marks(plan)
        for key in (marks.CARRIER, marks.TURN):
            if key in data:
                data[key]['at'] -= 2 * slots.MAX_AGE
        self.execute(
            sa.update(_Action)
            .where(_Action.c.id == plan + 1)
            .values(input_parameters=sa.literal(json.dumps(data), sa.Text))
        )

    def marks(self, plan: int) -> dict[str, Any]:
        text = sa.literal_column('actions.input_parameters', sa.Text)
        query = sa.select(text).where(_Action.c.id == plan + 1)
        data = marks.parsed(self.scalar(query.select_from(_Action)))
        assert data is not None
        return data

    def plan_state(self, plan: int) -> str:
        query = sa.select(_Plan.c.state).where(_Plan.c.id == plan + 1)
        state: str = self.scalar(query)
        return state


def watcher_state(state: PlanState) -> str:
    return WATCHER_STATES.get(state, state.name)


class TestProtocol(db_base.DbTestCase):
    """A walk, and the code that goes with it."""

    scenarios: ClassVar = [
        (f'walk {seed}', {'seed': seed}) for seed in range(6)
    ]

    def setUp(self) -> None:
        super().setUp()
        self.database = Database()
        self.bases: dict[int, frozenset[str]] = {}
        self.turns: dict[int, slots.Slots] = {}

    def test_agree(self) -> None:
        protocol = steps.Protocol()
        chance = random.Random(self.seed)
        state = protocol.start(engines=2, appliers=2, plans=3)
        for _ in range(LENGTH):
            choices = sorted(protocol.steps(state))
            if not choices:
                break
            name, after = chance.choice(choices)
            if after.lock:
                # The code begins and commits at once.
                commits = [
                    step
                    for step in protocol.steps(after)
                    if step[0].startswith(name.split(':')[0] + ': COMMIT')
                ]
                [(_, after)] = commits
            self.follow(name, state, after)
            state = after
            self.check(name, state)

    def follow(self, name: str, state: State, after: State) -> None:
        """Let the code do a step of the model."""
        who, _, step = name.partition(': ')
        if who.startswith('engine') and step:
            self.follow_engine(int(who.split()[1]), step, state, after)
        elif who.startswith('delivery') and step:
            self.follow_delivery(int(who.split()[1]), step, state, after)
        elif name.startswith('the sign of'):
            self.database.make_old(int(name.split()[3]))
        self.write_states(state, after)

    def write_states(self, state: State, after: State) -> None:
        pairs = zip(state.plans, after.plans, strict=True)
        for plan, (old, new) in enumerate(pairs):
            if old != new and new.state:
                self.database.write_states(plan, new)

    def follow_engine(
        self, engine: int, step: str, state: State, after: State
    ) -> None:
        plan = after.engines[engine].plan
        match step:
            case 'LIVE_PLANS':
                self.bases[engine] = publishing.live_plans()
            case 'WRITE_PLAN' if plan >= 0:
                self.database.write_plan(plan)
            case 'WRITE_ACTION':
                server = state.plans[plan].server
                self.database.write_action(plan, server)
            case 'PUBLISH':
                plan = state.engines[engine].plan
                basis = publishing.Basis(self.bases[engine], HOSTS)
                publishing.publish(self.database.uuids[plan], basis)
                self.assertEqual(
                    watcher_state(after.plans[plan].state),
                    self.database.plan_state(plan),
                )

    def follow_delivery(
        self, number: int, step: str, state: State, after: State
    ) -> None:
        plan = state.deliveries[number].plan
        match step:
            case 'START':
                uuid = self.database.uuids[plan]
                self.turns[number] = slots.Slots(uuid, clock=lambda: NOW)
            case 'ENTER':
                self.assertEqual(
                    entry(after.deliveries[number]), self.entry(number)
                )
            case 'TAKE':
                self.assertEqual(
                    after.deliveries[number].step, self.take(number)
                )
            case 'RELEASE':
                self.turns[number].release()
            case 'CONFIRM' if not after.deliveries[number].step or (
                after.deliveries[number].step is DeliveryStep.END
            ):
                self.turns[number].release()

    def entry(self, number: int) -> str:
        try:
            return self.turns[number].enter().name
        except exceptions.MigrationCancelled:
            return 'CANCELLED'

    def take(self, number: int) -> DeliveryStep:
        """What comes next, by the code."""
        try:
            reason = self.turns[number].take(
                lambda others: 'held' * any(slot.is_held for slot in others)
            )
        except slots.Replaced:
            return DeliveryStep.ENTER
        except exceptions.MigrationCancelled:
            return DeliveryStep.NONE
        return DeliveryStep.TAKE if reason else DeliveryStep.CONFIRM

    def check(self, name: str, state: State) -> None:
        """The marks are those of the model."""
        for plan, row in enumerate(state.plans):
            if not row.action:
                continue
            data = self.database.marks(plan)
            self.assertEqual(
                row.turn is model.Turn.HELD,
                marks.part(data, marks.TURN).get('held') is True,
                name,
            )
            self.assertEqual(row.carrier >= 0, marks.CARRIER in data, name)


def entry(delivery: model.Delivery) -> str:
    """What a delivery was told, by what it does next."""
    match delivery.step:
        case DeliveryStep.NONE:
            return 'CANCELLED'
        case DeliveryStep.END:
            return 'OVER'
        case _:
            return 'FREE'
