# SPDX-License-Identifier: Apache-2.0
"""The blockers of an instance: what keeps it, wherever it would go.

The planner gives one reason. Here that one is lifted and the planner asked
again, until it would plan the instance; so every reason is its own.
"""

from dataclasses import dataclass, field

from kronos.engine.edits import Pair
from kronos.engine.eligibility import hosts, instances, window
from kronos.engine.eligibility.cooldown import remember
from kronos.engine.explain.relaxations import relax
from kronos.engine.explain.scenario import Scenario
from kronos.engine.planning.scope_planner import Stopped
from kronos.engine.reasons import Code, Reason
from kronos.engine.scheduling.migration_costs import MigrationCosts
from kronos.engine.scoring import scorecard
from kronos.engine.types import PlanningInput, Rest, Stop, StopReason

MOST = 16
"""More reasons than that are not looked for."""
KEPT_SCENARIOS = 8

OF_INSTANCE = frozenset(
    code for code in Code if code.startswith('instance_')
) - {Code.INSTANCE_QUARANTINE, Code.INSTANCE_COOLDOWN}
"""What is lifted for one instance and not for all."""

STOPS = frozenset(
    {
        *scorecard.SHUT.values(),
        *window.STOPS.values(),
        StopReason.NO_POLICY,
        StopReason.COOLDOWN,
    }
)
"""Why a whole scope stands still; too few hosts is a matter of hosts."""


def is_standstill(stop: Stop) -> bool:
    """Whether it is one of these, or of an extension's own."""
    return stop in STOPS or not isinstance(stop, StopReason)


@dataclass
class Blocked:
    """What keeps one instance, and the planner without these reasons."""

    case: PlanningInput
    """The planning input without the reasons."""
    scenario: Scenario
    """The case as it was when rules were last asked anew: without those of
    the reasons on which other rules hang."""
    origin: Scenario
    """The planner by the hosts as they are."""
    reasons: list[Reason] = field(default_factory=list)
    others: dict[str, list[Reason]] = field(default_factory=dict)
    """By host what was lifted at others, where too few could take part."""

    @property
    def is_supposed(self) -> bool:
        """Whether hosts are taken to take part that do not."""
        return self.origin.phases is None

    def waits_for_nothing(self) -> None:
        """Leave the scope's cooldown out: it does not hold a relief."""
        self.reasons = [
            reason
            for reason in self.reasons
            if reason.code is not Code.SCOPE_COOLDOWN
        ]


