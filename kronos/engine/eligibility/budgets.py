# SPDX-License-Identifier: Apache-2.0
"""The disruption budgets: how much of each is used, and when it is free.

A move counts from its start until its window has passed, whoever requested
it. A move that waits in a started plan counts as if it started now.
"""

import datetime
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from kronos.engine.reasons import Code, Reason
from kronos.engine.types import (
    AggregateResult,
    BudgetStanding,
    Disruption,
    FullBudget,
    Instance,
    ServerGroup,
    Snapshot,
)
from kronos.options import budget as syntax
from kronos.options.budget import Budget


class BudgetKind(StrEnum):
    """Whose moves a budget counts."""

    PROJECT = 'project'
    GROUP = 'group'
    INSTANCE = 'instance'

    @property
    def option(self) -> str:
        return f'{self.value}_budget'


_NOUNS = {
    BudgetKind.PROJECT: 'its project',
    BudgetKind.GROUP: 'its server group',
    BudgetKind.INSTANCE: 'the server',
}


class BudgetOptions(Protocol):
    """The options that budgets depend on, as texts."""

    project_budget: str
    project_budgets: dict[str, str]
    group_budget: str
    instance_budget: str
    budget_exempt: list[str]


def is_limited(options: BudgetOptions) -> bool:
    """Whether there is any budget."""
    return any(_texts(options))


def counts_projects(options: BudgetOptions) -> bool:
    """Whether the projects of servers that have moved matter."""
    return bool(options.project_budget or options.project_budgets)


def counts_project(options: BudgetOptions, project: str) -> bool:
    """Whether a project has a budget."""
    return bool(options.project_budgets.get(project, options.project_budget))


def is_exempt(options: BudgetOptions, phase: str) -> bool:
    """Whether no budget limits the moves of a phase."""
    return phase in options.budget_exempt or not is_limited(options)


def longest_window(options: BudgetOptions) -> int:
    """Seconds of the longest window; 0 if no budget has one."""
    budgets = (syntax.parsed(text) for text in _texts(options))
    return max((each.seconds for each in budgets if each), default=0)


def _texts(options: BudgetOptions) -> Iterator[str]:
    yield from (
        options.project_budget,
        options.group_budget,
        options.instance_budget,
    )
    yield from options.project_budgets.values()


@dataclass
class Account:
    """A budget of one project, group or server, with what is used of it."""

    kind: BudgetKind
    key: str
    """Id of the project, or uuid."""
    budget: Budget
    now: float
    """Unix seconds."""
    starts: list[float] = field(default_factory=list)
    """Unix seconds of the moves in the window, the oldest first."""
    waiting: int = 0
    under_way: int = 0

    @property
    def used(self) -> int:
        """Moves in the window; without a window, those at this time."""
        if self.budget.moves is None:
            return self.under_way + self.waiting
        return len(self.starts) + self.waiting

    @property
    def free(self) -> int:
        """How many more moves may start now; below 0: it is exceeded."""
        limits = []
        if self.budget.moves is not None:
            in_window = len(self.starts) + self.waiting
            limits.append(self.budget.moves - in_window)
        if self.budget.at_once is not None:
            at_once = self.under_way + self.waiting
            limits.append(self.budget.at_once - at_once)
        return min(limits)

    def window_is_full(self, planned: int = 0) -> bool:
        """Whether no more move may start, however many end.

        :param planned: moves that a plan has already
        """
        most = self.budget.moves
        taken = len(self.starts) + self.waiting + planned
        return most is not None and taken >= most

    def free_at(self, planned: int = 0) -> float:
        """When a move may start again by the window, in Unix seconds.

        At the earliest, if that depends on moves that have not started.
        """
        if self.budget.moves is None:
            return self.now
        later = [self.now] * (self.waiting + planned)
        starts = [*self.starts, *later]
        position = len(starts) - self.budget.moves
        if position < 0:
            return self.now
        return starts[position] + self.budget.seconds

    def reason(self, planned: int = 0) -> Reason:
        """That the budget is used up.

        :param planned: moves that the plan has already
        """
        noun = _NOUNS[self.kind]
        parts = [f'{self.waiting} in started plans'] if self.waiting else []
        parts += [f'{planned} in this plan'] if planned else []
        text = f'{self.kind.option} {self.budget} of {noun} is used up: '
        if not self.window_is_full(planned):
            moves = ', '.join([f'{self.under_way} under way', *parts])
            text += f'{moves}; it is free again when one of them ends'
            return Reason(text, Code.DISRUPTION_BUDGET, self.kind.option)
        window = f'{len(self.starts)} in {self.budget.seconds} s'
        end = self.free_at(planned)
        moment = datetime.datetime.fromtimestamp(math.ceil(end), datetime.UTC)
        is_open = end >= self.now + self.budget.seconds
        text += (
            f'{", ".join([window, *parts])}; it is free again at '
            f'{moment:%Y-%m-%dT%H:%M:%SZ}'
            f'{" at the earliest" if is_open else ""}'
        )
        return Reason(text, Code.DISRUPTION_BUDGET, self.kind.option, end)


