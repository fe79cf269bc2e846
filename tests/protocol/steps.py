# SPDX-License-Identifier: Apache-2.0
"""The steps of the model: what may happen next, and what comes of it.

A step that writes under the lock of the database is two: its begin, which has
read all that decides, and its commit. Whoever is killed in between has written
nothing.
"""

import enum
from collections.abc import Callable, Iterator

from tests.protocol.state import (
    DEAD,
    NOBODY,
    ActionState,
    Delivery,
    DeliveryStep,
    Engine,
    EngineStep,
    Plan,
    PlanState,
    Server,
    State,
    Turn,
)

_OVER = ActionState.SUCCEEDED, ActionState.SKIPPED
Step = tuple[str, State]
"""Its name, with who takes it, and the state after it."""


class Mistake(enum.Enum):
    """What may be wrong with the protocol."""

    NO_LOCK = 'the transactions of publishing and of turns overlap'
    NO_MARK = 'the row of the lock does not change'
    LATE_BASIS = 'the live plans are read after the servers'
    NOT_CHECKED = 'a plan can be started from its first row on'
    LATE_TURN = 'the turn is written after the request'
    NOT_RENEWED = 'a carrier gives no sign while it waits'
    NEVER_OVER = 'a turn counts after its action has ended'
    NEVER_OLD = 'a carrier counts however long it gives no sign'


