# SPDX-License-Identifier: Apache-2.0
"""The exit statuses of ``openstack optimize kronos run``."""

import enum


class ExitStatus(enum.IntEnum):
    """How a run ended; 0 only if all that you asked for went well."""

    DONE = 0
    REFUSED = 1
    """Watcher does not answer, refuses, or the audit failed."""
    USAGE = 2
    NOTHING_PLANNED = 3
    """The audit ended well, and its plan has no action."""
    NOT_STARTED = 4
    """You did not confirm the start of the plan, or no terminal asked you."""
    PLAN_FAILED = 5
    """Not every action of the plan SUCCEEDED."""
    NO_SERVICE = 6
    """No decision engine took the audit, or no applier took the plan."""
    INTERRUPTED = 130
    """You pressed Ctrl-C."""
