# SPDX-License-Identifier: Apache-2.0
"""The page of a plan, written for those who cannot read the report."""

import dataclasses

from kronos.common import atomic_files, exceptions, plain_text
from kronos.osc import moves
from kronos.osc.audits import Audit
from kronos.osc.plans import Plan
from kronos.reports.html import action_plan


def write(plan: Plan, audit: Audit, path: str) -> None:
    """:raises KronosException: the file cannot be written"""
    before, after = plan.imbalance
    document = {
        'uuid': plan.uuid,
        'state': plan.state,
        'message': plan.message,
        'audit_message': audit.message,
        'done': plan.done,
        'failed': plan.failed,
        'imbalance_before': before,
        'imbalance_after': after,
        'efficacy': plan.efficacy,
        'moves': [dataclasses.asdict(move) for move in plan.moves],
    }
    facts = [
        ('Strategy', plan.strategy),
        ('Scope', ', '.join(plan.scopes)),
        ('Made', moves.moment(plan.created)),
        ('Audit', audit.name),
        ('Audit uuid', plan.audit),
    ]
    try:
        atomic_files.write(path, action_plan.render(document, facts))
    except OSError as error:
        raise exceptions.KronosException(
            f'{plain_text.line(path)} cannot be written: '
            f'{error.strerror or error}; name another file with --html'
        ) from error