class Protocol:
    """Who does what, and in which order.

    :param nodes: of the database; of several, each knows its own locks alone,
        and refuses who commits second
    :param mistakes: that it has
    """

    def __init__(self, nodes: int = 1, *mistakes: Mistake) -> None:
        self._is_cluster = nodes > 1
        self._mistakes = frozenset(mistakes)
        audit, move = list(EngineStep), list(DeliveryStep)[1:]
        if Mistake.LATE_BASIS in mistakes:
            audit[:2] = EngineStep.READ, EngineStep.LIVE_PLANS
        if Mistake.NOT_CHECKED in mistakes:
            audit.remove(EngineStep.PUBLISH)
            audit.remove(EngineStep.COMMIT)
        if Mistake.LATE_TURN in mistakes:
            move.remove(DeliveryStep.REQUEST)
            move.insert(move.index(DeliveryStep.TAKE), DeliveryStep.REQUEST)
        self.idle = Engine(audit[0])
        self._audit = dict(zip(audit, [*audit[1:], audit[0]], strict=True))
        self._move = dict(
            zip(move, [*move[1:], DeliveryStep.NONE], strict=True)
        )

    def start(
        self, engines: int, appliers: int, plans: int, repetitions: int = 1
    ) -> State:
        """The state in which nothing has happened.

        :param plans: how many may be written in all
        :param repetitions: messages that may be delivered twice
        """
        return State(
            engines=(self.idle,) * engines,
            are_down=(False,) * appliers,
            plans=(Plan(),) * plans,
            triggers=(0,) * plans,
            repetitions=repetitions,
        )

    def steps(self, state: State) -> Iterator[Step]:
        """All that may happen next."""
        for number, engine in enumerate(state.engines):
            after = self._engine_step[engine.step](self, state, number)
            if after is not None:
                yield f'engine {number}: {engine.step.name}', after
        for number, delivery in enumerate(state.deliveries):
            if delivery.step:
                take = self._delivery_step[delivery.step]
                after = take(self, state, number)
                if after is not None:
                    yield f'delivery {number}: {delivery.step.name}', after
        yield from self._broker(state)
        yield from self._surroundings(state)
        if state.crashes:
            yield from self._crashes(state)

    def private_step(self, state: State) -> Step | None:
        """A step that nobody else sees, and that hinders nobody.

        Whoever is killed before it might as well be killed after it: such a
        step need not be tried between those of others.
        """
        for number, engine in enumerate(state.engines):
            if self._is_private(state, engine):
                after = self._engine_step[engine.step](self, state, number)
                return f'engine {number}: {engine.step.name}', after
        for number, delivery in enumerate(state.deliveries):
            if _is_private(state, delivery):
                take = self._delivery_step[delivery.step]
                after = take(self, state, number)
                return f'delivery {number}: {delivery.step.name}', after
        return None

    def _is_private(self, state: State, engine: Engine) -> bool:
        """Whether nobody else sees what an engine does next."""
        if engine.step is EngineStep.TRIGGER:
            return not state.crashes
        return (
            engine.step in (EngineStep.WRITE_PLAN, EngineStep.WRITE_ACTION)
            and Mistake.NOT_CHECKED not in self._mistakes
        )

    def _is_free(self, state: State) -> bool:
        return (
            not state.lock
            or self._is_cluster
            or Mistake.NO_LOCK in self._mistakes
        )

    def _marked(self, state: State) -> State:
        """The row of the lock is changed: other nodes refuse what is open."""
        if not self._is_cluster or Mistake.NO_MARK in self._mistakes:
            return state
        opened = (DeliveryStep.COMMIT_ENTER, DeliveryStep.COMMIT_TAKE)
        return state._replace(
            engines=tuple(
                engine._replace(is_outdated=True)
                if engine.step is EngineStep.COMMIT
                else engine
                for engine in state.engines
            ),
            deliveries=tuple(
                delivery._replace(is_outdated=True)
                if delivery.step in opened
                else delivery
                for delivery in state.deliveries
            ),
        )

    # What an audit does.

    def _live_plans(self, state: State, number: int) -> State | None:
        engine = state.engines[number]
        if not self._is_free(state) or _is_full(state, engine):
            return None
        basis = sum(1 << plan for plan in _live(state))
        return self._audited(state, number, engine._replace(basis=basis))

    def _read(self, state: State, number: int) -> State | None:
        """It plans the move of the first server that is free to leave."""
        engine = state.engines[number]
        if _is_full(state, engine):
            return None
        bound = {state.plans[plan].server for plan in _live(state)}
        for server, row in enumerate(state.servers):
            if row == Server() and server not in bound:
                return self._audited(
                    state, number, engine._replace(server=server)
                )
        if engine == self.idle:
            return None
        return _with_engine(state, number, self.idle)

    def _write_plan(self, state: State, number: int) -> State:
        engine = state.engines[number]
        for uuid, row in enumerate(state.plans):
            if row.state is PlanState.ABSENT:
                is_open = Mistake.NOT_CHECKED in self._mistakes
                row = Plan(
                    PlanState.RECOMMENDED if is_open else PlanState.UNFINISHED,
                    engine.server,
                )
                state = _with_plan(state, uuid, row)
                return self._audited(state, number, engine._replace(plan=uuid))
        # The model holds no more plans.
        return _with_engine(state, number, self.idle)

    def _write_action(self, state: State, number: int) -> State:
        engine = state.engines[number]
        row = state.plans[engine.plan]._replace(action=ActionState.PENDING)
        return self._audited(
            _with_plan(state, engine.plan, row), number, engine
        )

    def _publish(self, state: State, number: int) -> State | None:
        if not self._is_free(state):
            return None
        engine = state.engines[number]
        has_rival = any(
            plan != engine.plan and not engine.basis >> plan & 1
            for plan in _live(state)
        )
        engine = engine._replace(has_rival=has_rival, is_outdated=False)
        return self._audited(state._replace(lock=number + 1), number, engine)

    def _commit_publishing(self, state: State, number: int) -> State:
        engine = state.engines[number]
        state = _unlocked(state, number + 1)
        if engine.is_outdated:
            engine = engine._replace(step=EngineStep.PUBLISH)
            return _with_engine(state, number, engine)
        row = state.plans[engine.plan]
        if engine.has_rival:
            row = row._replace(state=PlanState.CANCELLED)
            state = _with_plan(state, engine.plan, row)
            return _with_engine(state, number, self.idle)
        row = row._replace(state=PlanState.RECOMMENDED)
        state = self._audited(
            _with_plan(state, engine.plan, row), number, engine
        )
        return self._marked(state)

    def _trigger(self, state: State, number: int) -> State:
        state = _with_trigger(state, state.engines[number].plan, 1)
        return _with_engine(state, number, self.idle)

    def _audited(self, state: State, number: int, engine: Engine) -> State:
        """The audit does what comes next."""
        engine = engine._replace(step=self._audit[engine.step])
        return _with_engine(state, number, engine)

    # What becomes of a trigger.

    def _broker(self, state: State) -> Iterator[Step]:
        for plan, count in enumerate(state.triggers):
            if not count:
                continue
            for applier, is_down in enumerate(state.are_down):
                if not is_down:
                    after = _with_trigger(state, plan, -1)
                    delivery = Delivery(DeliveryStep.START, plan, applier)
                    after = after._replace(
                        deliveries=(*after.deliveries, delivery)
                    )
                    yield f'applier {applier} receives {plan}', after
            if state.repetitions:
                after = _with_trigger(state, plan, 1)
                yield (
                    f'{plan} is delivered twice',
                    after._replace(repetitions=state.repetitions - 1),
                )

    # What a delivery does.

    def _start(self, state: State, number: int) -> State:
        """Watcher's own step: it looks at nothing but a cancellation."""
        delivery = state.deliveries[number]
        row = state.plans[delivery.plan]
        if row.state is PlanState.CANCELLED:
            return _with_delivery(state, number, Delivery())
        row = row._replace(state=PlanState.ONGOING, applier=delivery.applier)
        state = _with_plan(state, delivery.plan, row)
        return self._moved(state, number)

    def _enter(self, state: State, number: int) -> State | None:
        if not self._is_free(state):
            return None
        delivery = state.deliveries[number]
        row = state.plans[delivery.plan]
        if row.action in _OVER:
            end = delivery._replace(step=DeliveryStep.END)
            return _with_delivery(state, number, end)
        if not _goes_on(row):
            return _cancelled(state, number)
        if row.carrier not in (NOBODY, number) and not row.is_sign_old:
            return None
        return self._opened(state, number)

    def _commit_entry(self, state: State, number: int) -> State:
        return self._committed(
            state,
            number,
            DeliveryStep.ENTER,
            lambda row: row._replace(carrier=number, is_sign_old=False),
        )

    def _preflight(self, state: State, number: int) -> State:
        delivery = state.deliveries[number]
        row = state.plans[delivery.plan]
        server = state.servers[row.server]
        if server.has_left or server.is_migrating:
            row = row._replace(action=ActionState.SKIPPED)
            end = delivery._replace(step=DeliveryStep.END)
            return _with_delivery(
                _with_plan(state, delivery.plan, row), number, end
            )
        return self._moved(state, number)

    def _take(self, state: State, number: int) -> State | None:
        """What Nova shows counts as well as the turns that others hold."""
        if not self._is_free(state):
            return None
        delivery = state.deliveries[number]
        row = state.plans[delivery.plan]
        if not _goes_on(row):
            return _cancelled(state, number)
        if row.carrier != number:
            again = delivery._replace(step=DeliveryStep.ENTER)
            return _with_delivery(state, number, again)
        if any(server.is_migrating for server in state.servers):
            return None
        is_kept = Mistake.NEVER_OVER in self._mistakes
        if any(
            other.turn is Turn.HELD and (other.action not in _OVER or is_kept)
            for plan, other in enumerate(state.plans)
            if plan != delivery.plan
        ):
            return None
        return self._opened(state, number)

    def _commit_turn(self, state: State, number: int) -> State:
        return self._committed(
            state,
            number,
            DeliveryStep.TAKE,
            lambda row: row._replace(
                turn=Turn.HELD, is_sign_old=False, action=ActionState.ONGOING
            ),
        )

    def _confirm(self, state: State, number: int) -> State:
        """All is looked at once more with the turn held."""
        delivery = state.deliveries[number]
        row = state.plans[delivery.plan]
        if row.state is PlanState.CANCELLED:
            row = row._replace(turn=Turn.RELEASED)
            state = _with_plan(state, delivery.plan, row)
            return _cancelled(state, number)
        server = state.servers[row.server]
        if server.has_left or server.is_migrating:
            row = row._replace(turn=Turn.RELEASED, action=ActionState.SKIPPED)
            end = delivery._replace(step=DeliveryStep.END)
            return _with_delivery(
                _with_plan(state, delivery.plan, row), number, end
            )
        return self._moved(state, number)

    def _request(self, state: State, number: int) -> State:
        """Nova refuses nothing but a second one at the same time."""
        server = state.plans[state.deliveries[number].plan].server
        row = state.servers[server]
        if not row.is_migrating:
            row = row._replace(is_migrating=True, requests=row.requests + 1)
        return self._moved(_with_server(state, server, row), number)

    def _watch(self, state: State, number: int) -> State | None:
        server = state.plans[state.deliveries[number].plan].server
        if state.servers[server].is_migrating:
            return None
        return self._moved(state, number)

    def _release(self, state: State, number: int) -> State | None:
        if not self._is_free(state):
            return None
        plan = state.deliveries[number].plan
        row = state.plans[plan]
        if row.carrier == number and row.turn is Turn.HELD:
            row = row._replace(turn=Turn.RELEASED)
        return self._moved(_with_plan(state, plan, row), number)

    def _end(self, state: State, number: int) -> State:
        plan = state.deliveries[number].plan
        row = state.plans[plan]
        if row.action is not ActionState.SKIPPED:
            row = row._replace(action=ActionState.SUCCEEDED)
        row = row._replace(state=PlanState.SUCCEEDED)
        return _with_delivery(_with_plan(state, plan, row), number, Delivery())

    def _moved(self, state: State, number: int) -> State:
        """The delivery does what comes next."""
        delivery = state.deliveries[number]
        delivery = delivery._replace(step=self._move[delivery.step])
        return _with_delivery(state, number, delivery)

    def _opened(self, state: State, number: int) -> State:
        """A transaction has begun."""
        delivery = state.deliveries[number]._replace(is_outdated=False)
        state = state._replace(lock=-number - 1)
        return self._moved(_with_delivery(state, number, delivery), number)

    def _committed(
        self,
        state: State,
        number: int,
        begin: DeliveryStep,
        written: Callable[[Plan], Plan],
    ) -> State:
        """A transaction has ended, or is to begin again."""
        delivery = state.deliveries[number]
        state = _unlocked(state, -number - 1)
        if delivery.is_outdated:
            return _with_delivery(state, number, delivery._replace(step=begin))
        row = written(state.plans[delivery.plan])
        state = self._moved(_with_plan(state, delivery.plan, row), number)
        return self._marked(state)

    # What happens by itself.

    def _surroundings(self, state: State) -> Iterator[Step]:
        for number, server in enumerate(state.servers):
            if server.is_migrating:
                after = server._replace(is_migrating=False, has_left=True)
                yield f'{number} arrives', _with_server(state, number, after)
        for applier, is_down in enumerate(state.are_down):
            if is_down:
                yield f'applier {applier} is back', _restarted(state, applier)
        for plan, row in enumerate(state.plans):
            if self._grows_old(state, row):
                after = _with_plan(state, plan, row._replace(is_sign_old=True))
                yield f'the sign of {plan} is old', after
            if _is_turn_past(state, plan):
                after = _with_plan(
                    state, plan, row._replace(turn=Turn.RELEASED)
                )
                yield f'the turn of {plan} has passed', after
            if _is_lost(state, plan):
                after = _with_plan(
                    state, plan, row._replace(state=PlanState.FORGOTTEN)
                )
                yield f'{plan} is forgotten', after

    def _grows_old(self, state: State, row: Plan) -> bool:
        """Whether its carrier may give no sign for so long as ``max_age``."""
        if row.is_sign_old or row.carrier == NOBODY:
            return False
        if Mistake.NEVER_OLD in self._mistakes:
            return False
        if row.carrier == DEAD:
            return True
        return Mistake.NOT_RENEWED in self._mistakes

    def _crashes(self, state: State) -> Iterator[Step]:
        before = state._replace(crashes=state.crashes - 1)
        for number, engine in enumerate(state.engines):
            if engine != self.idle:
                after = _unlocked(before, number + 1)
                after = _with_engine(after, number, self.idle)
                yield f'engine {number} is killed', after
        for applier, is_down in enumerate(state.are_down):
            if not is_down:
                yield f'applier {applier} is killed', _killed(before, applier)

    _engine_step = {
        EngineStep.LIVE_PLANS: _live_plans,
        EngineStep.READ: _read,
        EngineStep.WRITE_PLAN: _write_plan,
        EngineStep.WRITE_ACTION: _write_action,
        EngineStep.PUBLISH: _publish,
        EngineStep.COMMIT: _commit_publishing,
        EngineStep.TRIGGER: _trigger,
    }
    _delivery_step = {
        DeliveryStep.START: _start,
        DeliveryStep.ENTER: _enter,
        DeliveryStep.COMMIT_ENTER: _commit_entry,
        DeliveryStep.PREFLIGHT: _preflight,
        DeliveryStep.TAKE: _take,
        DeliveryStep.COMMIT_TAKE: _commit_turn,
        DeliveryStep.CONFIRM: _confirm,
        DeliveryStep.REQUEST: _request,
        DeliveryStep.WATCH: _watch,
        DeliveryStep.RELEASE: _release,
        DeliveryStep.END: _end,
    }