class Budgets:
    """The accounts of the projects, groups and servers of a cloud.

    :param disruptions: of the whole cloud
    :param groups: those whose members may move
    :param now: Unix seconds
    """

    def __init__(
        self,
        options: BudgetOptions,
        disruptions: Iterable[Disruption],
        groups: Sequence[ServerGroup],
        now: float,
    ) -> None:
        self._now = now
        self._budget = {
            BudgetKind.PROJECT: syntax.parsed(options.project_budget),
            BudgetKind.GROUP: syntax.parsed(options.group_budget),
            BudgetKind.INSTANCE: syntax.parsed(options.instance_budget),
        }
        self._of_project = {
            project: syntax.parsed(text)
            for project, text in options.project_budgets.items()
        }
        self._groups: dict[str, list[str]] = {}
        """By uuid of a member."""
        if self._budget[BudgetKind.GROUP] is not None:
            for group in groups:
                for member in group.members:
                    self._groups.setdefault(member, []).append(group.uuid)
        self._accounts: dict[tuple[BudgetKind, str], Account] = {}
        self._has_projects = any(
            (self._budget[BudgetKind.PROJECT], *self._of_project.values())
        )
        self._count(disruptions)

    def of(self, instance: Instance) -> list[Account]:
        """The accounts that a move of an instance counts in."""
        return list(self._of(instance.uuid, instance.project_id))

    def limiting(self, instance: Instance) -> list[Account]:
        """Those of :meth:`of` that matter to an instance that moves once.

        Its own is among them only if something of it is used.
        """
        accounts = list(self._shared(instance.uuid, instance.project_id))
        own = self._accounts.get((BudgetKind.INSTANCE, instance.uuid))
        return accounts if own is None else [*accounts, own]

    @property
    def counts_instances(self) -> bool:
        """Whether every instance has an account of its own."""
        return self._budget[BudgetKind.INSTANCE] is not None

    def used(self) -> list[Account]:
        """Those of which something is used."""
        return [
            account
            for account in self._accounts.values()
            if account.starts or account.waiting or account.under_way
        ]

    def refusal(self, instance: Instance) -> Reason | None:
        """Why an instance may not move now; None if it may."""
        for account in self.limiting(instance):
            if account.free <= 0:
                return account.reason()
        return None

    def _count(self, disruptions: Iterable[Disruption]) -> None:
        for disruption in disruptions:
            for account in self._of(disruption.instance, disruption.project):
                if disruption.started is None:
                    account.waiting += 1
                    continue
                account.under_way += disruption.is_under_way
                # One that began S seconds ago counts no more.
                if disruption.started > self._now - account.budget.seconds:
                    account.starts.append(disruption.started)
        for account in self._accounts.values():
            account.starts.sort()

    def _of(self, uuid: str, project: str) -> Iterator[Account]:
        yield from self._shared(uuid, project)
        if account := self._account(BudgetKind.INSTANCE, uuid):
            yield account

    def _shared(self, uuid: str, project: str) -> Iterator[Account]:
        """An instance has no account of a project that is not known."""
        if project and self._has_projects:
            account = self._account(BudgetKind.PROJECT, project)
            if account is not None:
                yield account
        for key in self._groups.get(uuid, ()):
            if account := self._account(BudgetKind.GROUP, key):
                yield account

    def _account(self, kind: BudgetKind, key: str) -> Account | None:
        account = self._accounts.get((kind, key))
        if account is None:
            budget = self._budget[kind]
            if kind is BudgetKind.PROJECT:
                budget = self._of_project.get(key, budget)
            if budget is None:
                return None
            account = Account(kind, key, budget, self._now)
            self._accounts[kind, key] = account
        return account


def of_phase(
    snapshot: Snapshot, options: BudgetOptions, phase: str
) -> dict[str, Reason]:
    """By uuid why each instance stays whose budgets are used up already."""
    if is_exempt(options, phase) or not snapshot.disruptions:
        return {}
    every = Budgets(
        options, snapshot.disruptions, snapshot.groups, snapshot.taken_at
    )
    if all(account.free > 0 for account in every.used()):
        return {}
    reasons = (
        (uuid, every.refusal(instance))
        for uuid, instance in snapshot.instances.items()
    )
    return {uuid: why for uuid, why in reasons if why is not None}


@dataclass
class _Tally:
    """What a plan takes of an account, and leaves out because of it."""

    account: Account
    planned: int = 0
    left_out: int = 0

    @property
    def free(self) -> int:
        return self.account.free - self.planned

    def full(self) -> FullBudget:
        account, planned = self.account, self.planned
        is_full = account.window_is_full(planned)
        return FullBudget(
            account.key,
            str(account.reason(planned)),
            account.free_at(planned) if is_full else None,
            self.left_out,
        )


def standings(
    result: AggregateResult, snapshot: Snapshot, options: BudgetOptions
) -> list[BudgetStanding]:
    """By kind how the budgets of a scope stand after its plan."""
    if not is_limited(options):
        return []
    every = Budgets(
        options, snapshot.disruptions, snapshot.groups, snapshot.taken_at
    )
    moved = {step.instance for step in result.steps}
    tallies: dict[tuple[BudgetKind, str], _Tally] = {}
    for uuid, instance in snapshot.instances.items():
        why = result.stayed.get(uuid)
        is_left_out = why is not None and why.code is Code.DISRUPTION_BUDGET
        for account in every.of(instance):
            key = account.kind, account.key
            tally = tallies.setdefault(key, _Tally(account))
            tally.planned += uuid in moved
            tally.left_out += is_left_out
    rows = (
        _standing(
            kind, [t for t in tallies.values() if t.account.kind is kind]
        )
        for kind in BudgetKind
    )
    return [row for row in rows if row is not None]


def _standing(
    kind: BudgetKind, tallies: Sequence[_Tally]
) -> BudgetStanding | None:
    if not tallies:
        return None
    full = [
        tally.full() for tally in tallies if tally.free <= 0 and tally.left_out
    ]
    return BudgetStanding(
        kind.value,
        sum(tally.account.used for tally in tallies),
        sum(max(0, tally.account.free) for tally in tallies),
        sum(tally.planned for tally in tallies),
        sorted(full, key=lambda row: (-row.instances, row.key)),
    )
