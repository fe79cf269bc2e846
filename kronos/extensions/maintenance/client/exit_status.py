# SPDX-License-Identifier: Apache-2.0
"""The exit statuses of ``openstack optimize kronos maintenance``."""

import enum


class ExitStatus(enum.IntEnum):
    """How far a run, or one of its hosts, has come."""

    REACHED = 0
    """The host, or each host of the run, is in the state."""
    ERROR = 1
    """Watcher or Nova does not answer, or refuses."""
    USAGE = 2
    NOT_YET = 3
    """The run goes on, and may reach it."""
    BLOCKED = 4
    """Somebody has to do something, or the run never reaches it."""
    PAUSED = 5
    """The audit of the run is SUSPENDED."""
    LATE = 6
    """The host, or a host of the run, is late."""
    INTERRUPTED = 130
    """You pressed Ctrl-C."""