def _is_private(state: State, delivery: Delivery) -> bool:
    """Whether nobody else sees what a delivery does next.

    What its applier has begun is visible in its end, if it is killed.
    """
    row = state.plans[delivery.plan]
    match delivery.step:
        case DeliveryStep.WATCH:
            return not state.servers[row.server].is_migrating
        case DeliveryStep.START:
            is_plain = row.state is PlanState.RECOMMENDED and row.applier < 0
        case DeliveryStep.END:
            is_plain = (
                row.state is PlanState.ONGOING
                and row.action is ActionState.ONGOING
                and row.applier == delivery.applier
            )
        case _:
            return False
    others = [
        other
        for other in state.deliveries
        if other.step and other.plan == delivery.plan
    ]
    is_alone = not state.triggers[delivery.plan] and len(others) == 1
    return is_plain and is_alone and not state.crashes


def _is_full(state: State, engine: Engine) -> bool:
    """Whether it need not begin: the model holds no more plans."""
    return (
        engine.basis == 0
        and engine.server < 0
        and all(row.state for row in state.plans)
    )


def _live(state: State) -> list[int]:
    """The plans that move servers, will, or did a moment ago."""
    active = (PlanState.RECOMMENDED, PlanState.ONGOING)
    begun = (ActionState.ONGOING, ActionState.SUCCEEDED)
    return [
        plan
        for plan, row in enumerate(state.plans)
        if row.action and (row.state in active or row.action in begun)
    ]


