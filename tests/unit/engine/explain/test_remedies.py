# SPDX-License-Identifier: Apache-2.0
"""Does each remedy that is told work, as an operator would apply it?

For every code with a remedy there is a scope in which the code is given. A
remedy of the plan's own settings is tried by the arguments that are told
with it; one of the cloud by changing the cloud.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from oslotest import base

from kronos.engine import edits
from kronos.engine.explain import (
    answers,
    nearest_miss,
    proposals,
    relaxations,
    remedies,
    trials,
    why_not,
)
from kronos.engine.explain.verdicts import Verdict
from kronos.engine.planning import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings, SoftRules
from kronos.engine.types import (
    CycleInput,
    Disruption,
    EarlierMove,
    Event,
    Health,
    Origin,
    Outcome,
    PlanningInput,
    Reading,
    ScopeWindow,
    ServerGroup,
    Snapshot,
)
from kronos.extensions.recovery.extension import RECOVERY
from kronos.extensions.recovery.failures import NAME, Failures
from kronos.extensions.recovery.options import RecoveryOptions
from kronos.policies.models import Mode, Policy
from kronos.recordings import overrides
from tests.builders.scopes import PLAIN, give_room, policy, scope, vm

NOW = 1000.0


@dataclasses.dataclass
class Scene:
    """A scope, planned, and the pair that is asked about."""

    snapshot: Snapshot
    policies: list[Policy]
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    pair: tuple[str, str] = ('v', 'b')

    def __post_init__(self) -> None:
        settings = Settings(**{**PLAIN, **self.settings})
        self.case = PlanningInput(self.snapshot, self.policies, settings)

    def verdict(self, case: PlanningInput | None = None) -> Verdict:
        return asked(case or self.case).verdict(*self.pair)


def asked(case: PlanningInput) -> why_not.Explainer:
    return why_not.Explainer(case, propose.plan_again(case))


def applied(case: PlanningInput, remedy: remedies.Remedy) -> PlanningInput:
    """What the planner is given with the settings of a remedy."""
    settings = dataclasses.replace(case.settings)
    overrides.apply(settings, remedy.overrides)
    settings.max_migrations = remedy.max_migrations or settings.max_migrations
    settings.rebalance = settings.rebalance or remedy.mode is not None
    policies = overrides.policies(case.policies, remedy.overrides)
    return dataclasses.replace(case, settings=settings, policies=policies)


def prepare(case: PlanningInput) -> trials.Prepare:
    def prepared(remedy: remedies.Remedy) -> CycleInput:
        changed = applied(case, remedy)
        snapshots = [changed.snapshot]
        return CycleInput(snapshots, changed.policies, changed.settings)

    return prepared


def cpu(**more: Any) -> list[Policy]:
    return [policy('cpu', **{'threshold': 0.1, **more})]


def three(*vms: Any, **more: Any) -> Snapshot:
    """a at 0.8, b at 0.3, c at 0.5."""
    hosts = {'a': [0.8], 'b': [0.3], 'c': [0.5]}
    found = scope(cpu(), hosts, list(vms or [vm('v', 'a', [0.2])]), **more)
    found.taken_at = NOW
    for reading in found.readings.values():
        for one in [*reading.imbalance.samples, *reading.profile.samples]:
            one.timestamp = NOW
    return found


def moved(outcome: Outcome, ago: float, *route: str) -> Event:
    source, destination = route or ('b', 'a')
    return Event('v', source, destination, outcome, NOW - ago, Origin.NOVA)


def of_instance(**fields: Any) -> Scene:
    return Scene(three(vm('v', 'a', [0.2], **fields)), cpu())


def young() -> Scene:
    scene = of_instance(created=NOW - 60.0)
    scene.case.settings.min_age_seconds = 3600.0
    return scene


def vtpm(security: str, *hosts: str) -> Scene:
    """A server with a vTPM, and the hosts that could take it."""
    specs = {'hw:tpm_version': '2.0', 'hw:tpm_secret_security': security}
    scene = of_instance(extra_specs=specs)
    traits = ('SECRET_SECURITY_HOST', '2_0', 'TIS')
    for host in hosts:
        scene.snapshot.hosts[host].traits = [
            f'COMPUTE_SECURITY_TPM_{one}' for one in traits
        ]
    return scene


def of_service(**fields: Any) -> Scene:
    snapshot = three()
    for name, value in fields.items():
        setattr((snapshot.services or {})['b'], name, value)
    return Scene(snapshot, cpu(), {'min_host_coverage': 0.1})


def of_host(settings: dict[str, Any] | None = None, **fields: Any) -> Scene:
    snapshot = three()
    for name, value in fields.items():
        setattr(snapshot.hosts['b'], name, value)
    return Scene(snapshot, cpu(), settings or {})


def past(*events: Event, **settings: float) -> Scene:
    snapshot = three()
    snapshot.events = list(events)
    return Scene(snapshot, cpu(), settings)


def stuck(*routes: tuple[str, str, str]) -> Scene:
    """Migrations of which Nova has told nothing for two days."""
    ago = 172800.0
    return past(
        *(
            Event(*route, Outcome.UNDER_WAY, NOW - ago, Origin.NOVA)
            for route in routes
        )
    )


def group(kind: str, *others: str, **settings: Any) -> Scene:
    """v on a; its fellow w on the named host."""
    more = [vm('w', one, [0.0]) for one in others]
    groups = [ServerGroup('g', kind, ['v', 'w'], 'db')]
    snapshot = three(vm('v', 'a', [0.2]), *more, groups=groups)
    return Scene(snapshot, cpu(), settings)


def no_services() -> Scene:
    found = three()
    found.services = None
    return Scene(found, cpu())


def exclusions_unknown() -> Scene:
    found = three()
    found.exclusions_unknown = 'exclude_hosts_query: timed out'
    return Scene(found, cpu())


def recovery(*faulty: str, **settings: Any) -> Scene:
    """As kronos_recover plans: nothing but hosts at fault is drained."""
    found = three()
    for name in faulty:
        found.hosts[name].faulty = 2.0
    asked = {'evacuate': True, 'extension': RECOVERY, 'rebalance': False}
    return Scene(found, cpu(), {**asked, **settings})


def failures_unknown() -> Scene:
    scene = recovery('a')
    why = Failures('host_fault_query: timed out')
    scene.case.snapshot.beside[NAME] = why
    return scene


def no_policy() -> Scene:
    found = three()
    found.readings['cpu'].imbalance.health = Health.UNREACHABLE
    return Scene(found, cpu())


def too_few() -> Scene:
    found = three()
    for host in ('b', 'c'):
        (found.services or {})[host].state = 'down'
    return Scene(found, cpu())


def unknown_profile() -> Scene:
    found = three()
    profile = found.readings['cpu'].profile
    assert profile is not None
    profile.samples = []
    return Scene(found, cpu())


def no_sample(query: str = 'imbalance') -> Scene:
    policies = cpu()
    if query == 'host_capacity':
        policies = cpu(host_capacity_query='up')
    hosts = {'a': [0.8], 'b': [0.3], 'c': [0.5]}
    sizes = {'a': [1.0], 'b': [1.0], 'c': [1.0]}
    found = scope(policies, hosts, [vm('v', 'a', [0.2])], capacities=sizes)
    reading = getattr(found.readings['cpu'], query)
    reading.samples = [one for one in reading.samples if one.label != 'b']
    return Scene(found, policies, {'min_host_coverage': 0.1})


def no_room() -> Scene:
    found = three(vm('v', 'a', [0.2], memory_mb=4096, vcpus=1))
    give_room(found, {'b': {'VCPU': 8, 'MEMORY_MB': 2048, 'DISK_GB': 0}})
    return Scene(found, cpu())


def drained(**more: Any) -> Scene:
    """v on d, which is drained; a takes it, b would be too full."""
    policies = cpu(capacity_query='up', capacity_threshold=0.6, **more)
    hosts = {'a': [0.3], 'b': [0.5], 'd': [0.2]}
    found = scope(policies, hosts, [vm('v', 'd', [0.2])])
    used = found.readings['cpu'].imbalance.samples
    found.readings['cpu'].capacity = Reading('', samples=list(used))
    (found.services or {})['d'].status = 'disabled'
    return Scene(found, policies, {'evacuate': True, 'rebalance': False})


def ceiling_unknown() -> Scene:
    found = drained()
    capacity = found.snapshot.readings['cpu'].capacity
    assert capacity is not None
    capacity.samples = [one for one in capacity.samples if one.label != 'b']
    found.case.settings.min_host_coverage = 0.1
    return found


def worse() -> Scene:
    """c -> a: 0.9, 0.3, 0.4, a width of 0.6 after 0.5."""
    return Scene(three(vm('v', 'c', [0.1])), cpu(), pair=('v', 'a'))


def balanced() -> Scene:
    snapshot = three(vm('v', 'a', [0.05]), vm('w', 'a', [0.2]))
    return Scene(snapshot, cpu(), {'max_migrations': 9})


def soft_price() -> Scene:
    """v gains 0.4 at b, where its fellow is."""
    found = group('soft-anti-affinity', 'b', soft_rules=SoftRules.PENALTY)
    found.case.settings.soft_rule_penalty = 0.5
    return found


def budget() -> Scene:
    snapshot = three(vm('v', 'a', [0.05]), vm('w', 'a', [0.2]))
    return Scene(snapshot, cpu(threshold=0.0), {'max_migrations': 1})


def waits() -> Scene:
    hosts = {'a': [0.8], 'b': [0.3], 'c': [0.5], 'e': [0.3]}
    vms = [vm(one, 'a', [0.0]) for one in 'uv'] + [vm('w', 'b', [0.0])]
    groups = [ServerGroup('g', 'anti-affinity', ['u', 'v', 'w'], 'g')]
    found = scope(cpu(), hosts, vms, groups=groups)
    found.taken_at = NOW
    found.events = [Event('w', 'b', 'c', Outcome.UNDER_WAY, NOW, Origin.NOVA)]
    settings = {'enforce_hard_affinity': True, 'rebalance': False}
    return Scene(found, cpu(), settings, ('v', 'e'))


def packed(
    *vms: Any, events: list[Event] | None = None, **settings: Any
) -> Scene:
    policies = cpu(mode=Mode.PACK, capacity_query='up', capacity_threshold=0.8)
    hosts = {'a': [0.5], 'b': [0.3], 'c': [0.1], 'e': [0.0]}
    found = scope(policies, hosts, list(vms))
    used = found.readings['cpu'].imbalance.samples
    found.readings['cpu'].capacity = Reading('', samples=list(used))
    found.taken_at, found.events = NOW, events or []
    settings = {'max_migrations': 9, **settings}
    return Scene(found, policies, settings, ('v', 'a'))


def pack_pair(**settings: Any) -> Scene:
    return packed(vm('v', 'c', [0.1]), vm('w', 'a', [0.5]), **settings)


def pack_awaited() -> Scene:
    """u comes to c, so c is not emptied."""
    on_its_way = Event('u', 'e', 'c', Outcome.UNDER_WAY, NOW, Origin.NOVA)
    return packed(
        vm('v', 'c', [0.1]),
        vm('w', 'a', [0.5], locked=True),
        vm('u', 'e', [0.0]),
        events=[on_its_way],
    )


def pack_not_whole() -> Scene:
    return packed(
        vm('v', 'c', [0.05]),
        vm('y', 'c', [0.05], locked=True),
        vm('w', 'a', [0.5], locked=True),
    )


def pack_headroom() -> Scene:
    """Without c, what is on a (0.5) has no place beside b (0.3)."""
    return packed(
        vm('v', 'c', [0.1]),
        vm('w', 'a', [0.5], locked=True),
        vm('x', 'b', [0.3], locked=True),
        headroom_hosts=1,
    )


def planned_before() -> Scene:
    """In an earlier scope that has its host, too."""
    found = Scene(three(), cpu())
    v = found.snapshot.instances['v']
    found.case.earlier = [EarlierMove('first', v, 'a', 'c', {'cpu': 0.2})]
    return found


def no_service() -> Scene:
    found = three()
    del (found.services or {})['b']
    return Scene(found, cpu(), {'min_host_coverage': 0.1})


def zones(pinned: bool) -> Scene:
    """b is in another zone than a and c."""
    snapshot = three()
    for name, host in snapshot.hosts.items():
        zone = 'y' if name == 'b' else 'x'
        host.availability_zone = zone
        (snapshot.services or {})[name].zone = zone
    if pinned:
        snapshot.instances['v'].pinned_availability_zone = 'x'
    return Scene(snapshot, cpu(), {'restrict_to_az': not pinned})


def cells() -> Scene:
    found = three()
    for name, host in found.hosts.items():
        host.cell = 'two' if name == 'b' else 'one'
    return Scene(found, cpu())


def versions() -> Scene:
    found = three()
    for name, host in found.hosts.items():
        host.hypervisor_version = 7002000 if name == 'b' else 8002000
    return Scene(found, cpu())


def windowed(window: ScopeWindow) -> Scene:
    found = three()
    found.window = window
    return Scene(found, cpu())


def budget_of_instance() -> Scene:
    found = three()
    found.disruptions = [Disruption('v', started=found.taken_at - 60)]
    return Scene(found, cpu(), {'instance_budget': '1/600'})


GIVEN: dict[Code, Callable[[], Scene]] = {
    Code.SCOPE_NO_SERVICES: no_services,
    Code.SCOPE_EXCLUSIONS_UNKNOWN: exclusions_unknown,
    Code.SCOPE_FAILURES_UNKNOWN: failures_unknown,
    Code.SCOPE_TOO_MANY_AT_FAULT: lambda: recovery('a', 'c'),
    Code.SCOPE_NO_POLICY: no_policy,
    Code.SCOPE_COOLDOWN: lambda: past(
        Event('w', 'c', 'b', Outcome.MOVED, NOW - 60, Origin.NOVA),
        cooldown_seconds=600.0,
    ),
    Code.SCOPE_WINDOW: lambda: windowed(ScopeWindow(False)),
    Code.SCOPE_WINDOW_UNUSABLE: lambda: windowed(
        ScopeWindow(False, fault='no such zone')
    ),
    Code.WINDOW_TOO_SHORT: lambda: windowed(ScopeWindow(True, most_moves=0)),
    Code.SCOPE_BALANCED: balanced,
    Code.INSTANCE_UNMOVABLE: lambda: of_instance(unmovable='excluded'),
    Code.INSTANCE_ALLOCATIONS: lambda: of_instance(misallocated_on=['b']),
    Code.INSTANCE_LOCKED: lambda: of_instance(locked=True),
    Code.INSTANCE_PINNED: lambda: of_instance(tags=['kronos:pin']),
    Code.INSTANCE_CONSENT: lambda: of_instance(tags=['kronos:consent:never']),
    Code.DISRUPTION_BUDGET: budget_of_instance,
    Code.INSTANCE_NOT_ACTIVE: lambda: of_instance(status='SHUTOFF'),
    Code.INSTANCE_BUSY: lambda: of_instance(task_state='resizing'),
    Code.INSTANCE_NOT_RUNNING: lambda: of_instance(power_state=4),
    Code.INSTANCE_FAILED: lambda: of_instance(failure='io_error'),
    Code.INSTANCE_DIRTY_RATE: lambda: of_instance(dirty_rate=1e12),
    Code.INSTANCE_EXTRA_SPEC: lambda: of_instance(
        extra_specs={'hw:numa_nodes': '2'}
    ),
    Code.INSTANCE_VTPM: lambda: vtpm('user', 'b', 'c'),
    Code.INSTANCE_ON_ITS_WAY: lambda: past(moved(Outcome.UNDER_WAY, 5)),
    Code.INSTANCE_QUARANTINE: lambda: past(
        dataclasses.replace(
            moved(Outcome.FAILED, 60, 'a', 'b'),
            origin=Origin.WATCHER,
            error_type='MigrationFailed',
            fault='too_slow',
        ),
        quarantine_seconds=600.0,
    ),
    Code.INSTANCE_COOLDOWN: lambda: past(
        moved(Outcome.MOVED, 60, 'x', 'y'), instance_cooldown_seconds=600.0
    ),
    Code.INSTANCE_PLANNED_BEFORE: planned_before,
    Code.INSTANCE_NO_PROFILE: unknown_profile,
    Code.HOST_NO_SERVICE: no_service,
    Code.HOST_CELL_DOWN: lambda: of_service(state=None, status=None),
    Code.HOST_FORCED_DOWN: lambda: of_service(forced_down=True),
    Code.HOST_DOWN: lambda: of_service(state='down'),
    Code.HOST_DISABLED: lambda: of_service(status='disabled'),
    Code.HOST_NO_HYPERVISOR: lambda: of_service(
        status='disabled', disabled_reason='AUTO: Connection to libvirt lost'
    ),
    Code.HOST_DRAINED: lambda: Scene(
        three(), cpu(), {'evacuate': True, 'drain_hosts': ['b']}
    ),
    Code.HOST_FROZEN: lambda: of_host(frozen='its cell is not known'),
    Code.HOST_NO_SAMPLE: no_sample,
    Code.HOST_NO_CAPACITY: lambda: no_sample('host_capacity'),
    Code.HOST_CLOSED: lambda: of_host(closed='available is false'),
    Code.HOST_EXCLUDED: lambda: of_host(excluded=2.0),
    Code.HOST_AT_FAULT: lambda: recovery(
        'a', 'b', beside=[RecoveryOptions(max_closed_hosts=2)]
    ),
    Code.HOST_NO_PLACEMENT: lambda: of_host({'require_headroom': True}),
    Code.HOST_STUCK_OUT: lambda: stuck(('w', 'a', 'x')),
    Code.HOST_STUCK_INTO: lambda: stuck(('w', 'x', 'b'), ('y', 'x', 'b')),
    Code.ZONE_PINNED: lambda: zones(True),
    Code.CELL_CROSSED: cells,
    Code.ZONE_CROSSED: lambda: zones(False),
    Code.HYPERVISOR_OLDER: versions,
    Code.VTPM_HOST: lambda: vtpm('host', 'c'),
    Code.NO_ROOM: no_room,
    Code.GROUP_APART: lambda: group('anti-affinity', 'b'),
    Code.GROUP_TOGETHER: lambda: group('affinity', 'a'),
    Code.GROUP_LONE: lambda: group('affinity'),
    Code.GROUP_UNKNOWN: lambda: group('strange', 'c'),
    Code.OVER_CEILING: drained,
    Code.CEILING_UNKNOWN: ceiling_unknown,
    Code.RETURN_GUARD: lambda: past(
        moved(Outcome.MOVED, 60), return_guard_seconds=600.0
    ),
    Code.INSTANCE_YOUNG: young,
    Code.WORSENS_POLICY: worse,
    Code.SOFT_PENALTY: soft_price,
    Code.BUDGET_USED: budget,
    Code.NOT_ASKED: lambda: Scene(
        three(), cpu(), {'evacuate': True, 'rebalance': False}
    ),
    Code.GROUP_WAITS: waits,
    Code.PACK_KEEP_HOSTS: lambda: pack_pair(keep_hosts=2),
    Code.PACK_AWAITED: pack_awaited,
    Code.PACK_NOT_WHOLE: pack_not_whole,
    Code.PACK_HEADROOM_HOSTS: pack_headroom,
}
ELSEWHERE = {Code.ZONE_PINNED, Code.CELL_CROSSED}
"""Another host is what helps."""
WAITING = {Code.GROUP_WAITS, Code.PACK_AWAITED}
LOOK = {
    Code.SCOPE_TOO_FEW_HOSTS,
    Code.SCOPE_STUCK,
    Code.SCOPE_PACKED,
    Code.NO_DESTINATION,
    Code.NOT_RELIEVED,
    Code.GROUP_NOT_REPAIRED,
}
"""What lifts these is told with the move that came closest."""


OF_RECOVERY = {
    Code.INSTANCE_RECOVERY_OFF,
    Code.INSTANCE_STOPPED,
    Code.INSTANCE_RUNS,
    Code.INSTANCE_GUEST_UNKNOWN,
    Code.INSTANCE_FAILURE_OLD,
    Code.INSTANCE_RESTARTED,
}
"""Why a server is not restarted; a move of it has reasons of its own."""


CELLS = {
    code
    for code in Code
    if code.name.startswith('CELL_') and code is not Code.CELL_CROSSED
} | {Code.QUOTA}
"""Why a server stays in its cell: test_cell_moves lifts each of them."""


class TestRemedies(base.BaseTestCase):
    def test_each_code_with_a_remedy_is_tried(self) -> None:
        told = {code for code in Code if code.remedy}
        self.assertEqual(told, set(GIVEN) | LOOK | OF_RECOVERY | CELLS)

    def test_the_effect(self) -> None:
        for code, make in GIVEN.items():
            with self.subTest(code=code):
                found = make()
                verdict = found.verdict()
                self.assertIs(code, verdict.code, verdict.text)
                if verdict.reasons:
                    self.rule(found, verdict)
                else:
                    self.search(found, verdict)

    def rule(self, found: Scene, verdict: Verdict) -> None:
        """The reason is gone, and the move is legal without all of them."""
        reason = verdict.reasons[0]
        remedy = remedies.of_reason(found.case, verdict, reason)
        self.assertTrue(remedy.text)
        if verdict.code in ELSEWHERE:
            other = asked(found.case).verdict(verdict.instance, 'c')
            self.assertNotIn(verdict.code, self.codes(other))
            return
        if remedy.can_be_tried:
            changed = applied(found.case, remedy)
        else:
            pair = edits.Pair(
                verdict.instance, verdict.source, verdict.destination
            )
            changed = relaxations.relax(found.case, reason, pair)
        after = found.verdict(changed)
        self.assertNotIn((reason.code, reason.about), self.codes(after))

    def codes(self, verdict: Verdict) -> list[Any]:
        return [(one.code, one.about) for one in verdict.reasons]

    def search(self, found: Scene, verdict: Verdict) -> None:
        """The plan makes the move, or one like it."""
        why = asked(found.case)
        if verdict.code in WAITING:
            snapshot = dataclasses.replace(found.snapshot, events=[])
            changed = dataclasses.replace(found.case, snapshot=snapshot)
            code = asked(changed).verdict(*found.pair).code
            self.assertIsNot(verdict.code, code)
            return
        tried = trials.Trials(
            found.snapshot.scope,
            len(found.snapshot.hosts),
            prepare(found.case),
        )
        proposal = proposals.Proposals(
            found.case, why.result, why, tried
        ).nearest(verdict, lambda _: True)
        self.assertTrue(proposal.is_made, proposal.remedies)
        self.assertIs(verdict.code, proposal.verdict.code)
        [remedy] = proposal.remedies
        plan = propose.plan_again(applied(found.case, remedy))
        moves = [(one.instance, one.destination) for one in plan.steps]
        miss = proposal.verdict
        self.assertIn((miss.instance, miss.destination), moves)

    def test_several_as_one(self) -> None:
        """Those that add to a list do not take each other's place."""
        keys = 'hw:numa_nodes', 'trait:CUSTOM_A'
        found = of_instance(extra_specs=dict.fromkeys(keys, '1'))
        verdict = found.verdict()
        self.assertEqual(
            [Code.INSTANCE_EXTRA_SPEC] * 2,
            [reason.code for reason in verdict.reasons],
        )
        remedy = remedies.joined(
            [
                remedies.of_reason(found.case, verdict, reason)
                for reason in verdict.reasons
            ]
        )
        changed = applied(found.case, remedy)
        self.assertEqual([], found.verdict(changed).reasons)

    def test_all_that_keeps_a_host(self) -> None:
        """The arguments that lift all of it empty the host."""
        found = packed(
            vm('v', 'c', [0.05]),
            vm('y', 'c', [0.05], extra_specs={'hw:numa_nodes': '2'}),
            vm('w', 'a', [0.5], locked=True),
        )
        policies, settings = found.case.policies, found.case.settings
        report = propose.propose([found.snapshot], policies, settings)
        cycle = CycleInput([found.snapshot], policies, settings)
        asked_of = answers.PlanAnswers(cycle, report, prepare(found.case))
        then = asked_of.host(0, 'c')['if_all_lifted']
        option = 'allowed_extra_specs'
        self.assertEqual(['--set', f'{option}=hw:numa_nodes'], then['try'])
        remedy = remedies.Remedy('', {option: 'hw:numa_nodes'})
        plan = propose.plan_again(applied(found.case, remedy))
        leaving = [step for step in plan.steps if step.source == 'c']
        self.assertEqual((2, 2), (len(leaving), then['leaving']))

    def test_limits_of_several(self) -> None:
        """The higher one does for both."""
        some = [
            remedies.Remedy('', {'threshold.cpu': text})
            for text in ('0.9', '0.31', '1')
        ]
        self.assertEqual(
            {'threshold.cpu': '1'}, remedies.joined(some).overrides
        )

    def test_budgets(self) -> None:
        """One by one; a host that is emptied takes all of its instances."""
        for found, numbers in (
            (budget(), [2, 3, 4]),
            (pack_pair(max_migrations=1), [2, 3, 4]),
        ):
            why = asked(found.case)
            verdict = dataclasses.replace(
                found.verdict(), code=Code.BUDGET_USED
            )
            some = remedies.of_search(found.case, why.result, verdict)
            self.assertEqual(
                numbers,
                [next(some).max_migrations for _ in numbers],
            )

    def test_soft_groups(self) -> None:
        """Their rule can be given a price; a hard one cannot."""
        for kind, host in (('anti-affinity', 'b'), ('affinity', 'a')):
            found = group(f'soft-{kind}', host)
            verdict = found.verdict()
            [reason] = verdict.reasons
            remedy = remedies.of_reason(found.case, verdict, reason)
            self.assertEqual({'soft_rules': 'penalty'}, remedy.overrides)
            changed = applied(found.case, remedy)
            self.assertEqual([], found.verdict(changed).reasons)
            found = group(kind, host)
            verdict = found.verdict()
            [reason] = verdict.reasons
            remedy = remedies.of_reason(found.case, verdict, reason)
            self.assertFalse(remedy.can_be_tried)

    def test_the_closest_is_told_where_that_is_the_remedy(self) -> None:
        for found in (
            of_instance(locked=True),
            packed(vm('v', 'c', [0.1], locked=True), vm('w', 'a', [0.5])),
        ):
            miss = nearest_miss.nearest_miss(asked(found.case))
            assert miss is not None
            self.assertEqual(
                [Code.INSTANCE_LOCKED], [one.code for one in miss.reasons]
            )
