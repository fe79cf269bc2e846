# SPDX-License-Identifier: Apache-2.0
"""The blockers of an instance: what keeps it, wherever it would go.

The planner gives one reason. Here that one is lifted and the planner asked
again, until it would plan the instance; so every reason is its own.
"""

from dataclasses import dataclass, field

from kronos.engine.edits import Pair
from kronos.engine.eligibility import instances
from kronos.engine.eligibility.cooldown import remember
from kronos.engine.explain import hostfaults
from kronos.engine.explain.relaxations import relax
from kronos.engine.explain.scenario import GAPS, Scenario
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput, StopReason

MOST = 16
"""More reasons than that are not looked for."""
KEPT_SCENES = 8

OF_INSTANCE = frozenset(
    code for code in Code if code.startswith('instance_')
) - {Code.INSTANCE_QUARANTINE, Code.INSTANCE_COOLDOWN}
"""What is lifted for one instance and not for all."""

STOPS = {
    StopReason.NO_SERVICES: Code.SCOPE_NO_SERVICES,
    StopReason.NO_POLICY: Code.SCOPE_NO_POLICY,
    StopReason.COOLDOWN: Code.SCOPE_COOLDOWN,
}
"""Why a whole scope stands still; too few hosts is a matter of hosts."""


@dataclass
class Trail:
    """The reasons, and the planner without them."""

    case: PlanningInput
    """The input without them."""
    scene: Scenario
    """Prepared without those of them on which other rules hang."""
    origin: Scenario
    """In which the hosts are as they are."""
    found: list[Reason] = field(default_factory=list)
    others: dict[str, list[Reason]] = field(default_factory=dict)
    """By host what was lifted at others, where too few could take part."""

    @property
    def is_supposed(self) -> bool:
        """Whether hosts take part that would not, were this all lifted."""
        return self.origin.phases is None