def _goes_on(row: Plan) -> bool:
    return row.state is PlanState.ONGOING and row.action in (
        ActionState.PENDING,
        ActionState.ONGOING,
    )


def _is_turn_past(state: State, plan: int) -> bool:
    """Whether nobody counts the turn of a plan that was given up.

    For a while it counts: its carrier may be about to ask Nova.
    """
    row = state.plans[plan]
    return (
        row.state is PlanState.CANCELLED
        and row.turn is Turn.HELD
        and not any(
            delivery.plan == plan and delivery.step is DeliveryStep.REQUEST
            for delivery in state.deliveries
        )
    )


def _is_lost(state: State, plan: int) -> bool:
    """Whether the trigger of a plan never comes."""
    return (
        state.plans[plan].state is PlanState.RECOMMENDED
        and not state.triggers[plan]
        and not any(
            engine.plan == plan and engine.step is EngineStep.TRIGGER
            for engine in state.engines
        )
        and not any(delivery.plan == plan for delivery in state.deliveries)
    )


def _restarted(state: State, applier: int) -> State:
    """What an applier has left ONGOING is cancelled as it starts."""
    plans = tuple(
        row._replace(
            state=PlanState.CANCELLED,
            action=ActionState.CANCELLED if _goes_on(row) else row.action,
        )
        if row.state is PlanState.ONGOING and row.applier == applier
        else row
        for row in state.plans
    )
    down = list(state.are_down)
    down[applier] = False
    return state._replace(plans=plans, are_down=tuple(down))