class Blockers:
    """What keeps the instances of one scope.

    :param case: what the planner was given
    :param rest: what it has set aside
    """

    def __init__(self, case: PlanningInput, rest: Rest | None = None) -> None:
        self._rest = rest
        self._scenarios: dict[tuple[str, ...], Scenario] = {}
        self.base = Scenario(case, rest)
        self._standstills: list[Reason] = []
        self._supposed: Blocked | None = None
        self.start = self._started()

    def _started(self) -> Scenario:
        """The planner without the reasons for a standstill of the scope.

        But for too few hosts: which of them is lacking depends on the pair.
        """
        scenario = self.base
        while reason := why_still(scenario):
            if len(self._standstills) > len(STOPS):
                raise ValueError(f'not lifted: {reason}')
            self._standstills.append(reason)
            case = relax(scenario.case, reason, Pair('', '', ''))
            scenario = Scenario(case, self._rest)
        return scenario

    def of(self, uuid: str, quick: bool = False) -> Blocked:
        """What keeps an instance, whatever the destination.

        :param quick: stop where further reasons would take planning the
            scope once more
        """
        start = self.start
        blocked = Blocked(start.case, start, start, list(self._standstills))
        host = start.scope.now.instances[uuid].host
        pair = Pair(uuid, host, host)
        if quick and start.phases is None and self._suppose(blocked, host):
            return blocked
        for _ in range(MOST):
            if self._lacks_others(blocked, host):
                self._lift_others(blocked, host)
                blocked.scenario = self._scenario(blocked, host)
                continue
            reason = self._next(blocked, pair, quick)
            if reason is None:
                break
            blocked.reasons.append(reason)
            if quick and blocked.scenario.phases is not None:
                break
            blocked.case = relax(blocked.case, reason, pair)
            blocked.scenario = self._scenario(blocked, uuid)
        self._drop_own_cooldown(blocked, pair)
        return blocked

    def _suppose(self, blocked: Blocked, source: str) -> bool:
        """Go on as if every host took part; once for all instances.

        :returns: whether the source takes no part, so that nothing else
            has to be looked for
        """
        if self._supposed is None:
            supposed = Blocked(blocked.case, blocked.scenario, blocked.origin)
            for _ in range(MOST):
                if not self._lacks_others(supposed, ''):
                    break
                self._lift_others(supposed, '')
                supposed.scenario = Scenario(supposed.case, self._rest)
            self._supposed = supposed
        blocked.scenario, blocked.others = (
            self._supposed.scenario,
            self._supposed.others,
        )
        if source in self.start.scope.card.frozen:
            fault = self.start.host_reasons(source)[0]
            blocked.reasons.append(self._of_host(fault, source))
            return blocked.scenario.phases is not None
        return False

    def _drop_own_cooldown(self, blocked: Blocked, pair: Pair) -> None:
        """Take the scope's cooldown out if this instance alone causes it."""
        codes = {reason.code: reason for reason in blocked.reasons}
        way = codes.get(Code.INSTANCE_ON_ITS_WAY)
        rests = codes.get(Code.SCOPE_COOLDOWN)
        if way is not None and rests is not None:
            case = relax(self.base.case, way, pair)
            if not remember(case.snapshot, case.settings).standstill:
                blocked.reasons.remove(rests)

    def _scenario(self, blocked: Blocked, whose: str) -> Scenario:
        """The planner of the case, made once for the same reasons."""
        key = tuple(
            f'{reason.code} {reason.about} {reason.host} '
            + (whose if reason.code in OF_INSTANCE else '')
            for reason in blocked.reasons
        )
        if blocked.origin.phases is None:
            # Whose other hosts these are, and how far they are lifted.
            # A host may have several reasons, one behind the other.
            excluded = blocked.scenario.scope.card.excluded
            others = (f'{host} {excluded[host]}' for host in excluded)
            key = *key, whose, *others
        if key not in self._scenarios:
            if len(self._scenarios) >= KEPT_SCENARIOS:
                del self._scenarios[next(iter(self._scenarios))]
            self._scenarios[key] = Scenario(blocked.case, self._rest)
        return self._scenarios[key]

    def _next(
        self, blocked: Blocked, pair: Pair, quick: bool
    ) -> Reason | None:
        """The next reason that has to be lifted before others are known.

        What the instance itself says against a move is added at once; it is
        lifted as well, but if quick, since nobody looks at the case then.
        """
        scope, host = blocked.scenario.scope, pair.source
        if isinstance(scope, Stopped):
            against = blocked.scenario.host_reasons(host)
            if scope.stopped is StopReason.TOO_FEW_HOSTS and against:
                return self._of_host(against[0], host)
            return Reason(scope.reason, scope.stopped.code)
        if pair.instance in blocked.case.snapshot.instances:
            instance = blocked.case.snapshot.instances[pair.instance]
            case = blocked.case
            rule = instances.rule(
                case.snapshot,
                case.settings,
                lambda: MigrationCosts(case.snapshot, case.settings).bandwidth,
            )
            for own in rule(instance):
                blocked.reasons.append(own)
                if not quick:
                    blocked.case = relax(blocked.case, own, pair)
        past = scope.unavailable.get(pair.instance)
        if past:
            return past
        if host in scope.card.frozen:
            return self._of_host(blocked.scenario.host_reasons(host)[0], host)
        if pair.instance not in scope.profiles.profiles:
            skipped = scope.profiles.skipped
            text = skipped.get(pair.instance, 'it has no profile')
            return Reason(text, Code.INSTANCE_NO_PROFILE)
        return None

    @staticmethod
    def _of_host(reason: Reason, host: str) -> Reason:
        text = f'its host {host} is left out of planning: {reason}'
        return reason.worded(text, host)

    @staticmethod
    def _lacks_others(blocked: Blocked, source: str) -> bool:
        """Whether there are too few hosts, and not for the source alone."""
        scope = blocked.scenario.scope
        return (
            isinstance(scope, Stopped)
            and scope.stopped is StopReason.TOO_FEW_HOSTS
            and any(host != source for host in scope.card.excluded)
        )

    def _lift_others(self, blocked: Blocked, source: str) -> None:
        """Let all other hosts take part."""
        scenario = blocked.scenario
        blocked.case = scenario.case
        for host in sorted(scenario.scope.card.excluded):
            if host != source:
                for reason in scenario.host_reasons(host):
                    blocked.case = relax(
                        blocked.case, reason, Pair('', '', host)
                    )
                    blocked.others.setdefault(host, []).append(reason)

    def against(self, blocked: Blocked, host: str) -> list[Reason]:
        """All that keeps a host from taking a blocked instance."""
        by_code = {
            (reason.code, reason.about): reason
            for reason in (
                *blocked.origin.host_reasons(host),
                *blocked.others.get(host, ()),
                *(
                    blocked.scenario.host_reasons(host)
                    if blocked.is_supposed
                    else ()
                ),
            )
        }
        if any(
            reason.code is Code.SCOPE_NO_POLICY for reason in blocked.reasons
        ):
            # A policy that can be used has a value of every host.
            return [
                own for own in by_code.values() if own.code not in hosts.GAPS
            ]
        return list(by_code.values())


def why_still(scenario: Scenario) -> Reason | None:
    """Why a scope stands still, but for the relief of hosts."""
    scope = scenario.scope
    if not isinstance(scope, Stopped):
        return scope.cooldowns.standstill
    if is_standstill(scope.stopped):
        return Reason(scope.reason, scope.stopped.code)
    return None


def is_of_host(reason: Reason) -> bool:
    """Whether it is one of :meth:`.Scenario.host_reasons`.

    A destination that a stuck migration holds is not among them: a constraint
    says that, since the migration may be the instance's own.
    """
    code = reason.code
    if code is Code.HOST_STUCK_INTO:
        return False
    return code in scorecard.SHUT or code.startswith('host_')
