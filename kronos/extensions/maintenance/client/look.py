# SPDX-License-Identifier: Apache-2.0
"""The look at a run before it begins: an audit plans it, nothing is started.

What the audit's sentence does not hold, its report does.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kronos.clients.rest import Json
from kronos.clients.watcher import WatcherClient
from kronos.common import plain_text
from kronos.engine.types import ComputeService
from kronos.extensions.maintenance import closing_reason, hints
from kronos.extensions.maintenance.client import fields, runs
from kronos.extensions.maintenance.client.exit_status import ExitStatus
from kronos.extensions.maintenance.client.fields import Fields
from kronos.extensions.maintenance.client.host_checks import HostCheck
from kronos.extensions.maintenance.client.run_history import CLOSE
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.osc import columns, moves
from kronos.osc.plans import Plan
from kronos.osc.run.audit_run import AuditRun
from kronos.osc.run.dialogue import Dialogue
from kronos.osc.run.polling import Polling
from kronos.osc.run.request import AuditRequest

WAITING = ('CONTINUOUS', 'EVENT')
"""Types of audits that plan again without being asked."""


@dataclass
class Look:
    """What an audit would do as the first step of a run."""

    spec: Maintenance
    answer: str
    plan: Plan | None
    balancing: list[str]
    """Audits of other strategies of Kronos that plan meanwhile."""
    foreign: dict[str, str]
    """Why hosts of the run are closed by others, by host."""
    hosts: list[HostCheck] = field(default_factory=list)
    """What is on each host of the run."""
    is_new: bool = True
    """Whether no run of this name has begun."""

    def _indicator(self, name: str) -> float | None:
        """A number of the plan; None: it is not known."""
        return self.plan.indicators.get(name) if self.plan else None

    @property
    def hints(self) -> list[str]:
        """What to look at before the run begins, as sentences."""
        done = self._indicator('hosts_done')
        number, texts = len(self.spec.hosts), []
        if done == number:
            texts.append(hints.NO_WORK)
        elif done == 0 and self.is_new:
            texts.append(hints.NOBODY_DONE)
        if self.foreign:
            texts.append(hints.closed([*self.foreign]))
        return texts + [hints.balanced(name) for name in self.balancing]

    @property
    def exit_status(self) -> ExitStatus:
        """REACHED: the run would begin, or all of its hosts are done."""
        done = self._indicator('hosts_done')
        is_possible = bool(self.plan and self.plan.moves)
        if is_possible or done == len(self.spec.hosts):
            return ExitStatus.REACHED
        return ExitStatus.BLOCKED

    @property
    def fields(self) -> Fields:
        plan = self.plan
        steps = plan.moves if plan else []
        return {
            'run': self.spec.run,
            'answer': self.answer,
            'k': self.spec.at_once,
            'most_at_once': self._indicator('most_at_once'),
            'closes_first': columns.NamesColumn(
                [step.source for step in steps if step.kind == CLOSE]
            ),
            'steps': columns.LinesColumn(
                [_step(step) for step in steps],
                [step.what for step in steps],
            ),
            'moves_at_least': self._indicator('moves_at_least'),
            'expected_seconds': self._indicator(fields.SECONDS_TO_END) or None,
            'eta': fields.eta(plan),
            'hints': columns.LinesColumn(
                [{'hint': text} for text in self.hints], self.hints
            ),
            'efficacy': columns.NumbersColumn(plan.indicators if plan else {}),
            'closed_by_others': columns.LinesColumn(
                [{'host': h, 'reason': r} for h, r in self.foreign.items()],
                [f'{h}: {r}' for h, r in self.foreign.items()],
            ),
            'balancing_audits': columns.NamesColumn(self.balancing),
            'hosts': columns.LinesColumn(
                [check.document for check in self.hosts],
                [line for check in self.hosts for line in check.lines],
            ),
        }


def _step(step: moves.MoveAction) -> Fields:
    return {
        'action_type': step.kind,
        'server': step.server,
        'name': step.name,
        'source': step.source,
        'destination': step.destination,
    }


def take(
    watcher: WatcherClient,
    talk: Dialogue,
    polling: Polling,
    request: AuditRequest,
) -> tuple[str, Plan | None]:
    """What the audit says, and its plan, which is cancelled.

    :raises NoServiceError: no decision engine takes the audit
    :raises KronosException: it failed, or Watcher refuses
    """
    run = AuditRun(watcher, talk, polling, request)
    plan = run.run()
    uuid = watcher.audit(request.name)['uuid']
    for row in list(watcher.plans_of(uuid)):
        if row['state'] == 'RECOMMENDED':
            watcher.set_plan_state(row['uuid'], 'CANCELLED')
    return run.message, plan


def balancing(rows: Iterable[Json]) -> list[str]:
    """:param rows: all audits of Watcher"""
    return [
        f'{plain_text.line(row.get("name") or row["uuid"])} '
        f'({row.get("strategy_name")})'
        for row in rows
        if (row.get('strategy_name') or '').startswith(moves.PREFIX)
        and row.get('strategy_name') != runs.STRATEGY
        and row.get('audit_type') in WAITING
        and row.get('state') in runs.LIVE
    ]


def foreign(
    spec: Maintenance, services: dict[str, ComputeService]
) -> dict[str, str]:
    """The reasons of hosts of a run that others have closed, by host."""
    reasons = {}
    for name in spec.hosts:
        service = services.get(name)
        if service is None or service.status != 'disabled':
            continue
        own = closing_reason.parsed(service.disabled_reason)
        if own is None or own.run != spec.run:
            reasons[name] = plain_text.line(service.disabled_reason)
    return reasons