def _killed(state: State, applier: int) -> State:
    down = list(state.are_down)
    down[applier] = True
    state = state._replace(are_down=tuple(down))
    for number, delivery in enumerate(state.deliveries):
        if delivery.applier == applier:
            state = _unlocked(state, -number - 1)
            state = _with_delivery(state, number, Delivery())
    return state


def _cancelled(state: State, number: int) -> State:
    """The plan of a delivery was given up."""
    plan = state.deliveries[number].plan
    row = state.plans[plan]._replace(state=PlanState.CANCELLED)
    if row.action is ActionState.PENDING:
        row = row._replace(action=ActionState.CANCELLED)
    return _with_delivery(_with_plan(state, plan, row), number, Delivery())


def _unlocked(state: State, holder: int) -> State:
    return state._replace(lock=0) if state.lock == holder else state


def _with_engine(state: State, number: int, engine: Engine) -> State:
    rows = list(state.engines)
    rows[number] = engine
    return state._replace(engines=tuple(rows))


def _with_plan(state: State, number: int, plan: Plan) -> State:
    rows = list(state.plans)
    rows[number] = plan
    return state._replace(plans=tuple(rows))


def _with_delivery(state: State, number: int, delivery: Delivery) -> State:
    rows = list(state.deliveries)
    rows[number] = delivery
    return state._replace(deliveries=tuple(rows))


def _with_server(state: State, number: int, server: Server) -> State:
    rows = list(state.servers)
    rows[number] = server
    return state._replace(servers=tuple(rows))


def _with_trigger(state: State, plan: int, change: int) -> State:
    rows = list(state.triggers)
    rows[plan] += change
    return state._replace(triggers=tuple(rows))
