# SPDX-License-Identifier: Apache-2.0
"""The state of the model of publishing and turns, and what must hold in it.

Two servers stand on one host, and each is to leave it once. Decision engines
plan that, one move a plan, and appliers carry the plans out.
"""

import enum
from typing import NamedTuple

SERVERS = 2
OUT_OF_HOST = 1
"""Moves that may leave the host at a time."""

NOBODY, DEAD = -1, -2
"""Carriers: none has come, and one that is gone."""


class PlanState(enum.IntEnum):
    """The row of a plan in Watcher's database."""

    ABSENT = 0
    UNFINISHED = 1
    """CANCELLED: not all of it is written, or it is not published."""
    RECOMMENDED = 2
    FORGOTTEN = 3
    """RECOMMENDED, and its trigger never came."""
    ONGOING = 4
    SUCCEEDED = 5
    CANCELLED = 6


class ActionState(enum.IntEnum):
    """The row of an action in Watcher's database."""

    ABSENT = 0
    PENDING = 1
    ONGOING = 2
    SUCCEEDED = 3
    SKIPPED = 4
    CANCELLED = 5


class Turn(enum.IntEnum):
    """The mark ``turn`` of an action."""

    NONE = 0
    HELD = 1
    RELEASED = 2


class Plan(NamedTuple):
    """A plan of one move, with its action and the action's marks."""

    state: PlanState = PlanState.ABSENT
    server: int = -1
    action: ActionState = ActionState.ABSENT
    carrier: int = NOBODY
    """The delivery that carries the move out."""
    is_sign_old: bool = False
    """Whether the carrier's last sign is older than ``max_age``."""
    turn: Turn = Turn.NONE
    applier: int = -1
    """Who set it ONGOING last."""


class EngineStep(enum.IntEnum):
    """What an audit does next."""

    LIVE_PLANS = 0
    READ = 1
    """The past and the servers."""
    WRITE_PLAN = 2
    WRITE_ACTION = 3
    PUBLISH = 4
    COMMIT = 5
    TRIGGER = 6


class Engine(NamedTuple):
    """The audit of a decision engine."""

    step: EngineStep
    basis: int = 0
    """The plans that were live, a bit each."""
    server: int = -1
    plan: int = -1
    has_rival: bool = False
    """Whether it has read of one in the transaction that it is in."""
    is_outdated: bool = False
    """Whether another node has changed the row of the lock since then."""


class DeliveryStep(enum.IntEnum):
    """What a delivery does next."""

    NONE = 0
    """There is none, or it is over."""
    START = 1
    ENTER = 2
    COMMIT_ENTER = 3
    PREFLIGHT = 4
    TAKE = 5
    COMMIT_TAKE = 6
    CONFIRM = 7
    REQUEST = 8
    WATCH = 9
    RELEASE = 10
    END = 11


class Delivery(NamedTuple):
    """A plan in the hands of an applier."""

    step: DeliveryStep = DeliveryStep.NONE
    plan: int = -1
    applier: int = -1
    is_outdated: bool = False
    """As of an engine."""


class Server(NamedTuple):
    """A server as Nova knows it."""

    has_left: bool = False
    is_migrating: bool = False
    requests: int = 0
    """Live migrations that Nova has accepted."""


class State(NamedTuple):
    """All of it; hashable."""

    engines: tuple[Engine, ...]
    are_down: tuple[bool, ...]
    """By applier: it was killed, and is not back yet."""
    plans: tuple[Plan, ...]
    triggers: tuple[int, ...]
    """Messages in the broker, by plan."""
    deliveries: tuple[Delivery, ...] = ()
    servers: tuple[Server, ...] = (Server(),) * SERVERS
    lock: int = 0
    """0: free; else an engine, from 1 up, or a delivery, from -1 down."""
    crashes: int = 1
    """How many more there may be."""
    repetitions: int = 1
    """How many more messages the broker may deliver twice."""


STARTED = (PlanState.RECOMMENDED, PlanState.ONGOING)


def violation(state: State) -> str:
    """Which promise is broken; '' if none is."""
    if any(server.requests > 1 for server in state.servers):
        return 'a server is moved twice'
    if sum(server.is_migrating for server in state.servers) > OUT_OF_HOST:
        return 'more moves leave the host at a time than may'
    started = [
        plan.server
        for plan in state.plans
        if plan.state in STARTED and not state.servers[plan.server].has_left
    ]
    if len(started) != len({*started}):
        return 'two started plans move one server'
    return ''


def is_at_rest(state: State) -> bool:
    """Whether nobody is in the midst of anything."""
    reading = (EngineStep.LIVE_PLANS, EngineStep.READ)
    return (
        not any(state.triggers)
        and all(engine.step in reading for engine in state.engines)
        and not any(delivery.step for delivery in state.deliveries)
        and not any(server.is_migrating for server in state.servers)
        and all(plan.state is not PlanState.ONGOING for plan in state.plans)
    )