class Blockers:
    """The trails of one scope.

    :param case: what the planner was given
    """

    def __init__(self, case: PlanningInput) -> None:
        self._scenes: dict[tuple[str, ...], Scenario] = {}
        self.base = Scenario(case)
        self._found: list[Reason] = []
        self._supposed: Trail | None = None
        self.start = self._started()

    def _started(self) -> Scenario:
        """The scene in which the scope does not stand still.

        With too few hosts it still does: which one is lacking depends on
        the pair.
        """
        scene = self.base
        while scene.phases is None and scene.scope.stopped in STOPS:
            if len(self._found) >= len(STOPS):
                raise ValueError(f'not lifted: {scene.scope.reason}')
            code = STOPS[scene.scope.stopped]
            self._found.append(Reason(scene.scope.reason, code))
            case = relax(scene.case, self._found[-1], Pair('', '', ''))
            scene = Scenario(case)
        return scene

    def of(self, uuid: str, quick: bool = False) -> Trail:
        """The reasons that hold for every destination.

        :param quick: look for no more where that takes preparing the scope
            once more
        """
        start = self.start
        trail = Trail(start.case, start, start, list(self._found))
        host = start.scope.now.instances[uuid].host
        pair = Pair(uuid, host, host)
        if quick and start.phases is None and self._suppose(trail, host):
            return trail
        for _ in range(MOST):
            if self._lacks_others(trail, host):
                self._lift_others(trail, host)
                trail.scene = self._scene(trail, host)
                continue
            reason = self._next(trail, pair, quick)
            if reason is None:
                break
            trail.found.append(reason)
            if quick and trail.scene.phases is not None:
                break
            trail.case = relax(trail.case, reason, pair)
            trail.scene = self._scene(trail, uuid)
        self._drop_own_cooldown(trail, pair)
        return trail

    def _suppose(self, trail: Trail, source: str) -> bool:
        """Look on as if every host took part; the same for all instances.

        :returns: whether the source itself does not, which is the reason
        """
        if self._supposed is None:
            made = Trail(trail.case, trail.scene, trail.origin)
            for _ in range(MOST):
                if not self._lacks_others(made, ''):
                    break
                self._lift_others(made, '')
                made.scene = Scenario(made.case)
            self._supposed = made
        trail.scene, trail.others = self._supposed.scene, self._supposed.others
        card = self.start.scope.card
        if source in card.frozen_hosts and source not in card.draining:
            fault = self.faults(self.start, source)[0]
            trail.found.append(self._of_host(fault, source))
            return trail.scene.phases is not None
        return False

    def _drop_own_cooldown(self, trail: Trail, pair: Pair) -> None:
        """Leave a cooldown of the scope out that this instance causes."""
        codes = {one.code: one for one in trail.found}
        way = codes.get(Code.INSTANCE_ON_ITS_WAY)
        rests = codes.get(Code.SCOPE_COOLDOWN)
        if way is not None and rests is not None:
            case = relax(self.base.case, way, pair)
            if not remember(case.snapshot, case.settings).standstill:
                trail.found.remove(rests)

    def _scene(self, trail: Trail, whose: str) -> Scenario:
        """The scene of the case of a trail, made once."""
        key = tuple(
            f'{one.code} {one.about} {one.host} '
            + (whose if one.code in OF_INSTANCE else '')
            for one in trail.found
        )
        if trail.origin.phases is None:
            # Whose other hosts these are, and how far they are lifted.
            frozen = ' '.join(trail.scene.scope.card.frozen_hosts)
            key = *key, whose, frozen
        if key not in self._scenes:
            if len(self._scenes) >= KEPT_SCENES:
                del self._scenes[next(iter(self._scenes))]
            self._scenes[key] = Scenario(trail.case)
        return self._scenes[key]

    def _next(self, trail: Trail, pair: Pair, quick: bool) -> Reason | None:
        """The next reason on which other rules may hang.

        Those on which none hangs are added and lifted; if quick, only
        added, since nobody looks at the case then.
        """
        scope, host = trail.scene.scope, pair.source
        if trail.scene.phases is None:
            faults = self.faults(trail.scene, host)
            if scope.stopped is StopReason.TOO_FEW_HOSTS and faults:
                return self._of_host(faults[0], host)
            return Reason(
                scope.reason, STOPS[scope.stopped or StopReason.NO_POLICY]
            )
        if pair.instance in trail.case.snapshot.instances:
            one = trail.case.snapshot.instances[pair.instance]
            for own in instances.reasons(one, trail.case.settings):
                trail.found.append(own)
                if not quick:
                    trail.case = relax(trail.case, own, pair)
        past = scope.unavailable.get(pair.instance)
        if past:
            return past
        frozen = scope.card.frozen_hosts
        if host in frozen and host not in scope.card.draining:
            return self._of_host(self.faults(trail.scene, host)[0], host)
        if pair.instance not in scope.profiles.profiles:
            skipped = scope.profiles.skipped
            text = skipped.get(pair.instance, 'it has no profile')
            return Reason(text, Code.INSTANCE_NO_PROFILE)
        return None

    @staticmethod
    def _of_host(reason: Reason, host: str) -> Reason:
        text = f'its host {host} takes no part: {reason}'
        return reason.worded(text, host)

    @staticmethod
    def _lacks_others(trail: Trail, source: str) -> bool:
        """Whether there are too few hosts, and not for the source alone."""
        scope = trail.scene.scope
        return (
            trail.scene.phases is None
            and scope.stopped is StopReason.TOO_FEW_HOSTS
            and any(one != source for one in scope.card.frozen_hosts)
        )

    def _lift_others(self, trail: Trail, source: str) -> None:
        """Let all other hosts take part."""
        scene = trail.scene
        trail.case = scene.case
        for host in sorted(scene.scope.card.frozen_hosts):
            if host != source:
                for reason in self.faults(scene, host):
                    trail.case = relax(trail.case, reason, Pair('', '', host))
                    trail.others.setdefault(host, []).append(reason)

    def against(self, trail: Trail, host: str) -> list[Reason]:
        """All that keeps a host from taking the instance of a trail."""
        found = {
            (one.code, one.about): one
            for one in (
                *self.faults(trail.origin, host),
                *trail.others.get(host, ()),
                *(self.faults(trail.scene, host) if trail.is_supposed else ()),
            )
        }
        if any(one.code is Code.SCOPE_NO_POLICY for one in trail.found):
            # A policy that can be used has a value of every host.
            return [one for one in found.values() if one.code not in GAPS]
        return list(found.values())

    def faults(self, scene: Scenario, host: str) -> list[Reason]:
        """All that keeps a host from taking anything, in a fixed order."""
        if host not in scene.faults:
            scene.faults[host] = [
                reason.worded(str(reason), host)
                for reason in hostfaults.faults(scene, host)
            ]
        return scene.faults[host]


def is_of_host(reason: Reason) -> bool:
    """Whether it is one of :meth:`Blockers.faults`.

    Not so a destination that is held: a rule says that, since the stuck
    migration may be the instance's own.
    """
    code = reason.code
    if code is Code.HOST_STUCK_INTO:
        return False
    return code is Code.SCOPE_NO_SERVICES or code.startswith('host_')
