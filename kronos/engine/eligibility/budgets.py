# SPDX-License-Identifier: Apache-2.0
"""The disruption budgets: how much of each is used, and when it is free.

A move counts from its start until its window has passed, whoever requested
it. A move that waits in a started plan counts as if it started now.
"""

import datetime
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from kronos.engine.reasons import Code, Reason
from kronos.engine.types import (
    Disruption,
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


@dataclass(slots=True)
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
        limits = [
            most - started
            for most, started in (
                (self.budget.moves, len(self.starts)),
                (self.budget.at_once, self.under_way),
            )
            if most is not None
        ]
        return min(limits) - self.waiting

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
        self._members: dict[str, list[str]] = {}
        """By uuid of a group."""
        self._groups: dict[str, list[str]] = {}
        """By uuid of a member."""
        if self._budget[BudgetKind.GROUP] is not None:
            for group in groups:
                self._members[group.uuid] = group.members
                for member in group.members:
                    self._groups.setdefault(member, []).append(group.uuid)
        self._accounts: dict[tuple[BudgetKind, str], Account] = {}
        self._has_projects = any(
            (self._budget[BudgetKind.PROJECT], *self._of_project.values())
        )
        self._count(disruptions)

    def of(self, instance: Instance) -> list[Account]:
        """The accounts that a move of an instance counts in."""
        return self._of(instance.uuid, instance.project_id)

    def limiting(
        self,
        instances: Mapping[str, Instance],
        position: Mapping[str, int],
    ) -> list[tuple[Account, list[int]]]:
        """The accounts that matter to instances that move once.

        The own one of an instance is among them only if something of it is
        used. All at once, since there are far more instances than accounts.

        :param instances: by uuid
        :param position: by uuid, from 0, in this order
        :returns: each with the positions of its instances, and those of one
            instance in the order of :meth:`of`
        """
        projects: dict[str, list[int]] = defaultdict(list)
        if self._has_projects:
            for uuid, number in position.items():
                projects[instances[uuid].project_id].append(number)
            projects.pop('', None)
        groups = {
            key: [position[uuid] for uuid in members if uuid in position]
            for key, members in self._members.items()
        }
        shared = [
            (account, numbers)
            for kind, by_key in (
                (BudgetKind.PROJECT, projects),
                (BudgetKind.GROUP, groups),
            )
            for key, numbers in by_key.items()
            if numbers and (account := self._account(kind, key))
        ]
        return shared + [
            (account, [position[key]])
            for (kind, key), account in self._accounts.items()
            if kind is BudgetKind.INSTANCE and key in position
        ]

    def unused(self, kind: BudgetKind) -> Account | None:
        """One of a kind of which nothing is used; None without a budget."""
        budget = self._budget[kind]
        return None if budget is None else Account(kind, '', budget, self._now)

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

    def _of(self, uuid: str, project: str) -> list[Account]:
        """An instance has no account of a project that is not known."""
        keys = [(BudgetKind.PROJECT, project)] if project else []
        keys += [(BudgetKind.GROUP, key) for key in self._groups.get(uuid, ())]
        keys.append((BudgetKind.INSTANCE, uuid))
        return [account for key in keys if (account := self._account(*key))]

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


class ScopeBudgets:
    """The budgets of a scope before its plan, made once for all phases.

    :param position: [V], by uuid as in :class:`.arrays.Index`, if it has one
    """

    def __init__(
        self,
        snapshot: Snapshot,
        options: BudgetOptions,
        position: Mapping[str, int] | None = None,
    ) -> None:
        self.every = Budgets(
            options, snapshot.disruptions, snapshot.groups, snapshot.taken_at
        )
        if position is None:
            uuids = sorted(snapshot.instances)
            position = dict(zip(uuids, range(len(uuids)), strict=True))
        self.uuids = list(position)
        """[V]"""
        self.accounts = self.every.limiting(snapshot.instances, position)
        """As :meth:`.Budgets.limiting`, by these positions."""
        self.free = [account.free for account, _ in self.accounts]
        """Of each account."""

    @property
    def unused(self) -> int:
        """Moves free in the accounts of instances that have moved nowhere."""
        account = self.every.unused(BudgetKind.INSTANCE)
        own = sum(
            account.kind is BudgetKind.INSTANCE for account, _ in self.accounts
        )
        return account.free * (len(self.uuids) - own) if account else 0


def of_phase(
    snapshot: Snapshot,
    options: BudgetOptions,
    phase: str,
    budgets: ScopeBudgets | None = None,
) -> dict[str, Reason]:
    """By uuid why each instance stays whose budgets are used up already.

    :param budgets: those of the scope, if they were made before
    """
    if is_exempt(options, phase) or not snapshot.disruptions:
        return {}
    budgets = budgets or ScopeBudgets(snapshot, options)
    reasons: dict[int, Reason] = {}
    for (account, numbers), free in zip(
        budgets.accounts, budgets.free, strict=True
    ):
        if free <= 0:
            why = account.reason()
            for number in numbers:
                reasons.setdefault(number, why)
    return {
        budgets.uuids[number]: reasons[number] for number in sorted(reasons)
    }
