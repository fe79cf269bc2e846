# SPDX-License-Identifier: Apache-2.0
"""What is a move told, and through what does it reach the world?"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from oslo_log import log as logging

from kronos.actions import aftermath, notices, preflight, traffic, turns
from kronos.clients import nova, placement
from kronos.common import exceptions

LOG = logging.getLogger(__name__)


@dataclass
class Order:
    """What is to be moved, and within which limits."""

    task: preflight.Task
    timing: aftermath.Timing = field(default_factory=aftermath.Timing)
    limits: traffic.Limits = field(default_factory=traffic.Limits)
    not_before: float = 0.0
    """Unix seconds."""
    max_retries: int = 3
    retry_backoff: float = 30.0
    """Seconds before the first further try; then doubled."""
    soft_rules_bind: bool = True
    require_headroom: bool = True
    resources: list[str] = field(default_factory=lambda: ['VCPU', 'MEMORY_MB'])
    """The classes that are looked at in Placement."""


@dataclass
class World:
    """Whom a move asks and tells, and how time passes for it."""

    nova: nova.NovaClient
    placement: placement.PlacementClient
    turns: turns.Turns
    notices: notices.Notices
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
            raise exceptions.MigrationCancelled('its plan was cancelled')


def back_off(
    order: Order,
    world: World,
    error: exceptions.KronosException,
    failures: int,
) -> None:
    """Wait before another try: longer each time, and if Nova asks for it.

    :param failures: how many there were before this one
    :raises KronosException: the error itself, after too many of them
    :raises MigrationCancelled: the plan was cancelled meanwhile
    """
    asked = error.kwargs.get('retry_after') or 0.0
    delay = max(order.retry_backoff * 2**failures, asked)
    if failures >= order.max_retries or delay > order.timing.queue_timeout:
        raise error
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
