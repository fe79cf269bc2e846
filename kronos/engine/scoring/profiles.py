# SPDX-License-Identifier: Apache-2.0
"""The profiles: what each instance weighs, by each policy in use."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from kronos.engine import wording
from kronos.engine.scoring import labels
from kronos.engine.scoring.evaluation import NOISE
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.settings import Settings
from kronos.engine.types import Instance, Sample, Snapshot, VmProfile
from kronos.policies.models import Fallback, LabelType, Policy

_KEYS: dict[LabelType, Callable[[Instance], str]] = {
    LabelType.NOVA_INTERNAL_NAME: lambda instance: instance.internal_name,
    LabelType.NOVA_INSTANCE_UUID: lambda instance: instance.uuid,
    LabelType.NOVA_DISPLAY_NAME: lambda instance: instance.name,
}

_Named = tuple[dict[str, str], set[str], dict[str, list[Instance]]]
"""What names mean, as :func:`_named` has it."""


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
    warnings: list[str] = field(default_factory=list)


@dataclass
class _Measured:
    """One policy's usages by instance uuid, and who could not be told."""

    usage: dict[str, float] = field(default_factory=dict)
    ambiguous: dict[str, str] = field(default_factory=dict)


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
    uuids = [one.uuid for group in by_host.values() for one in group]
    everyone = set(uuids)
    usages = {}
    kinds = {policy.vm_profile_label_type for policy in policies_in_use}
    named = {kind: _named(snapshot, kind) for kind in kinds}
    for policy in policies_in_use:
        names = named[policy.vm_profile_label_type]
        measured = _measure(policy, snapshot, settings, names)
        known = _Known.of(policy, by_host, scorecard)
        if not measured.usage.keys() >= everyone:
            _fall_back(known, measured, result)
        usages[policy.name] = measured.usage
    for uuid in uuids:
        if uuid not in result.skipped:
            result.profiles[uuid] = VmProfile(
                uuid, {name: usage[uuid] for name, usage in usages.items()}
            )
    return result


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


def _measure(
    policy: Policy, snapshot: Snapshot, settings: Settings, named: _Named
) -> _Measured:
    """Each instance's newest sample; of equally new ones the largest."""
    measured = _Measured()
    reading = snapshot.readings[policy.name].profile
    if reading is None:
        return measured
    # The answer may be of the whole cloud, and the scope a small part of it.
    sure, shared, _ = named
    known = _Names(policy, snapshot, reading.samples, settings, named)
    usage, stamps = measured.usage, dict[str, float]()
    for sample in reading.samples:
        uuid, value = sure.get(sample.label, ''), sample.value
        if not uuid and sample.label not in shared:
            continue
        # False for NaN too; noise below 0 is 0
        if not -NOISE <= value < math.inf:
            continue
        if not uuid:
            uuid, doubtful = known.meant(sample)
            measured.ambiguous |= dict.fromkeys(doubtful, sample.label)
        if not uuid:
            continue
        value, stamp = max(0.0, value), sample.timestamp
        if uuid not in usage or (stamp, value) > (stamps[uuid], usage[uuid]):
            usage[uuid], stamps[uuid] = value, stamp
    return measured


class _Names:
    """Which instance does a sample mean?

    A display name is what a tenant likes, and libvirt's names begin anew in
    each cell. Of a name that several instances have, in the scope or outside
    of it, only a sample that tells the host as well means one of them.
    """

    def __init__(
        self,
        policy: Policy,
        snapshot: Snapshot,
        samples: Iterable[Sample],
        settings: Settings,
        named: _Named,
    ) -> None:
        self._host_label = policy.host_label
        _, self._shared, self._by_name = named
        hosts = map(self._host_of, samples) if self._shared else ()
        self._hosts = labels.match_hosts(
            filter(None, hosts),
            snapshot.hosts,
            settings.host_match,
        ).hosts

    def meant(self, sample: Sample) -> tuple[str, list[str]]:
        """Uuid of the instance; '' and the uuids of all that it may be."""
        found = self._by_name.get(sample.label, [])
        is_sure = False
        if host := self._host_of(sample):
            there = self._hosts.get(host)
            found = [one for one in found if one.host == there]
            is_sure = True
        uuids = [one.uuid for one in found]
        if is_sure and len(uuids) == 1:
            return uuids[0], []
        return '', uuids

    def _host_of(self, sample: Sample) -> str:
        """What the series says of its host, if it is asked."""
        if sample.label not in self._shared:
            return ''
        return labels.of_series(sample.series).get(self._host_label, '')


