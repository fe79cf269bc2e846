# SPDX-License-Identifier: Apache-2.0
"""The attribution of load: what hosts show beside what their servers use.

The one place that judges the profiles of a policy. Above the host they cannot
be used. What the servers of a host do not explain of it, beyond what a host
shows without servers, is its unexplained load: what it does for them, or what
an exporter misses. It moves with the servers, by their usage, or stays, as
``[kronos] unexplained_load`` has it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kronos.engine import wording
from kronos.engine.settings import UnexplainedLoad
from kronos.engine.types import Instance, Snapshot
from kronos.policies.models import Policy

TWICE, THRICE = 2.0, 3.0
MARGIN = 0.05
"""Of a host: what windows and clocks that differ make of a small value."""
WHOLE = 1.2
"""A whole host, with a fifth of noise."""
EXPLAINED = 0.75
"""A host whose servers explain that much of it shows what it is without."""
DUST = 0.001
"""Of a host: what files round, which is attributed to no server."""
DOUBTFUL = 0.15
"""Of a host: so much unexplained load is worth a warning, where it is more
than half of what its servers are said to use."""
STANDSTILL = 0.05
"""The same where each running server is said to use nothing at all."""
SEVERAL, WELL_EXPLAINED = 4, 0.85
"""Servers that explain so much of their host, where no role can be exchanged
by the move of one: what is left is taken for the host's own."""
HALF = 0.5
NEXT_TO_NOTHING = 0.02
"""Of the most that a server of the host uses."""
SHOWN = 3


@dataclass
class HostLoad:
    """One host and its servers by one policy, as shares of the host."""

    host: str
    size: float
    """What a usage is divided by."""
    value: float
    """What ``imbalance_query`` gives for it."""
    servers: float = 0.0
    """What its servers are said to use."""
    estimated: float = 0.0
    """What those are taken to use that have no value."""
    largest: float = 0.0
    """What the largest of its servers is said to use."""
    still: int = 0
    """So many running servers are said to use exactly nothing."""
    number: int = 0
    """Its servers."""
    unexplained: float = 0.0

    @property
    def rest(self) -> float:
        """What is left of its value."""
        return self.value - self.servers - self.estimated

    @property
    def excess(self) -> float:
        """By how much its servers are above what they may be; or below 0."""
        most = max(
            TWICE * self.value + MARGIN,
            min(THRICE * self.value + MARGIN, WHOLE),
        )
        if not self.value:
            # No more is known of it, or it is only supposed.
            most = max(most, WHOLE)
        return max(self.servers - most, self.largest - WHOLE)

    @property
    def is_well_explained(self) -> bool:
        """Whether what is left may stay where hosts are only evened out."""
        explained = self.servers + self.estimated
        is_most = explained >= WELL_EXPLAINED * self.value
        return self.number >= SEVERAL and is_most

    @property
    def is_far_below(self) -> bool:
        """Whether its servers explain too little of its load."""
        return self.unexplained > HALF * self.servers

    @property
    def is_doubtful(self) -> bool:
        if self.still and not self.servers:
            return self.unexplained > STANDSTILL
        return self.unexplained > DOUBTFUL and self.is_far_below


@dataclass
class Attribution:
    """The hosts of a scope beside their servers, by one policy."""

    policy: str
    hosts: dict[str, HostLoad] = field(default_factory=dict)
    """By name, those with a value and a size."""
    idle: float = 0.0
    """What a host shows without servers, as far as it is known."""

    @property
    def fault(self) -> str:
        """Why the profiles cannot be used; '' if they can."""
        wrong = [load for load in self.hosts.values() if load.excess > 0.0]
        if not wrong:
            return ''
        wrong.sort(key=lambda load: (-load.excess, load.host))
        first = wrong[0]
        text = (
            f'the servers of {first.host} sum to {first.servers:.3g}, and '
            f'imbalance_query gives {first.value:.3g} for it'
        )
        if first.largest > WHOLE:
            text += f'; the largest of them is at {first.largest:.3g} alone'
        return (
            f'{text}{_further(wrong)}; correct the unit of vm_profile_query '
            'or of host_capacity_query'
        )

    def warning(self, rule: UnexplainedLoad) -> str:
        """What is to be known of hosts that are far above their servers.

        :param rule: what becomes of it in a plan
        """
        loads = [load for load in self.hosts.values() if load.is_doubtful]
        if not loads:
            return ''
        loads.sort(key=lambda load: (-load.unexplained, load.host))
        first, still = loads[0], sum(load.still for load in loads)
        text = (
            f'policy {self.policy}: vm_profile_query: the servers of '
            f'{first.host} sum to {first.servers:.3g}, and imbalance_query '
            f'gives {first.value:.3g} for it{_further(loads)}'
        )
        if still:
            text += f'; {still} of their running servers used exactly 0'
        if rule is UnexplainedLoad.STAYS:
            return (
                f'{text}; the rest is assumed to be the own load of the hosts'
            )
        return (
            f'{text}; the rest is assumed to move with the servers. Correct '
            'vm_profile_query or its exporter; if it is the own load of the '
            'hosts, set [kronos] unexplained_load = stays'
        )


