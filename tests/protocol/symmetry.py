# SPDX-License-Identifier: Apache-2.0
"""States that differ in nothing that matters are one state.

It does not matter which of two engines or appliers does something, nor in
what order deliveries came, nor what is left of plans that are over.
"""

import itertools

from tests.protocol.state import (
    DEAD,
    NOBODY,
    ActionState,
    Plan,
    PlanState,
    State,
    Turn,
)

_OVER = (PlanState.SUCCEEDED, PlanState.CANCELLED)


def canonical(state: State) -> State:
    """The one that stands for all that are like it."""
    state = _with_sorted_engines(_without_ends(state))
    return min(
        _with_appliers(state, names)
        for names in itertools.permutations(range(len(state.are_down)))
    )


def _without_ends(state: State) -> State:
    delivered = {row.plan for row in state.deliveries if row.step}
    plans = tuple(
        _without_end(row, state, plan in delivered)
        for plan, row in enumerate(state.plans)
    )
    return state._replace(plans=plans)


def _without_end(row: Plan, state: State, is_delivered: bool) -> Plan:
    if row.state in _OVER and not is_delivered:
        is_live = row.action is ActionState.SUCCEEDED
        server = row.server if is_live else -1
        row = row._replace(server=server, is_sign_old=False, applier=-1)
        if row.turn is not Turn.HELD:
            row = row._replace(turn=Turn.NONE, carrier=NOBODY)
    if row.carrier >= 0 and not state.deliveries[row.carrier].step:
        return row._replace(carrier=DEAD)
    return row


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