def _named(snapshot: Snapshot, kind: LabelType) -> _Named:
    """What names mean.

    :returns: uuids by names that mean one instance, whatever else is said;
        names that several have, in the scope or outside of it; and the
        instances that have these
    """
    key, elsewhere = _KEYS[kind], set[str]()
    if kind is LabelType.NOVA_DISPLAY_NAME:
        elsewhere = snapshot.display_names_elsewhere
    elif kind is LabelType.NOVA_INTERNAL_NAME:
        elsewhere = snapshot.internal_names_elsewhere
    sure, shared = dict[str, str](), set(elsewhere)
    everyone = snapshot.instances.values()
    for one in everyone:
        name = key(one)
        if not name:
            continue
        if name in sure:
            shared.add(name)
        sure[name] = one.uuid
    by_name: dict[str, list[Instance]] = {name: [] for name in shared}
    for one in everyone if shared else ():
        if (name := key(one)) in shared:
            by_name[name].append(one)
    for name in shared:
        sure.pop(name, None)
    return sure, shared, by_name


def _fall_back(known: '_Known', measured: _Measured, result: Profiles) -> None:
    """Give those without a usage the policy's fallback, or skip them."""
    policy = known.policy
    for host, instances in known.by_host.items():
        lacking = [one for one in instances if one.uuid not in measured.usage]
        if not lacking:
            continue
        loads = known.loads(host)
        for instance in lacking:
            uuid = instance.uuid
            if uuid in loads:
                measured.usage[uuid] = loads[uuid]
                if uuid in measured.ambiguous:
                    result.warnings.append(
                        f'{uuid}: {_why_lacking(policy, uuid, measured)}'
                    )
            else:
                result.skipped.setdefault(
                    uuid,
                    _why_lacking(policy, uuid, measured)
                    + _why_no_share(policy, host, known.values),
                )
        if host in known.draining:
            result.warnings.append(_estimated(policy, host, lacking))


@dataclass
class _Known:
    """What is known of the hosts by one policy."""

    policy: Policy
    by_host: dict[str, list[Instance]]
    values: dict[str, float]
    capacities: dict[str, float]
    draining: set[str]

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
                vcpus += sum(one.vcpus for one in others)
        rate = total / vcpus if vcpus else 0.0
        return {one.uuid: rate * one.vcpus for one in instances}


def _estimated(policy: Policy, host: str, lacking: list[Instance]) -> str:
    names = wording.some([one.uuid for one in lacking])
    return (
        f'policy {policy.name} has no sample for {len(lacking)} of the '
        f'instances that are to leave {host} ({names}): they count with '
        "their flavor's share"
    )


def _shares(fallback: Fallback, instances: list[Instance]) -> dict[str, float]:
    """Each instance's share of its host's score; none where unknown."""
    if fallback is Fallback.HOST_AVERAGE:
        return {one.uuid: 1.0 / len(instances) for one in instances}
    total = sum(one.vcpus for one in instances)
    if fallback is Fallback.FLAVOR_VCPU_RATIO and total > 0:
        return {one.uuid: one.vcpus / total for one in instances}
    return {}


def _why_no_share(policy: Policy, host: str, values: dict[str, float]) -> str:
    """Why the fallback gave nothing, where that is the host's fault."""
    if policy.vm_profile_fallback is Fallback.SKIP:
        return ''
    if host not in values:
        return f', but {host} has no score to share out'
    if policy.host_capacity_query is not None:
        return f', but the capacity of {host} may not be known'
    return ''


def _why_lacking(policy: Policy, uuid: str, measured: _Measured) -> str:
    fallback = f'vm_profile_fallback is {policy.vm_profile_fallback}'
    if uuid in measured.ambiguous:
        kind = policy.vm_profile_label_type.removeprefix('nova_')
        return (
            f'policy {policy.name} cannot tell it from another instance: '
            f'both have the {kind} {measured.ambiguous[uuid]!r}, and no label '
            f'{policy.host_label} tells them apart; {fallback}'
        )
    return f'policy {policy.name} has no sample for it; {fallback}'
