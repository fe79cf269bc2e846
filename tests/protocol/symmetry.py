# SPDX-License-Identifier: Apache-2.0
"""States that differ in nothing that matters are one state.

It does not matter which of two engines or appliers does something, in what
order plans were written and deliveries came, nor what is left of them once
nobody looks at it.
"""

import itertools

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
    State,
    Turn,
)

_OVER = (PlanState.SUCCEEDED, PlanState.CANCELLED)
_ABSENT = Plan()
_DEAD = Plan(PlanState.CANCELLED)
"""A plan that nobody looks at any more."""
_LOOKING = (EngineStep.LIVE_PLANS, EngineStep.READ, EngineStep.WRITE_PLAN)
_OPENED = (DeliveryStep.COMMIT_ENTER, DeliveryStep.COMMIT_TAKE)


def canonical(state: State, idle: Engine) -> State:
    """The one that stands for all that are like it.

    :param idle: an engine that has not begun an audit
    """
    state = _with_sorted_plans(_without_ends(state), idle)
    state = _with_sorted_engines(state)
    if not state.crashes and not any(state.are_down):
        # Who carries a plan out matters no more.
        names: tuple[int, ...] = (0,) * len(state.are_down)
        return _with_appliers(state, names)
    first, *others = (
        _with_appliers(state, names)
        for names in itertools.permutations(range(len(state.are_down)))
    )
    return min(first, *others) if others else first


def _without_ends(state: State) -> State:
    carried = {row.plan for row in state.deliveries if row.step}
    carried.update(plan for plan, count in enumerate(state.triggers) if count)
    planned = {row.plan for row in state.engines}
    plans = tuple(
        _without_end(row, state, plan in carried, plan in planned)
        for plan, row in enumerate(state.plans)
    )
    return state if plans == state.plans else state._replace(plans=plans)


def _without_end(
    row: Plan, state: State, is_delivered: bool, is_planned: bool
) -> Plan:
    if row.state is PlanState.FORGOTTEN or (
        row.state is PlanState.UNFINISHED and not is_planned
    ):
        return _DEAD
    if row.state in _OVER and not is_delivered:
        is_live = row.action is ActionState.SUCCEEDED
        is_begun = row.action is ActionState.ONGOING
        if not (is_live or is_begun or row.turn is Turn.HELD):
            return _DEAD
        row = row._replace(is_sign_old=False, applier=-1)
        if row.turn is not Turn.HELD:
            row = row._replace(turn=Turn.NONE, carrier=NOBODY)
    if row.carrier >= 0 and not state.deliveries[row.carrier].step:
        return row._replace(carrier=DEAD)
    return row


def _with_sorted_plans(state: State, idle: Engine) -> State:
    """Plans stand in the order of their rows; those to come are the last."""
    old = sorted(
        range(len(state.plans)),
        key=lambda plan: _rank(state, plan),
    )
    new = {plan: number for number, plan in enumerate(old)}
    plans = tuple(state.plans[plan] for plan in old)
    bits = [
        (1 << plan, 1 << number)
        for number, plan in enumerate(old)
        if state.plans[plan] != _DEAD
    ]
    is_full = plans[-1] != _ABSENT
    return state._replace(
        engines=tuple(
            idle
            if is_full and engine.step in _LOOKING
            else _cleaned(engine, new, bits)
            for engine in state.engines
        ),
        plans=plans,
        triggers=tuple(state.triggers[plan] for plan in old),
        deliveries=tuple(
            Delivery(
                row.step,
                new[row.plan],
                row.applier,
                row.is_outdated and row.step in _OPENED,
            )
            if row.step
            else row
            for row in state.deliveries
        ),
    )


def _rank(state: State, plan: int) -> tuple[int, ...]:
    """What stands first; none of it depends on an order."""
    row = state.plans[plan]
    if row == _ABSENT:
        return (1,)
    return (
        0,
        row.state,
        row.server,
        row.action,
        row.turn,
        min(row.carrier, 0),
        row.is_sign_old,
        state.triggers[plan],
        *sorted(
            row.step
            for row in state.deliveries
            if row.step and row.plan == plan
        ),
    )


def _cleaned(
    engine: Engine, new: dict[int, int], bits: list[tuple[int, int]]
) -> Engine:
    """Without what it needs no more, and with the new numbers of plans."""
    basis = sum(number for plan, number in bits if engine.basis & plan)
    match engine.step:
        case EngineStep.TRIGGER:
            return Engine(engine.step, plan=new[engine.plan])
        case EngineStep.COMMIT:
            return Engine(
                engine.step,
                basis,
                -1,
                new[engine.plan],
                engine.has_rival,
                engine.is_outdated,
            )
        case EngineStep.PUBLISH | EngineStep.WRITE_ACTION:
            return Engine(engine.step, basis, plan=new[engine.plan])
    return Engine(engine.step, basis, engine.server)


def _with_sorted_engines(state: State) -> State:
    rows = sorted(
        (engine, number) for number, engine in enumerate(state.engines)
    )
    lock = state.lock
    if lock > 0:
        lock = [number for _, number in rows].index(lock - 1) + 1
    engines = tuple(engine for engine, _ in rows)
    return state._replace(engines=engines, lock=lock)


def _with_appliers(state: State, names: tuple[int, ...]) -> State:
    """The appliers have other numbers, and the deliveries stand in order.

    :param names: the new numbers by the old ones
    """
    rows = sorted(
        (delivery._replace(applier=names[delivery.applier]), number)
        for number, delivery in enumerate(state.deliveries)
        if delivery.step
    )
    numbers = {old: new for new, (_, old) in enumerate(rows)}
    lock = state.lock
    if lock < 0:
        lock = -numbers[-lock - 1] - 1
    down = [False] * len(names)
    for old, new in enumerate(names):
        down[new] = state.are_down[old]
    return state._replace(
        are_down=tuple(down),
        plans=tuple(
            row._replace(
                carrier=numbers.get(row.carrier, row.carrier),
                applier=names[row.applier] if row.applier >= 0 else -1,
            )
            for row in state.plans
        ),
        deliveries=tuple(delivery for delivery, _ in rows),
        lock=lock,
    )
