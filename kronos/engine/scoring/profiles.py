# SPDX-License-Identifier: Apache-2.0
"""The profiles: what each instance weighs, by each policy in use."""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, assert_never

from kronos.engine import wording
from kronos.engine.arrays import EPSILON
from kronos.engine.scoring import attribution, usages
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.scoring.usages import Measured
from kronos.engine.settings import Settings, UnexplainedLoad
from kronos.engine.types import Instance, Snapshot, VmProfile
from kronos.policies.models import Fallback, Mode, Policy


@dataclass
class Profiles:
    """The combined profile of a scope."""

    profiles: dict[str, VmProfile] = field(default_factory=dict)
    """By instance uuid; each has a usage for every policy in use."""
    capacities: dict[str, dict[str, float]] = field(default_factory=dict)
    """By policy, by host: what a usage is divided by; an absent policy
    means 1.0 everywhere."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Instance uuid to reason: it has no profile and cannot be planned."""
    bounds: dict[str, dict[str, float]] = field(default_factory=dict)
    """By policy, by uuid: what it is to be counted with below a ceiling."""
    charges: dict[str, dict[str, float]] = field(default_factory=dict)
    """By policy, by host: what is to be counted there besides, once for each
    host that takes servers of it, in the unit of their usages."""
    warnings: list[str] = field(default_factory=list)


def profile(
    snapshot: Snapshot,
    policies_in_use: Sequence[Policy],
    scorecard: Scorecard,
    settings: Settings,
) -> Profiles:
    """Profile the instances on the hosts that count or are drained.

    An instance without a usable sample gets what the policy's
    ``vm_profile_fallback`` says: ``flavor_vcpu_ratio`` is host score x
    vcpus / vcpus of all instances on the host, ``host_average`` an equal
    share of the host score, both times the host's capacity; ``skip``
    drops it from the whole combined profile, whatever the other policies
    know of it. On a host that is drained none is dropped, since all are
    to leave it: there it counts with its flavor's share.

    :param policies_in_use: those that ``scorecard`` did not skip
    :raises KeyError: if the scorecard has no values for one of them
    """
    result = Profiles(
        capacities={
            policy.name: scorecard.capacities[policy.name]
            for policy in policies_in_use
            if policy.name in scorecard.capacities
        }
    )
    by_host = _by_host(snapshot, scorecard)
    uuids = [instance.uuid for group in by_host.values() for instance in group]
    everyone = set(uuids)
    weights = {}
    for policy in policies_in_use:
        measured = _measured(policy, snapshot, scorecard, settings)
        own = dict(measured.usage)
        view = _PolicyView.of(policy, by_host, scorecard)
        if not measured.usage.keys() >= everyone:
            _fall_back(view, measured, result)
        weights[policy.name] = measured.usage
        _attribute(view, own, measured.usage, result, settings)
    result.warnings += scorecard.unexplained(settings.unexplained_load)
    for uuid in uuids:
        if uuid not in result.skipped:
            result.profiles[uuid] = VmProfile(
                uuid, {name: usage[uuid] for name, usage in weights.items()}
            )
    return result


def _measured(
    policy: Policy, snapshot: Snapshot, card: Scorecard, settings: Settings
) -> Measured:
    measured = card.measured.get(policy.name)
    if measured is not None:
        return replace(measured, usage=dict(measured.usage))
    names = usages.named(snapshot, policy.vm_profile_label_type)
    return usages.measure(policy, snapshot, settings, names)


def _by_host(
    snapshot: Snapshot, scorecard: Scorecard
) -> dict[str, list[Instance]]:
    frozen = scorecard.frozen
    hosts: dict[str, list[Instance]] = {
        host: [] for host in sorted(snapshot.hosts) if host not in frozen
    }
    for uuid in sorted(snapshot.instances):
        instance = snapshot.instances[uuid]
        if instance.host in hosts:
            hosts[instance.host].append(instance)
    return hosts


