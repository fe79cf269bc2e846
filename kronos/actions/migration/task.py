# SPDX-License-Identifier: Apache-2.0
"""The task of a migration, its settings, and its ways to the world."""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from oslo_log import log as logging

from kronos.actions.migration import (
    concurrency,
    notifications,
    preflight,
    slots,
    verification,
)
from kronos.clients import placement
from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.live_migration import LiveMigration
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault

LOG = logging.getLogger(__name__)

T = TypeVar('T')


@dataclass
class MigrationSettings:
    """What is to be moved, and within which limits."""

    task: preflight.MigrationTask
    timing: verification.Timing = field(default_factory=verification.Timing)
    limits: concurrency.Limits = field(default_factory=concurrency.Limits)
    not_before: float = 0.0
    """Unix seconds."""
    preflight_wait: float = 60.0
    """Seconds for what stands in the way to go away by itself."""
    max_retries: int = 3
    retry_backoff: float = 30.0
    """Seconds before the first further try; then doubled."""
    soft_rules_bind: bool = True
    require_headroom: bool = True
    resources: list[str] = field(default_factory=lambda: ['VCPU', 'MEMORY_MB'])
    """The classes that are looked at in Placement."""


@dataclass
class Patience:
    """How time passes for a move, and what it does while it waits."""

    is_cancelled: Callable[[], bool]
    """Whether the plan was cancelled; asked all the time."""
    tell: Callable[[str], object]
    """Shows why the move waits; '' when it does no more."""
    clock: Callable[[], float] = time.monotonic
    """Seconds that only grow."""
    wall: Callable[[], float] = time.time
    """Unix seconds."""
    sleep: Callable[[float], object] = time.sleep
    """Waits so many seconds, or less when it is to end early."""

    def stop_if_cancelled(self) -> None:
        """:raises MigrationCancelled: the plan was cancelled"""
        if self.is_cancelled():
            raise faults.error(Fault.PLAN_CANCELLED, 'its plan was cancelled')


@dataclass(kw_only=True)
class MigrationContext(Patience):
    """Besides, whom a move asks and tells."""

    nova: NovaClient
    live_migration: LiveMigration
    placement: placement.PlacementClient
    turns: slots.Slots
    notices: notifications.Notices


def reach(
    order: MigrationSettings, patience: Patience, connect: Callable[[], T]
) -> T:
    """Connect to a service, again if Keystone is away for a moment.

    :raises KronosException: it is away for longer, or for good
    """
    for failures in itertools.count():
        try:
            return connect()
        except exceptions.ClientError as error:
            delay = next_try(order, error, failures)
            if delay is None:
                raise given_up(order, error) from error
            back_off(order, patience, error, delay)
    raise AssertionError


def next_try(
    order: MigrationSettings, error: exceptions.KronosException, failures: int
) -> float | None:
    """Seconds until a further try: more each time, or as Nova asks.

    :param failures: how many there were before this one
    :returns: None if there is no further try
    """
    asked, patience = _asked(error), order.timing.queue_timeout
    passing = bool(error.kwargs.get('transient'))
    if not passing or failures >= order.max_retries or asked > patience:
        return None
    return max(asked, min(order.retry_backoff * 2.0**failures, patience))


def back_off(
    order: MigrationSettings,
    world: Patience,
    error: exceptions.KronosException,
    delay: float,
) -> None:
    """Wait for so many seconds before a further try.

    :raises MigrationCancelled: the plan was cancelled meanwhile
    """
    LOG.warning(
        'Instance %s: %s; the next try is in %g s',
        order.task.instance,
        error,
        delay,
    )
    world.tell(f'tries again in {delay:g} s: {error}')
    end = world.clock() + delay
    while (left := end - world.clock()) > 0:
        world.stop_if_cancelled()
        world.sleep(min(left, order.timing.poll_interval))


def given_up(
    order: MigrationSettings, error: exceptions.KronosException, *more: str
) -> exceptions.KronosException:
    """An error that no further try follows, with what is to be said of it."""
    asked = _asked(error)
    long = asked > order.timing.queue_timeout
    wish = f'it asks to wait {asked:g} s' if long else ''
    return type(error)(joined(str(error), wish, *more), **error.kwargs)


def _asked(error: exceptions.KronosException) -> float:
    return float(error.kwargs.get('retry_after') or 0.0)


def joined(*parts: str) -> str:
    """What is not empty, as one text."""
    return '; '.join(part for part in parts if part)
