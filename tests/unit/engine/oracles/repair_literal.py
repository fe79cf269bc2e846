# SPDX-License-Identifier: Apache-2.0
"""What is the literal rule of a repair? Slow, plain Python."""

import copy
from collections import Counter

from kronos.engine.types import ServerGroup
from kronos.policies.models import Mode
from tests.unit.engine.oracles.drain_literal import DrainLiteral
from tests.unit.engine.oracles.spread_literal import SAME, Literal, Plan

Made = tuple[str, str, str, str]
"""Group, instance, source, destination."""


class RepairLiteral(DrainLiteral):
    """Each round every member of a broken group meets every other host."""

    _group: ServerGroup | None = None
    """The one under repair."""
    _is_short = False
    """Whether one could be gathered, had the budget more moves left."""

    def plan(self) -> Plan:
        self._made: list[Made] = []
        self._kinds = ['affinity', 'anti-affinity']
        if not self._settings.enforce_hard_affinity:
            self._kinds = []
        if self._settings.enforce_soft_affinity:
            self._kinds += ['soft-affinity', 'soft-anti-affinity']
        self._endless = [
            one.uuid
            for one in self._broken_groups()
            if self._excess(one) > self._left()
        ]
        self._given_up: dict[str, bool] = {}
        self._rounds()
        while half := self._half_done():
            self._give_up(half)
            self._rounds()
        return Plan(
            [one[1:] for one in self._made],
            self._stopped(),
            self._combined(self._scores),
        )

    def _rounds(self) -> None:
        self._is_short = False
        while (broken := self._hopeful()) and self._left() > 0:
            self._is_short = False
            if not self._one_step(broken) and not self._detour(broken):
                break

    def _stopped(self) -> str:
        broken = self._broken_groups()
        if not broken:
            return 'done'
        is_short = self._is_short or not all(
            self._may_end(one)
            for one in broken
            if not self._given_up.get(one.uuid)
        )
        return 'budget' if is_short or self._left() <= 0 else 'stuck'

    def _hopeful(self) -> list[ServerGroup]:
        return [
            one
            for one in self._broken_groups()
            if one.uuid not in self._given_up
        ]

    def _half_done(self) -> ServerGroup | None:
        """One that was begun and will not be whole, now or later."""
        for group in self._hopeful():
            begun = any(one[0] == group.uuid for one in self._made)
            if 'anti' in group.policy or not begun:
                continue
            if group.uuid not in self._endless or self._left() > 0:
                return group
            on = self._on(group)
            if not any(
                self._could_meet(group, self._away(group, host), host)
                for host in on
                if on[host] == max(on.values())
            ):
                return group
        return None

    def _give_up(self, group: ServerGroup) -> None:
        """None of its moves is made, if those of others may be without."""
        self._given_up[group.uuid] = self._left() > 0
        start = self._saved()
        others = [one for one in self._made if one[0] != group.uuid]
        for _, uuid, source, _ in reversed(self._made):
            self._carry_out('', uuid, source)
        self._made = []
        if not self._again(others):
            self._restore(start)

    def _away(self, group: ServerGroup, host: str) -> list[str]:
        return sorted(
            uuid
            for uuid in set(group.members) & set(self._placement)
            if self._placement[uuid] != host
        )

    def _left(self) -> int:
        return (self._settings.max_migrations or 1000) - len(self._made)

    def _on(self, group: ServerGroup) -> Counter[str]:
        return Counter(
            self._placement[one]
            for one in set(group.members)
            if one in self._placement
        )

    def _excess(self, group: ServerGroup) -> int:
        on = list(self._on(group).values())
        if 'anti' not in group.policy:
            return sum(on) - max(on, default=0)
        soft = 'soft' in group.policy
        most = 1 if soft else group.max_server_per_host
        return sum(one - most for one in on if one > most)

    def _broken_groups(self) -> list[ServerGroup]:
        return [
            group
            for group in sorted(
                self._snapshot.groups, key=lambda one: one.uuid
            )
            if group.policy in self._kinds and self._excess(group) > 0
        ]

    def _one_step(self, broken: list[ServerGroup]) -> bool:
        """Those that need the fewest first, if the budget is too small."""
        ready = [group for group in broken if self._may_end(group)]
        if sum(map(self._excess, broken)) <= self._left():
            return self._closer(ready)
        return any(
            self._closer([one for one in ready if self._excess(one) == number])
            for number in sorted(set(map(self._excess, ready)))
        )

    def _may_end(self, group: ServerGroup) -> bool:
        """Of no use is one half together, unless no budget would do."""
        if 'anti' in group.policy or group.uuid in self._endless:
            return True
        return self._excess(group) <= self._left()

    def _closer(self, broken: list[ServerGroup]) -> bool:
        found = []
        for group in broken:
            for uuid, host in self._moves_of(group, self._hosts):
                before, source = self._excess(group), self._placement[uuid]
                self._placement[uuid] = host
                closer = self._excess(group) < before
                self._placement[uuid] = source
                if closer:
                    found.append((uuid, host, group.uuid))
        return self._take(found)

    def _moves_of(
        self, group: ServerGroup, hosts: list[str]
    ) -> list[tuple[str, str]]:
        self._group = group
        found = [
            (uuid, host)
            for uuid in sorted(set(group.members) & set(self._placement))
            if uuid not in [one[1] for one in self._made]
            and self._may_move(uuid)
            for host in hosts
            if self._is_legal(uuid, host)
            and self._is_below(uuid, host)
            and (
                self._packs() or not self._is_rejected(self._after(uuid, host))
            )
        ]
        self._group = None
        return found

    def _packs(self) -> bool:
        return self._policies[0].mode is Mode.PACK

    def _take(self, found: list[tuple[str, str, str]]) -> bool:
        if not found:
            return False
        used = set(self._placement.values())
        if self._packs() and any(host in used for _, host, _ in found):
            found = [one for one in found if one[1] in used]
        after = [self._after(uuid, host) for uuid, host, _ in found]
        combined = [self._combined(one) for one in after]
        scatter = [self._scatter(one) for one in after]
        best = [
            at
            for at in range(len(found))
            if combined[at] <= min(combined) + SAME
        ]
        flat = min(scatter[at] for at in best)
        uuid, host, group = min(
            (found[at] for at in best if scatter[at] <= flat + SAME),
            key=lambda one: (self._instance(one[0]).memory_mb, one[:2]),
        )
        self._carry_out(group, uuid, host)
        return True

    def _carry_out(self, group: str, uuid: str, host: str) -> None:
        source = self._placement[uuid]
        for name, usage in self._usage.items():
            for end, sign in ((source, -1), (host, 1)):
                if end in self._loads[name]:
                    share = usage[uuid] / self._capacity[name].get(end, 1.0)
                    self._loads[name][end] += sign * share
        self.move(uuid, host)
        self._made.append((group, uuid, source, host))

    def _detour(self, broken: list[ServerGroup]) -> bool:
        self._is_short = False
        for group in broken:
            if 'anti' in group.policy:
                continue
            start = self._saved()
            others = [one for one in self._made if one[0] != group.uuid]
            for _, uuid, source, _ in reversed(self._made):
                self._carry_out('', uuid, source)
            self._made = []
            if self._again(others):
                base = self._saved()
                on = self._on(group)
                for host in sorted(on, key=lambda one: (-on[one], one)):
                    if self._gather(group, host):
                        return True
                    self._restore(base)
            self._restore(start)
        return False

    def _again(self, made: list[Made]) -> bool:
        by_uuid = {one.uuid: one for one in self._snapshot.groups}
        for group, uuid, _, host in made:
            if (uuid, host) not in self._moves_of(by_uuid[group], [host]):
                return False
            self._carry_out(group, uuid, host)
        return True

    def _gather(self, group: ServerGroup, host: str) -> bool:
        away = self._away(group, host)
        if len(away) > self._left():
            self._is_short |= self._could_meet(group, away, host)
            return False
        while self._on(group).total() > self._on(group)[host]:
            found = self._moves_of(group, [host])
            if not self._take([(*pair, group.uuid) for pair in found]):
                return False
        return True

    def _could_meet(
        self, group: ServerGroup, away: list[str], host: str
    ) -> bool:
        """Whether each may come there, and then there is room for all."""
        self._group = group
        one_by_one = all(
            uuid not in [made[1] for made in self._made]
            and self._may_move(uuid)
            and self._is_legal(uuid, host)
            and self._is_below(uuid, host)
            for uuid in away
        )
        self._group = None
        if not one_by_one:
            return False
        saved = copy.deepcopy((self._placement, self._loads))
        fits = True
        for uuid in away:
            fits &= self._has_room(uuid, host) and self._is_below(uuid, host)
            self._placement[uuid] = host
            for name, usage in self._usage.items():
                share = usage[uuid] / self._capacity[name].get(host, 1.0)
                self._loads[name][host] += share
        self._placement, self._loads = saved
        return fits

    def _saved(self) -> tuple[object, ...]:
        return copy.deepcopy(
            (self._placement, self._scores, self._loads, self._made)
        )

    def _restore(self, saved: tuple[object, ...]) -> None:
        self._placement, self._scores, self._loads, self._made = copy.deepcopy(
            saved
        )

    def _weighs_soft_rules(self) -> bool:
        return False

    def _agrees(self, group: ServerGroup, uuid: str, host: str) -> bool:
        """To a group under repair a member may come where another is."""
        if group is self._group and 'anti' not in group.policy:
            return any(
                self._placement.get(one) == host
                for one in group.members
                if one != uuid
            )
        return super()._agrees(group, uuid, host)

    _may_move = Literal._may_move
    _after = Literal._after
