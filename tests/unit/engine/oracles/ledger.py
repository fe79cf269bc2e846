# SPDX-License-Identifier: Apache-2.0
"""What do the moves of a plan make of the scores? Plain Python."""

from collections.abc import Sequence

from kronos.engine.settings import Settings
from kronos.engine.types import MigrationStep, Snapshot
from kronos.policies.models import Policy


class Ledger:
    """The placement and the scores of one scope, move by move."""

    def __init__(
        self, snapshot: Snapshot, policies: list[Policy], settings: Settings
    ) -> None:
        self._snapshot = snapshot
        self._policies = policies
        self._settings = settings
        self._at = {u: one.host for u, one in snapshot.instances.items()}
        self._loads = {p.name: self._readings(p, True) for p in policies}
        self._scores = {p.name: self._readings(p, False) for p in policies}
        self._counting: list[str] = []
        """Hosts that are part of the imbalance."""

    def _imbalance(self, policy: str, aside: Sequence[str] = ()) -> float:
        scores = self._scores[policy]
        values = [scores[one] for one in self._counting if one not in aside]
        return max(values) - min(values)

    def _make(self, step: MigrationStep) -> None:
        self._shift_scores(step.instance, step.source, step.destination)

    def _undo(self, step: MigrationStep) -> None:
        self._shift_scores(step.instance, step.destination, step.source)

    def _shift_scores(self, uuid: str, source: str, target: str) -> None:
        self._at[uuid] = target
        for policy in self._policies:
            for table in (self._scores, self._loads):
                values = table[policy.name]
                times = self._factor(policy)
                for host, sign in ((source, -1), (target, 1)):
                    if table is self._loads:
                        times = self._growth(policy, uuid, host)
                    if host in values:
                        share = times * self._share(policy, uuid, host)
                        values[host] += sign * share

    def _factor(self, policy: Policy) -> float:
        """How many times its usage an instance counts in the scores."""
        most = {'damp': 1.0, 'calibrate': 2.0}.get(self._settings.use_effect)
        for one in self._snapshot.effects:
            if one.policy == policy.name and one.plans and most:
                return sorted((0.25, one.ratio, most))[1]
        return 1.0

    def _growth(self, policy: Policy, uuid: str, host: str) -> float:
        """The same below a ceiling: never less than is measured."""
        if self._snapshot.instances[uuid].host == host:
            return 1.0
        return max(1.0, self._factor(policy))

    def _readings(self, policy: Policy, capacity: bool) -> dict[str, float]:
        readings = self._snapshot.readings[policy.name]
        reading = readings.imbalance
        if capacity and policy.capacity_query and readings.capacity:
            reading = readings.capacity
        return {one.label: one.value for one in reading.samples}

    def _share(self, policy: Policy, uuid: str, host: str) -> float:
        readings = self._snapshot.readings[policy.name]
        assert readings.profile is not None
        usage = {one.label: one.value for one in readings.profile.samples}
        size = 1.0
        if policy.host_capacity_query and readings.host_capacity:
            sizes = {
                one.label: one.value for one in readings.host_capacity.samples
            }
            size = sizes.get(host, 1.0)
        if uuid not in usage and self._leaves(uuid):
            usage[uuid] = guessed(self._snapshot, policy, uuid)
        return usage.get(uuid, 0.0) / size

    def _leaves(self, uuid: str) -> bool:
        """Whether its host is to be emptied."""
        host = self._snapshot.instances[uuid].host
        service = (self._snapshot.services or {})[host]
        if not self._settings.evacuate or service.state != 'up':
            return False
        if self._settings.drain_hosts is None:
            return service.status == 'disabled'
        return host in self._settings.drain_hosts


def guessed(snapshot: Snapshot, policy: Policy, uuid: str) -> float:
    """The usage of one without a sample: its flavor's share of its host."""
    readings = snapshot.readings[policy.name]
    host = snapshot.instances[uuid].host
    there = [one for one in snapshot.instances.values() if one.host == host]
    vcpus = sum(one.vcpus for one in there)
    share = snapshot.instances[uuid].vcpus / vcpus if vcpus else 1 / len(there)
    score = {one.label: one.value for one in readings.imbalance.samples}[host]
    size = 1.0
    if readings.host_capacity:
        sizes = {
            one.label: one.value for one in readings.host_capacity.samples
        }
        size = sizes.get(host, 1.0)
    return score * size * share
