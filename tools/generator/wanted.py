# SPDX-License-Identifier: Apache-2.0
"""The description of the cloud to make up."""

import dataclasses
from dataclasses import dataclass

from kronos.engine.settings import PlanMode

PER_HOST = 20
"""Instances, where their number is not given."""
CLASSES = (1.0, 2.0, 0.5)
"""Sizes of hosts, relative to the usual one; half of the hosts are usual."""


class WantedError(Exception):
    """What was asked for cannot be made."""


@dataclass
class Wanted:
    """What the caller chooses; the rest is drawn by lot."""

    hosts: int = 12
    instances: int = 0
    """0: :data:`PER_HOST` for each host that is not new."""
    seed: int = 1
    variant: str = 'metric'
    """``metric``: measured values; ``flavor``: what an instance weighs goes
    by its flavor, in steps of 1 or 2 % of a host."""
    mode: str = 'spread'
    """One of :class:`~kronos.engine.settings.PlanMode`."""
    aggregates: int = 1
    classes: int = 1
    """How many of the sizes in :data:`CLASSES` the hosts have."""
    empty: int = 0
    """Hosts that are new and have no instance yet."""
    hot: int = 0
    """Pairs of hosts, one with much CPU use and little memory in use, and
    one the other way round."""
    down: int = 0
    """Hosts whose nova-compute is down, with their instances."""
    disabled: int = 0
    """Hosts whose nova-compute is disabled, with their instances."""
    broken: int = 0
    """Server groups whose rule is broken."""
    grouped: float = 0.12
    """Ratio of the instances that are in a server group."""
    frozen: float = 0.02
    """Ratio of the instances that cannot be moved."""

    def __post_init__(self) -> None:
        if self.instances == 0:
            self.instances = PER_HOST * (self.hosts - self.empty)

    @property
    def plan_mode(self) -> PlanMode:
        return PlanMode(self.mode)

    @property
    def in_use(self) -> int:
        """Hosts that may have instances."""
        return self.hosts - self.empty

    def check(self) -> None:
        """:raises WantedError: there is no such cloud"""
        special = self.down + self.disabled + 2 * self.hot
        for is_wrong, reason in (
            (self.hosts < 2, '--hosts must be at least 2'),
            (self.instances < 0, '--instances must be at least 0'),
            (
                min(self.empty, self.hot, self.down, self.disabled) < 0
                or self.broken < 0,
                'a number of hosts or groups must be at least 0',
            ),
            (self.in_use < 1, '--empty leaves no host for the instances'),
            (
                special > self.in_use,
                '--down, --disabled and two for each --hot are more hosts '
                'than have instances',
            ),
            (
                not 1 <= self.aggregates <= self.in_use,
                '--aggregates must be at least 1 and at most the hosts that '
                'have instances',
            ),
            (
                not 1 <= self.classes <= len(CLASSES),
                f'--classes must be from 1 to {len(CLASSES)}',
            ),
            (not 0 <= self.frozen <= 1, '--frozen must be from 0 to 1'),
            (not 0 <= self.grouped <= 1, '--grouped must be from 0 to 1'),
        ):
            if is_wrong:
                raise WantedError(reason)

    def command(self) -> str:
        """The options that make the same cloud again."""
        words = [f'--hosts {self.hosts}', f'--instances {self.instances}']
        words += [
            f'--{field.name} {getattr(self, field.name)}'
            for field in dataclasses.fields(self)
            if field.name not in ('hosts', 'instances')
            and getattr(self, field.name) != field.default
        ]
        return ' '.join(words)
