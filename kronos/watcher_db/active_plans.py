# SPDX-License-Identifier: Apache-2.0
"""The plans that Watcher carries out, or is about to."""

import datetime
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils
from watcher import objects
from watcher.db.sqlalchemy import models

from kronos.snapshots import stale_migrations

_Plan = models.ActionPlan.__table__
_Audit = models.Audit.__table__


def condition() -> Any:
    """Holds for the rows of such plans, joined with their audits."""
    state = objects.action_plan.State
    handed_over = timeutils.utcnow() - datetime.timedelta(
        seconds=stale_migrations.GRACE_SECONDS
    )
    return sa.or_(
        _Plan.c.state.in_((state.PENDING, state.ONGOING, state.CANCELLING)),
        # An applier has been told to start it, and has no time yet.
        sa.and_(
            _Plan.c.state == state.RECOMMENDED,
            _Audit.c.auto_trigger.is_(True),
            _Plan.c.created_at >= handed_over,
        ),
    )
