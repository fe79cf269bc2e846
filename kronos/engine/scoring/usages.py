# SPDX-License-Identifier: Apache-2.0
"""The usages of instances, from the samples of a policy.

The evaluation of a policy holds them against the hosts, and the profiles are
made of them.
"""

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass, field

from kronos.engine import instance_keys
from kronos.engine.scoring import labels
from kronos.engine.settings import Settings
from kronos.engine.types import Instance, Sample, Snapshot
from kronos.policies.models import LabelType, Policy

NOISE = 1e-9
"""How far outside its range a value still is rounding, and is clamped."""

Named = tuple[dict[str, str], set[str], dict[str, list[Instance]]]
"""What names mean, as :func:`named` has it."""


@dataclass
class Measured:
    """One policy's usages by instance uuid, and the ambiguous instances."""

    usage: dict[str, float] = field(default_factory=dict)
    ambiguous: dict[str, str] = field(default_factory=dict)


def measure(
    policy: Policy,
    snapshot: Snapshot,
    settings: Settings,
    names: Named,
) -> Measured:
    """Each instance's newest sample; of equally new ones the largest."""
    measured = Measured()
    reading = snapshot.readings[policy.name].profile
    if reading is None:
        return measured
    # The answer may be of the whole cloud, and the scope a small part of it.
    sure, shared, _ = names
    lookup = _Names(policy, snapshot, reading.samples, settings, names)
    usage, stamps = measured.usage, dict[str, float]()
    for sample in reading.samples:
        uuid, value = sure.get(sample.label, ''), sample.value
        if not uuid and sample.label not in shared:
            continue
        # False for NaN too; noise below 0 is 0
        if not -NOISE <= value < math.inf:
            continue
        if not uuid:
            uuid, doubtful = lookup.meant(sample)
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
    of it, only a sample that names the host as well means one of them.
    """

    def __init__(
        self,
        policy: Policy,
        snapshot: Snapshot,
        samples: Iterable[Sample],
        settings: Settings,
        named: Named,
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
        instances = self._by_name.get(sample.label, [])
        is_sure = False
        if host := self._host_of(sample):
            matched = self._hosts.get(host)
            instances = [
                instance for instance in instances if instance.host == matched
            ]
            is_sure = True
        uuids = [instance.uuid for instance in instances]
        if is_sure and len(uuids) == 1:
            return uuids[0], []
        return '', uuids

    def _host_of(self, sample: Sample) -> str:
        """The host in a series' labels, if it is needed."""
        if sample.label not in self._shared:
            return ''
        return labels.of_series(sample.series).get(self._host_label, '')


def named(snapshot: Snapshot, kind: LabelType) -> Named:
    """What names mean.

    :returns: uuids by names that mean one instance, whatever else is said;
        names that several have, in the scope or outside of it; and the
        instances that have these
    """
    key = operator.attrgetter(instance_keys.key_of(kind))
    sure, shared = (
        dict[str, str](),
        set(instance_keys.elsewhere(snapshot, kind)),
    )
    everyone = snapshot.instances.values()
    for instance in everyone:
        name = key(instance)
        if not name:
            continue
        if name in sure:
            shared.add(name)
        sure[name] = instance.uuid
    by_name: dict[str, list[Instance]] = {name: [] for name in shared}
    for instance in everyone if shared else ():
        if (name := key(instance)) in shared:
            by_name[name].append(instance)
    for name in shared:
        sure.pop(name, None)
    return sure, shared, by_name
