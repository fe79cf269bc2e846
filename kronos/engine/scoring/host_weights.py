# SPDX-License-Identifier: Apache-2.0
"""The weights of hosts: how good each is for one more server.

What the scorecard says of the hosts, as Nova's scheduler needs it: one
number for each, though nobody knows what the server will do.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kronos.engine.scoring import scorecard
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.types import StopReason
from kronos.policies.models import Mode, Policy


@dataclass
class Size:
    """A host in vCPUs."""

    total: float
    """Those it has."""
    used: float | None
    """Those of servers whose load is in the samples; None: not known."""


@dataclass
class HostWeight:
    """What a host is to a server that is placed on it."""

    load: float
    """Weighted sum of the policies' values, in [0, 1]."""
    rate: float
    """By how much a vCPU raises it, as measured over the scope."""
    free_vcpus: float
    """vCPUs until the first policy's ``capacity_threshold`` is reached; 0
    or less: it is."""

    def weight(
        self, mode: Mode, vcpus: float = 0.0, step: float = 0.0
    ) -> float:
        """In [0, 1]; the greater the better.

        :param vcpus: of servers that the samples do not show yet
        :param step: it is a multiple of this; 0: it is not rounded
        """
        load = min(max(0.0, self.load + self.rate * vcpus), 1.0)
        if mode is Mode.SPREAD:
            return _rounded(1.0 - load, step)
        if vcpus >= self.free_vcpus:
            return FULL
        return max(_rounded(load, step), step or LEAST)


_BLIND = {*scorecard.SHUT.values(), StopReason.NO_POLICY}
"""Nothing is known of any host."""
FULL = 0.0
"""Weight of a host above a ceiling where hosts are to be filled."""
MOST = 1.0
"""A vCPU cannot keep more than one core busy."""
LEAST = 1e-6
"""Where they are to be filled, an empty host is still better than that."""


def _rounded(weight: float, step: float) -> float:
    return min(round(weight / step) * step, 1.0) if step else weight


def places(
    card: Scorecard, policies: Sequence[Policy], sizes: Mapping[str, Size]
) -> dict[str, HostWeight]:
    """The hosts that count in a scope; none if no policy can be used.

    :param card: of these policies
    :param sizes: of hosts of the scope, as far as known
    """
    if card.blocked in _BLIND:
        return {}
    weights = {result.name: result.weight for result in card.results}
    ceilings = {policy.name: policy.capacity_threshold for policy in policies}
    raises = {
        name: _usage_per_vcpu(values, sizes)
        for name, values in card.values.items()
    }
    fills = {
        name: _usage_per_vcpu(loads, sizes)
        for name, loads in card.loads.items()
    }
    counting: list[str] = list(next(iter(card.values.values()), {}))
    by_host = {}
    for host in counting:
        if any(host not in loads for loads in card.loads.values()):
            continue
        total = sizes[host].total if host in sizes else 0.0
        by_host[host] = HostWeight(
            load=math.fsum(
                weights[name] * values[host]
                for name, values in card.values.items()
            ),
            rate=math.fsum(
                weights[name] * _share(usage, total)
                for name, usage in raises.items()
            ),
            free_vcpus=min(
                _free_vcpus(
                    ceilings[name] - loads[host], _share(fills[name], total)
                )
                for name, loads in card.loads.items()
            ),
        )
    return by_host


def _usage_per_vcpu(
    values: Mapping[str, float], sizes: Mapping[str, Size]
) -> float:
    """Cores' worth of a host that a vCPU in use takes, on average.

    Where few are in use, most of what is measured is the hosts' own, so it
    is no more than ``MOST``; so much it is, too, where none is in use.
    """
    in_use = {
        host: size.used
        for host, size in sizes.items()
        if host in values and size.used is not None
    }
    used = math.fsum(in_use.values())
    taken = math.fsum(values[host] * sizes[host].total for host in in_use)
    if not in_use:
        return 0.0
    return min(taken / used, MOST) if used > 0.0 else MOST


def _share(usage: float, total: float) -> float:
    return usage / total if total > 0.0 else 0.0


def _free_vcpus(free: float, rate: float) -> float:
    if rate > 0.0:
        return free / rate
    # No number of servers that leave would show on it.
    return math.inf if free > 0.0 else -math.inf