def _further(loads: Sequence[HostLoad]) -> str:
    """The hosts after the first one: `` (cmp2 0.1 of 0.6 and 1 more)``."""
    named = [
        f'{load.host} {load.servers:.3g} of {load.value:.3g}'
        for load in loads[1:]
    ]
    return f' (likewise {wording.some(named, SHOWN)})' if named else ''


def of(
    policy: Policy,
    snapshot: Snapshot,
    values: Mapping[str, float],
    sizes: Mapping[str, float] | None,
    usage: Mapping[str, float],
) -> Attribution:
    """Compare the usages of servers with the loads of their hosts.

    :param values: of ``imbalance_query``, by host
    :param sizes: by host, what a usage is divided by; None: it is a share
    :param usage: by uuid, of those that have a value
    """
    attribution = Attribution(policy.name)
    for host in sorted(values):
        size = 1.0 if sizes is None else sizes.get(host, 0.0)
        if size > 0.0:
            attribution.hosts[host] = HostLoad(host, size, values[host])
    lacking: dict[str, int] = {}
    running: dict[str, int] = {}
    for uuid, instance in snapshot.instances.items():
        load = attribution.hosts.get(instance.host)
        if load is None:
            continue
        load.number += 1
        weight = _weight(instance)
        running[instance.host] = running.get(instance.host, 0) + weight
        if uuid not in usage:
            lacking[instance.host] = lacking.get(instance.host, 0) + weight
            continue
        share = usage[uuid] / load.size
        load.servers += share
        load.largest = max(load.largest, share)
        load.still += bool(weight and not share)
    for host, weight in lacking.items():
        load = attribution.hosts[host]
        load.estimated = load.value * weight / max(running[host], 1)
    _explain(attribution)
    return attribution


def _weight(instance: Instance) -> int:
    """The weight by which servers share a load that no usage explains."""
    return max(instance.vcpus, 1) if instance.status == 'ACTIVE' else 0


def _explain(attribution: Attribution) -> None:
    """Find out what a host shows without servers, and what is beyond it."""
    telling = [
        max(0.0, load.rest)
        for load in attribution.hosts.values()
        if not load.number
        or load.servers + load.estimated >= max(EXPLAINED * load.value, DUST)
    ]
    attribution.idle = min(telling, default=0.0)
    for load in attribution.hosts.values():
        more = load.rest - attribution.idle
        if load.number and more > DUST:
            load.unexplained = more


def followed(
    load: HostLoad,
    instances: Sequence[Instance],
    usage: Mapping[str, float],
    by_vcpus: bool,
) -> dict[str, float]:
    """The usages of a host's servers, with what moves along with them.

    By their usage; where all of them use nothing, by their vCPUs.

    :param instances: those of the host that have a usage of their own
    :param by_vcpus: whether that is to be; else nothing moves along then
    """
    more = load.unexplained * load.size
    total = sum(usage[instance.uuid] for instance in instances)
    if total > 0.0:
        return {
            instance.uuid: usage[instance.uuid] * (1.0 + more / total)
            for instance in instances
        }
    if by_vcpus:
        return _shared(more, instances)
    return {instance.uuid: 0.0 for instance in instances}


def suspected(
    unknown: float,
    instances: Sequence[Instance],
    usage: Mapping[str, float],
) -> dict[str, float]:
    """What each of a host's servers may use, to be on the safe side.

    Those that use next to nothing while others of the host do not have all
    of the load that no usage explains: each the largest of the shares that
    its vCPUs, its memory and their number give it.

    :param unknown: that load, in the unit of the usages
    """
    limit = NEXT_TO_NOTHING * max(usage.values(), default=0.0)
    low = [
        instance
        for instance in instances
        if usage[instance.uuid] <= limit and _weight(instance)
    ]
    if not low:
        total = sum(usage.values())
        factor = 1.0 + unknown / total if total else 1.0
        return {uuid: factor * used for uuid, used in usage.items()}
    shares = {
        instance.uuid: unknown * _largest_share(instance, low)
        for instance in low
    }
    return {uuid: used + shares.get(uuid, 0.0) for uuid, used in usage.items()}


def _largest_share(instance: Instance, instances: Sequence[Instance]) -> float:
    """The largest part that is plausible of what all of them use."""
    vcpus = sum(_weight(server) for server in instances)
    memory = sum(server.memory_mb for server in instances)
    return max(
        _weight(instance) / vcpus,
        instance.memory_mb / memory if memory else 0.0,
        1.0 / len(instances),
    )


def _shared(load: float, instances: Iterable[Instance]) -> dict[str, float]:
    weights = {instance.uuid: _weight(instance) for instance in instances}
    total = sum(weights.values())
    return {
        uuid: load * weight / total if total else 0.0
        for uuid, weight in weights.items()
    }


def fitted(
    usage: Mapping[str, float], value: float, size: float, most: float
) -> Mapping[str, float]:
    """The usages of a host, so that it is not below 0 when all have left.

    What files round is left as it is, unless an imbalance above 1 came of
    it.

    :param value: of the host
    :param most: the highest value of a host
    """
    total = sum(usage.values())
    slack = max(0.0, min(10.0 * DUST, 1.0 - most))
    if total <= (value + slack) * size:
        return usage
    return {uuid: used * value * size / total for uuid, used in usage.items()}
