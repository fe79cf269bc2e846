# SPDX-License-Identifier: Apache-2.0
"""Is a plan legal at every moment? Plain Python, nothing of the planner.

A plan is led through the scope move by move; before each, everything is
asked that Nova would refuse or an operator would not forgive.
"""

import math
from collections import Counter
from collections.abc import Iterator

from kronos.engine.settings import SearchName, SwapMoves, VetoReference
from kronos.engine.types import (
    AggregateResult,
    MigrationPhase,
    MigrationStep,
    PolicyResult,
    ServerGroup,
    StopReason,
)
from kronos.policies.models import Mode
from tests.unit.engine.oracles.ledger import Ledger

SAME = 1e-9
ORDER = [
    MigrationPhase.EVACUATE,
    MigrationPhase.AFFINITY,
    MigrationPhase.RELIEVE,
    MigrationPhase.SPREAD,
    MigrationPhase.PACK,
]
SPARING = MigrationPhase.SPREAD, MigrationPhase.PACK
GUARDED = *SPARING, MigrationPhase.RELIEVE
IN_PROGRESS = 'planned', 'under_way'
SEARCHED = StopReason.DONE, StopReason.BUDGET, StopReason.STUCK


class Judge(Ledger):
    """One scope whose readings name instances by uuid and hosts by name."""

    def faults(self, result: AggregateResult) -> list[str]:
        """Everything that is wrong with a plan."""
        self._counting = [
            host
            for host in self._snapshot.hosts
            if host not in result.unavailable_hosts
        ]
        self._used = [one for one in result.policies if not one.skipped]
        self._exchanged = {
            uuid
            for one in result.steps
            if one.requires
            for uuid in (one.instance, one.requires)
        }
        if self._exchanged and self._settings.swap_moves is SwapMoves.NONE:
            return [f'{self._exchanged} are exchanged']
        self._relieved: set[str] = set()
        found = list(self._about_whole(result))
        for number, step in enumerate(result.steps):
            found += [
                f'step {number} ({step.phase} {step.instance} '
                f'{step.source} -> {step.destination}): {text}'
                for text in self._about(step)
            ]
            self._make(step)
        return found + list(self._about_swaps(result))

    def _about_whole(self, result: AggregateResult) -> Iterator[str]:
        phases = [ORDER.index(step.phase) for step in result.steps]
        if phases != sorted(phases):
            yield 'the phases are out of order'
        moved = [step.instance for step in result.steps]
        if not self._settings.repeat_moves and len(set(moved)) < len(moved):
            yield 'an instance is moved twice'
        if not self._settings.unlimited and len(moved) > self._budget():
            yield f'{len(moved)} moves, the budget is {self._budget()}'
        balancing = [one for one in result.steps if one.phase in GUARDED]
        if self._is_limited() and (
            len(balancing) > self._settings.canary_moves
        ):
            yield f'{len(balancing)} moves for balance, and it is limited'
        if result.stopped is StopReason.COOLDOWN and any(
            step.phase is not MigrationPhase.RELIEVE for step in result.steps
        ):
            yield 'more than a relief is planned in a cooldown'
        if self._is_of_repair(result) and (
            (result.stopped is StopReason.DONE)
            == bool(result.violations_after)
        ):
            yield f'{result.stopped}, broken: {result.violations_after}'
        for uuid in self._snapshot.instances:
            if uuid not in moved and not result.stayed.get(uuid):
                yield f'{uuid} does not move, and nobody says why'
            if uuid in moved and uuid in result.stayed:
                yield f'{uuid} moves, with a reason why it does not'

    def _is_limited(self) -> bool:
        """Whether earlier plans kept too little, or too few are known."""
        if self._settings.use_effect != 'limit':
            return False
        used = {one.name for one in self._used}
        effects = [one for one in self._snapshot.effects if one.policy in used]
        return all(one.plans + one.former < 3 for one in effects) or any(
            abs(one.ratio - 1.0) > 0.5 for one in effects
        )

    def _is_of_repair(self, result: AggregateResult) -> bool:
        """Whether repair was the last phase, and had to wait for nobody."""
        return (
            self._settings.enforces
            and not self._settings.rebalance
            and result.stopped in SEARCHED
            and not self._snapshot.events
        )

    def _budget(self) -> int:
        if self._settings.max_migrations is not None:
            return self._settings.max_migrations
        return max(p.max_migrations_per_cycle for p in self._policies)

    def _about(self, step: MigrationStep) -> Iterator[str]:
        if self._at[step.instance] != step.source:
            yield f'it is on {self._at[step.instance]}'
        if step.source == step.destination:
            yield 'it goes nowhere'
        yield from self._about_hosts(step)
        yield from self._about_places(step)
        yield from self._about_instance(step)
        yield from self._about_room(step)
        for group in self._snapshot.groups:
            if step.instance in group.members:
                yield from self._about_group(group, step)
        yield from self._about_past(step)
        if step.phase is MigrationPhase.RELIEVE:
            yield from self._about_relief(step)
        if step.phase is not MigrationPhase.SPREAD:
            yield from self._about_ceilings(step)
        yield from self._about_numbers(step)

    def _about_hosts(self, step: MigrationStep) -> Iterator[str]:
        source = (self._snapshot.services or {})[step.source]
        target = (self._snapshot.services or {})[step.destination]
        if source.state != 'up' or source.forced_down:
            yield 'its source is down'
        phases = [MigrationPhase.EVACUATE, MigrationPhase.AFFINITY]
        drains = self._settings.evacuate and step.phase in phases
        if source.status != 'enabled' and not drains:
            yield 'its source is disabled'
        if target.state != 'up' or target.status != 'enabled':
            yield 'its destination is not available'
        if step.phase is MigrationPhase.PACK and self._is_begun(target.host):
            yield 'pack has begun to empty its destination'
        if target.forced_down or self._snapshot.hosts[target.host].closed:
            yield 'its destination is closed'
        if self._snapshot.hosts[target.host].excluded is not None:
            yield 'its destination is at fault'
        if self._stuck('source', step.source) >= 1:
            yield 'its source sends one that is stuck'
        if self._stuck('destination', step.destination) >= 2:
            yield 'its destination takes two that are stuck'
        drained = self._settings.drain_hosts or []
        if self._settings.evacuate and step.destination in drained:
            yield 'its destination is being drained'

    def _is_begun(self, host: str) -> bool:
        """Whether the last thing that pack did was to take something off."""
        if self._settings.search is SearchName.GREEDY:
            return False
        packed = [one for one in self._snapshot.events if one.phase == 'pack']
        taken = [
            one.at
            for one in packed
            if one.source == host and one.outcome != 'failed'
        ]
        brought = [one.at for one in packed if one.destination == host]
        return max(taken, default=0.0) > max(brought, default=0.0)

    def _stuck(self, end: str, host: str) -> int:
        """How many migrations of Nova's never end there."""
        oldest = self._snapshot.taken_at - self._settings.stuck_seconds
        return sum(
            getattr(one, end) == host
            and (one.outcome, one.origin) == ('under_way', 'nova')
            and one.at < oldest
            for one in self._snapshot.events
        )

    def _about_places(self, step: MigrationStep) -> Iterator[str]:
        instance = self._snapshot.instances[step.instance]
        source = self._snapshot.hosts[step.source]
        target = self._snapshot.hosts[step.destination]
        pin = instance.pinned_availability_zone
        if pin is not None and target.availability_zone != pin:
            yield f'it is pinned to {pin}'
        zones = source.availability_zone, target.availability_zone
        if self._settings.restrict_to_az and zones[0] != zones[1]:
            yield f'it leaves its zone: {zones}'
        if source.cell != target.cell or source.frozen or target.frozen:
            yield 'it crosses cells'

    def _about_instance(self, step: MigrationStep) -> Iterator[str]:
        instance = self._snapshot.instances[step.instance]
        if instance.locked or instance.unmovable or instance.task_state:
            yield 'it must not be moved'
        if any(
            one.instance == step.instance and one.outcome in IN_PROGRESS
            for one in self._snapshot.events
        ):
            yield 'it is being migrated'

    def _about_past(self, step: MigrationStep) -> Iterator[str]:
        """What is young, and what goes back to where it was."""
        now = self._snapshot.taken_at
        created = self._snapshot.instances[step.instance].created
        age = max(0.0, now - created) if created else math.inf
        young = age < self._settings.min_age_seconds
        if young and step.phase in SPARING:
            yield 'it is young'
        if step.phase in GUARDED and any(
            (one.instance, one.source, one.outcome)
            == (step.instance, step.destination, 'moved')
            and now - one.at < self._settings.return_guard_seconds
            for one in self._snapshot.events
        ):
            yield 'it goes back'

    def _about_relief(self, step: MigrationStep) -> Iterator[str]:
        """Its source is overfull at first, and above a ceiling later."""
        limits = {
            one.name: max(one.relief_threshold, one.capacity_threshold)
            for one in self._policies
            if one.relief_threshold < 1.0
        }
        if step.source in self._relieved:
            limits = {p.name: p.capacity_threshold for p in self._policies}
        self._relieved.add(step.source)
        if not any(
            self._loads[one.name].get(step.source, 0.0)
            > limits.get(one.name, math.inf) + SAME
            for one in self._used
        ):
            yield 'its source is not overfull'

    def _about_room(self, step: MigrationStep) -> Iterator[str]:
        instance = self._snapshot.instances[step.instance]
        room = self._snapshot.hosts[step.destination].headroom
        if room is None:
            if self._settings.require_headroom:
                yield 'the headroom of its destination is not known'
            return
        wanted = {'VCPU': instance.vcpus, 'MEMORY_MB': instance.memory_mb}
        if self._settings.check_disk:
            wanted['DISK_GB'] = instance.disk_gb
        for name, amount in wanted.items():
            free = room[name].capacity - room[name].used
            free += sum(
                self._amount(uuid, name) * self._shift(uuid, step.destination)
                for uuid in self._at
            )
            free -= sum(
                self._amount(uuid, name)
                for uuid in self._arriving(step.destination, claimed=False)
            )
            if amount > max(free, 0):
                yield f'it needs {amount} {name}, {free} are free'

    def _arriving(self, host: str, claimed: bool = True) -> set[str]:
        """Who is on the way there by others' doing.

        :param claimed: whether those count of which Placement knows
        """
        events = [
            one
            for one in self._snapshot.events
            if one.destination == host and one.outcome in IN_PROGRESS
        ]
        known = {
            one.instance
            for one in events
            if (one.outcome, one.origin) == ('under_way', 'nova')
        }
        return {
            one.instance
            for one in events
            if self._at.get(one.instance, host) != host
            and (claimed or one.instance not in known)
        }

    def _amount(self, uuid: str, name: str) -> int:
        one = self._snapshot.instances[uuid]
        return {
            'VCPU': one.vcpus,
            'MEMORY_MB': one.memory_mb,
            'DISK_GB': one.disk_gb,
        }[name]

    def _shift(self, uuid: str, host: str) -> int:
        """1 if it has left the host, -1 if it has come, else 0."""
        was = self._snapshot.instances[uuid].host == host
        return was - (self._at[uuid] == host)

    def _about_group(
        self, group: ServerGroup, step: MigrationStep
    ) -> Iterator[str]:
        others = Counter(
            self._at[uuid]
            for uuid in set(group.members)
            if uuid in self._at and uuid != step.instance
        )
        arriving = self._arriving(step.destination) - {step.instance}
        there = others[step.destination] + len(arriving & set(group.members))
        hard = not group.policy.startswith('soft')
        most = max(1, group.max_server_per_host) if hard else 1
        if not hard and self._is_weighed(step):
            return
        if group.policy.endswith('anti-affinity'):
            if there >= most:
                yield f'{group.policy} group has {there} there'
            return
        there = others[step.destination]
        if hard and not there:
            yield 'no other member of its affinity group is there'
        enforced = (
            self._settings.enforce_hard_affinity
            if hard
            else self._settings.enforce_soft_affinity
        )
        repaired = enforced and step.phase is MigrationPhase.AFFINITY
        if not repaired and sum(others.values()) > there:
            yield f'other members of its {group.policy} group are elsewhere'

    def _is_weighed(self, step: MigrationStep) -> bool:
        """Whether a penalty may outweigh soft rules in this phase."""
        phases = [MigrationPhase.SPREAD, MigrationPhase.EVACUATE]
        if self._policies[0].mode is Mode.PACK or step.phase not in phases:
            return False
        penalty = self._settings.soft_rules == 'penalty'
        return penalty and not self._settings.enforce_soft_affinity

    def _about_ceilings(self, step: MigrationStep) -> Iterator[str]:
        for policy in self._policies:
            if policy.name not in [one.name for one in self._used]:
                continue
            load = self._loads[policy.name].get(step.destination)
            move = policy, step.instance, step.destination
            share = self._growth(*move) * self._share(*move)
            if load is None:
                yield f'the {policy.name} reading there is not known'
            elif load + share >= policy.capacity_threshold + SAME:
                yield f'{policy.name} would be at {load + share} there'

    def _about_numbers(self, step: MigrationStep) -> Iterator[str]:
        """The step's numbers; nobody may object."""
        for one in self._used:
            before = self._imbalance(one.name)
            if abs(before - step.imbalance_before[one.name]) > SAME:
                yield f'{one.name} was at {before}'
        self._make(step)
        for one in self._used:
            after = self._imbalance(one.name)
            if abs(after - step.imbalance_after[one.name]) > SAME:
                yield f'{one.name} is at {after}'
            had = self._veto(one, step.imbalance_before[one.name])
            worse = after > had + SAME
            if worse and after > one.threshold + SAME and self._counts(step):
                yield f'{one.name} is worsened to {after}'
        self._undo(step)

    def _veto(self, one: PolicyResult, before: float) -> float:
        """What an imbalance is compared with."""
        if self._settings.veto_reference is VetoReference.INITIAL:
            return max(one.imbalance_before, before)
        return before

    def _counts(self, step: MigrationStep) -> bool:
        """Whether policies may object: not in pack, nor to half a swap."""
        if self._policies[0].mode is Mode.PACK:
            return False
        if step.phase is MigrationPhase.EVACUATE:
            return not self._settings.drain_may_exceed_threshold
        return step.instance not in self._exchanged

    def _about_swaps(self, result: AggregateResult) -> Iterator[str]:
        """Both halves as one move, and what may be between them."""
        for first, second in zip(result.steps, result.steps[1:], strict=False):
            if not second.requires:
                continue
            name = f'swap of {first.instance} and {second.instance}: '
            if second.requires != first.instance:
                yield name + 'something is between its halves'
            ends = first.source, first.destination
            if ends != (second.destination, second.source):
                yield name + f'it is none: {ends}'
            if second.combined_after >= first.combined_before:
                yield name + 'it improves nothing'
            for one in self._used:
                before = first.imbalance_before[one.name]
                between = first.imbalance_after[one.name]
                after = second.imbalance_after[one.name]
                if after > max(self._veto(one, before), one.threshold) + SAME:
                    yield name + f'{one.name} is worsened to {after}'
                most = one.threshold
                if before > one.threshold + SAME:
                    most = max(before, min(2.0 * before, 1.0))
                if (
                    self._settings.swap_moves is SwapMoves.SAFE
                    and between > most + SAME
                ):
                    yield name + f'{one.name} is at {between} between'
