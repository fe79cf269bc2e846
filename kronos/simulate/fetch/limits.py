# SPDX-License-Identifier: Apache-2.0
"""The limits of a load: what it cannot tell, as sentences."""

from collections.abc import Sequence

import numpy as np

from kronos.common import durations
from kronos.engine import wording
from kronos.simulate.fetch.lives import Life, Places
from kronos.simulate.fetch.ranges import Floats
from kronos.simulate.fetch.workplace import Plan, PolicyPlan

ALWAYS = (
    'The simulation assumes that a server has the same load on every host.',
    'The usage of a server does not contain demand that its host could not '
    'serve.',
)
_DAY = 86400.0


def of_lives(lives: Sequence[Life], own: Sequence[Life]) -> list[str]:
    """What the whereabouts of the servers cannot tell."""
    elsewhere = len(lives) - len(own)
    if not elsewhere:
        return []
    were = 'was' if elsewhere == 1 else 'were'
    return [
        f'{wording.counted(elsewhere, "server")} {were} on none of the hosts '
        'at any tick: short-lived ones, or on hosts that are gone or of '
        'another type.'
    ]


class Seen:
    """What was seen of one policy, piece by piece."""

    def __init__(
        self, policy_plan: PolicyPlan, plan: Plan, servers: int, hosts: int
    ) -> None:
        self._limits = policy_plan.limits
        self._step, self._ticks = plan.step, plan.ticks
        self._has_usage = np.zeros(servers, np.bool_)
        self._has_reading = np.zeros(hosts, np.bool_)
        self._strangers: set[str] = set()
        self._empty_ticks = 0
        self.repeated: set[str] = set()
        """Names that several servers have."""

    def usage(
        self, used: Floats, places: Places, strangers: Sequence[str]
    ) -> None:
        """Take note of the usage of a piece.

        :param strangers: labels that no server has
        """
        has_value = np.isfinite(used)
        self._has_usage |= has_value.any(axis=0)
        is_empty = ~has_value.any(axis=1) & (places >= 0).any(axis=1)
        self._empty_ticks += int(is_empty.sum())
        self._strangers.update(strangers)

    def hosts(self, read: Floats) -> None:
        """Take note of the readings of a piece."""
        self._has_reading |= np.isfinite(read).any(axis=0)

    def sentences(self) -> list[str]:
        """All that is worth a sentence, none of it with a name."""
        texts = list(self._limits)
        if self._empty_ticks:
            time = durations.rounded(self._empty_ticks * self._step)
            whole = durations.rounded(self._ticks * self._step)
            texts.append(
                f'for {time} of {whole} Prometheus has no usage of any server'
            )
        lacking = int((~self._has_usage).sum())
        if lacking:
            texts.append(
                f'{lacking} of {len(self._has_usage)} servers '
                f'{_have(lacking)} no usage'
            )
        strangers = len(self._strangers - self.repeated)
        if strangers:
            texts.append(
                f'{strangers} series {_are(strangers)} of servers that Nova '
                'does not list; their load stays on its host'
            )
        names = len(self.repeated)
        if names:
            texts.append(
                f'{wording.counted(names, "name")} {_are(names)} that of '
                'several servers, so their usage is not known'
            )
        unread = int((~self._has_reading).sum())
        if unread:
            texts.append(
                f'{unread} of {len(self._has_reading)} hosts {_have(unread)} '
                'no reading'
            )
        return texts


def _are(number: int) -> str:
    return 'is' if number == 1 else 'are'


def _have(number: int) -> str:
    return 'has' if number == 1 else 'have'