def _fall_back(
    view: '_PolicyView', measured: Measured, result: Profiles
) -> None:
    """Give those without a usage the policy's fallback, or skip them."""
    policy = view.policy
    for host, instances in view.by_host.items():
        lacking = [
            instance
            for instance in instances
            if instance.uuid not in measured.usage
        ]
        if not lacking:
            continue
        loads = view.loads(host)
        for instance in lacking:
            uuid = instance.uuid
            if uuid in loads:
                measured.usage[uuid] = loads[uuid]
                if uuid in measured.ambiguous:
                    result.warnings.append(
                        f'{view.names.of(uuid)}: '
                        f'{_why_lacking(policy, uuid, measured)}'
                    )
            else:
                result.skipped.setdefault(
                    uuid,
                    _why_lacking(policy, uuid, measured)
                    + _why_no_share(policy, host, view.values),
                )
        if host in view.draining:
            names = [view.names.of(instance.uuid) for instance in lacking]
            result.warnings.append(_estimated(policy, host, names))


def _attribute(
    view: '_PolicyView',
    own: Mapping[str, float],
    usage: dict[str, float],
    result: Profiles,
    settings: Settings,
) -> None:
    """Let what hosts show beside their servers move along with these.

    :param own: the usages that are measured
    :param usage: with those that are not; it is changed
    """
    policy, rule = view.policy, settings.unexplained_load
    if view.attribution is None:
        return
    result.bounds[policy.name] = dict(usage)
    result.charges[policy.name] = {}
    most = max(view.values.values(), default=0.0)
    for host, instances in view.by_host.items():
        load = view.attribution.hosts.get(host)
        if load is None:
            continue
        drains, packs = host in view.draining, policy.mode is Mode.PACK
        measured = [instance for instance in instances if instance.uuid in own]
        if load.unexplained and rule is UnexplainedLoad.FOLLOWS:
            empties = packs or drains
            if empties or not load.is_well_explained:
                usage |= attribution.followed(load, measured, own, empties)
        if rule is UnexplainedLoad.FOLLOWS:
            _bound(view, load, instances, own, result)
        by_uuid = {
            instance.uuid: usage[instance.uuid]
            for instance in instances
            if instance.uuid in usage
        }
        usage |= attribution.fitted(by_uuid, load.value, load.size, most)


def _bound(
    view: '_PolicyView',
    load: attribution.HostLoad,
    instances: Sequence[Instance],
    own: Mapping[str, float],
    result: Profiles,
) -> None:
    """Set the usages of a host's servers that count below a ceiling.

    Which servers cause a load that no usage explains is unknown. A host that
    takes some of them needs capacity for all of it. Only where a host is
    drained and no other has so much, each counts with the largest share that
    is plausible.
    """
    name, host = view.policy.name, load.host
    drains = host in view.draining
    unknown = load.unexplained + (load.estimated if drains else 0.0)
    if not unknown:
        return
    shares = load.is_far_below and view.policy.mode is not Mode.PACK
    if drains:
        is_doubtful = load.is_far_below or load.estimated > 0.0
        shares = is_doubtful and not view.has_capacity(unknown * load.size)
    doubtful = [
        instance for instance in instances if drains or instance.uuid in own
    ]
    usage = {
        instance.uuid: own.get(instance.uuid, 0.0) for instance in doubtful
    }
    if shares:
        usage = attribution.suspected(unknown * load.size, doubtful, usage)
    else:
        result.charges[name][host] = unknown * load.size
    result.bounds[name] |= usage


