# SPDX-License-Identifier: Apache-2.0
"""The scheduler of Watcher's continuous audits, and the guard of it.

The thread of APScheduler ends if the database refuses to note when an audit
runs next, as a node of Galera does that is cut off. Watcher takes the
scheduler for running: no continuous audit of the engine runs any more, nothing
says so, and no other engine takes over.
"""

import functools
import threading
import time
from typing import Any

from oslo_log import log as logging

LOG = logging.getLogger(__name__)

THREAD = 'APScheduler'
"""What APScheduler calls its threads."""
PAUSE = 10.0
"""Seconds from one look to the next."""


def watch() -> None:
    """Have a thread look after the scheduler of this process from now on.

    Nothing in a process that has no scheduler, such as a test.
    """
    if any(thread.name == THREAD for thread in threading.enumerate()):
        _guard()


@functools.cache
def _guard() -> threading.Thread:
    thread = threading.Thread(
        target=_look_after, name='kronos-audit-scheduler', daemon=True
    )
    thread.start()
    return thread


def _look_after() -> None:
    # Watcher loads strategies before it.
    from watcher.decision_engine.audit import continuous

    while True:
        time.sleep(PAUSE)
        try:
            revive(continuous.ContinuousAuditHandler().scheduler)
        except Exception:
            LOG.exception('The scheduler of audits could not be looked after')


def revive(scheduler: Any) -> bool:
    """Start the thread of a scheduler again, if it has died.

    :param scheduler: a BackgroundScheduler of APScheduler
    :returns: whether it had died
    """
    thread = getattr(scheduler, '_thread', None)
    if thread is None or thread.is_alive() or not scheduler.running:
        return False
    LOG.error(
        "The scheduler of this decision engine's continuous audits had "
        'stopped; Kronos has started it again. Watcher logs the cause as '
        '"Exception in thread %s".',
        THREAD,
    )
    # As its start does, which refuses as long as it is said to run.
    scheduler._thread = threading.Thread(
        target=scheduler._main_loop, name=THREAD, daemon=True
    )
    scheduler._thread.start()
    scheduler.wakeup()
    return True