@dataclass
class _PolicyView:
    """What is known of the hosts by one policy."""

    policy: Policy
    by_host: dict[str, list[Instance]]
    values: dict[str, float]
    capacities: dict[str, float]
    draining: set[str]
    attribution: attribution.Attribution | None
    readings: dict[str, float]
    """Of its capacity in use, by host that counts."""

    @classmethod
    def of(
        cls,
        policy: Policy,
        by_host: dict[str, list[Instance]],
        scorecard: Scorecard,
    ) -> Self:
        name = policy.name
        return cls(
            policy,
            by_host,
            scorecard.values[name] | scorecard.draining_values[name],
            scorecard.capacities.get(name, {}),
            set(scorecard.draining),
            scorecard.attributions.get(name),
            {
                host: scorecard.loads[name].get(host, math.inf)
                for host in scorecard.values[name]
            },
        )

    def has_capacity(self, load: float) -> bool:
        """Whether any host that counts takes so much below its ceiling."""
        return any(
            value + load / self.capacities.get(host, 1.0)
            < self.policy.capacity_threshold - EPSILON
            for host, value in self.readings.items()
        )

    @functools.cached_property
    def names(self) -> wording.ServerNames:
        return wording.ServerNames(
            {
                instance.uuid: instance
                for some in self.by_host.values()
                for instance in some
            }
        )

    def loads(self, host: str) -> dict[str, float]:
        """What each instance of a host is taken to use, where it lacks it.

        None on a host without a score or a size, unless it is drained.
        """
        fallback, instances = (
            self.policy.vm_profile_fallback,
            self.by_host[host],
        )
        if host in self.draining:
            # None is left behind, whatever the fallback.
            if fallback is Fallback.SKIP or not _shares(fallback, instances):
                fallback = Fallback.FLAVOR_VCPU_RATIO
            if not _shares(fallback, instances):
                fallback = Fallback.HOST_AVERAGE
        load = self._load(host)
        if load is None and host in self.draining:
            return self._elsewhere(instances)
        if load is None:
            return {}
        shares = _shares(fallback, instances)
        return {uuid: load * share for uuid, share in shares.items()}

    def _load(self, host: str) -> float | None:
        if host not in self.values:
            return None
        if self.capacities and host not in self.capacities:
            return None
        return self.values[host] * self.capacities.get(host, 1.0)

    def _elsewhere(self, instances: list[Instance]) -> dict[str, float]:
        """By what a vCPU uses on average on the hosts whose load is known."""
        total, vcpus = 0.0, 0
        for host, others in self.by_host.items():
            load = self._load(host)
            if load is not None:
                total += load
                vcpus += sum(instance.vcpus for instance in others)
        rate = total / vcpus if vcpus else 0.0
        return {instance.uuid: rate * instance.vcpus for instance in instances}


def _estimated(policy: Policy, host: str, lacking: list[str]) -> str:
    """The warning about instances that are drained, by their names."""
    return (
        f'policy {policy.name} has no usable sample for '
        f'{wording.counted(len(lacking), "instance")} '
        f'({wording.some(lacking)}) on {host}, which is being drained: Kronos '
        'assumes the share of the flavor'
    )


def _shares(fallback: Fallback, instances: list[Instance]) -> dict[str, float]:
    """Each instance's share of its host's score; none where unknown."""
    match fallback:
        case Fallback.SKIP:
            return {}
        case Fallback.HOST_AVERAGE:
            share = 1.0 / len(instances)
            return {instance.uuid: share for instance in instances}
        case Fallback.FLAVOR_VCPU_RATIO:
            total = sum(instance.vcpus for instance in instances)
            if total <= 0:
                return {}
            return {
                instance.uuid: instance.vcpus / total for instance in instances
            }
        case _:
            assert_never(fallback)


def _why_no_share(policy: Policy, host: str, values: dict[str, float]) -> str:
    """Why the fallback gave nothing, where that is the host's fault."""
    if policy.vm_profile_fallback is Fallback.SKIP:
        return ''
    if host not in values:
        return f', but {host} has no score to share out'
    if policy.host_capacity_query is not None:
        return f', but the capacity of {host} may not be known'
    return ''


def _why_lacking(policy: Policy, uuid: str, measured: Measured) -> str:
    fallback = f'vm_profile_fallback is {policy.vm_profile_fallback}'
    if uuid in measured.ambiguous:
        kind = policy.vm_profile_label_type.removeprefix('nova_')
        return (
            f'policy {policy.name} cannot distinguish it from another '
            f'instance: both have the {kind} {measured.ambiguous[uuid]!r}, '
            f'and no label {policy.host_label} distinguishes them; {fallback}'
        )
    return f'policy {policy.name} has no usable sample for it; {fallback}'
