# SPDX-License-Identifier: Apache-2.0
"""Which hosts at fault are closed, and when is it none?"""

from typing import Any

from oslotest import base

from kronos.engine.eligibility import hosts
from kronos.engine.extension import PLAIN
from kronos.engine.planning import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import PhaseSelection, PlanMode, Settings
from kronos.engine.types import (
    AggregateResult,
    Headroom,
    Snapshot,
    StopReason,
)
from kronos.extensions.recovery import faulty_hosts, outcome
from kronos.extensions.recovery.extension import RECOVERY
from kronos.extensions.recovery.failures import NAME, Failures
from kronos.extensions.recovery.options import RecoveryOptions
from tests.builders import policies

CLOSED = {'status': 'disabled', 'disabled_reason': 'KRONOS: at fault'}
OFF = {'status': 'disabled', 'disabled_reason': 'new disks'}


def cloud(*faulty: str, **services: dict[str, Any]) -> Snapshot:
    """Four hosts; two servers on a, one on each of b and c."""
    found = policies.snapshot(
        {'cpu': {'a': 0.4, 'b': 0.2, 'c': 0.2, 'd': 0.0}},
        instances=[
            policies.instance('v', 'a'),
            policies.instance('w', 'a'),
            policies.instance('x', 'b'),
            policies.instance('y', 'c'),
        ],
        usages={'cpu': {f'dom-{one}': 0.1 for one in 'vwxy'}},
    )
    assert found.services is not None
    for host, fields in services.items():
        found.services[host] = policies.up(host, **fields)
    for host in faulty:
        found.hosts[host].faulty = 2.0
    return found


def recovery(**fields: Any) -> Settings:
    found = Settings()
    found.set_options(RecoveryOptions(**fields))
    found.set_mode(PlanMode.RECOVER, PhaseSelection(extension=RECOVERY))
    return found


def plan(snapshot: Snapshot, **fields: Any) -> AggregateResult:
    [found] = propose.propose(
        [snapshot], [policies.policy(threshold=0.9)], recovery(**fields)
    ).scopes
    return found


class TestToClose(base.BaseTestCase):
    def closed(self, snapshot: Snapshot, **fields: Any) -> list[str]:
        return list(faulty_hosts.to_close(snapshot, recovery(**fields)))

    def test_at_fault(self) -> None:
        found = faulty_hosts.to_close(cloud('a'), recovery())
        self.assertEqual(
            {'a': 'it is at fault: host_fault_query gives 2 for it'}, found
        )
        self.assertIs(Code.HOST_AT_FAULT, found['a'].code)
        self.assertEqual([], self.closed(cloud()))

    def test_another_strategy(self) -> None:
        found, settings = cloud('a', 'b'), Settings(evacuate=True)
        self.assertEqual({}, hosts.to_drain(found, settings))
        self.assertIsNone(PLAIN.to_empty(found, settings))
        self.assertIsNone(PLAIN.stopped(found, settings))
        self.assertEqual([], PLAIN.host_reasons(found.hosts['a'], settings))
        [result] = propose.propose(
            [found], [policies.policy(threshold=0.9)], settings
        ).scopes
        self.assertEqual(([], {}), (result.closings, result.beside))

    def test_whoever_disabled_it(self) -> None:
        for fields in (OFF, CLOSED):
            self.assertEqual([], self.closed(cloud('a', a=fields)))

    def test_down(self) -> None:
        """It would take servers as soon as it is back."""
        self.assertEqual(['a'], self.closed(cloud('a', a={'state': 'down'})))

    def test_nobody_knows_its_service(self) -> None:
        snapshot = cloud('a')
        assert snapshot.services is not None
        del snapshot.services['a']
        self.assertEqual([], self.closed(snapshot))
        self.assertEqual(
            [], self.closed(cloud('a', a={'state': None, 'status': None}))
        )


class TestTooMany(base.BaseTestCase):
    def why(self, snapshot: Snapshot, **fields: Any) -> str:
        return faulty_hosts.why_stopped(snapshot, recovery(**fields)) or ''

    def test_several_at_once(self) -> None:
        self.assertEqual('', self.why(cloud('a')))
        self.assertIn('2 hosts are at fault', self.why(cloud('a', 'b')))
        self.assertEqual('', self.why(cloud('a', 'b'), max_closed_hosts=2))
        self.assertIn('1 hosts', self.why(cloud('a'), max_closed_hosts=0))

    def test_closed_before(self) -> None:
        self.assertIn('(a, b)', self.why(cloud('a', b=CLOSED)))
        self.assertEqual('', self.why(cloud('a', a=CLOSED)))
        self.assertEqual('', self.why(cloud('a', b=OFF)))

    def test_disabled_and_at_fault(self) -> None:
        """Whoever disabled it: it tells the same of the storage."""
        self.assertIn('(a, b)', self.why(cloud('a', 'b', b=OFF)))

    def test_outside_of_the_audit(self) -> None:
        snapshot = cloud('a')
        snapshot.beside[NAME] = Failures(elsewhere=['z'])
        self.assertIn('(a, z)', self.why(snapshot))

    def test_unknown(self) -> None:
        snapshot = cloud('a', 'b')
        snapshot.beside[NAME] = Failures('Prometheus is away')
        self.assertEqual(
            'what to recover is unknown: Prometheus is away',
            self.why(snapshot),
        )


class TestPlan(base.BaseTestCase):
    def test_closed_and_drained(self) -> None:
        found = plan(cloud('a'))
        self.assertEqual(['a'], [one.host for one in found.closings])
        self.assertEqual({'v', 'w'}, {one.instance for one in found.steps})
        self.assertNotIn('a', {one.destination for one in found.steps})
        [drain] = found.drains
        self.assertIn('it is at fault', drain.reason)
        self.assertEqual({}, drain.staying)
        self.assertEqual([], found.warnings)

    def test_what_failed_itself_stays(self) -> None:
        snapshot = cloud('a')
        snapshot.instances['v'].failure = 'io_error'
        found = plan(snapshot)
        self.assertEqual(['w'], [one.instance for one in found.steps])
        self.assertEqual({'v': 'io_error'}, outcome.of(found).failed_servers)
        self.assertEqual('it failed itself (io_error)', found.stayed['v'])
        self.assertIs(Code.INSTANCE_FAILED, found.stayed['v'].code)
        self.assertEqual({'v', 'w'}, outcome.trouble(found))

    def test_too_many(self) -> None:
        found = plan(cloud('a', 'b'))
        self.assertIs(StopReason.TOO_MANY_AT_FAULT, found.stopped)
        self.assertEqual([], [*found.closings, *found.steps, *found.drains])
        self.assertEqual(['a', 'b'], list(outcome.of(found).hosts_at_fault))

    def test_unknown(self) -> None:
        snapshot = cloud('a')
        snapshot.beside[NAME] = Failures('away')
        found = plan(snapshot)
        self.assertIs(StopReason.FAILURES_UNKNOWN, found.stopped)
        self.assertEqual([], [*found.closings, *found.steps])

    def test_closed_before(self) -> None:
        found = plan(cloud(a=CLOSED))
        self.assertEqual([], found.closings)
        self.assertEqual(2, len(found.steps))

    def test_disabled_by_an_operator(self) -> None:
        """That it is to be emptied is for kronos_evacuate to be told."""
        found = plan(cloud(a=OFF))
        self.assertEqual([], [*found.closings, *found.steps, *found.drains])

    def test_no_destination_at_fault(self) -> None:
        found = plan(cloud('a', 'd', d=OFF), max_closed_hosts=2)
        self.assertEqual({'b', 'c'}, {one.destination for one in found.steps})

    def test_down(self) -> None:
        found = plan(cloud('a', a={'state': 'down'}))
        self.assertEqual(['a'], [one.host for one in found.closings])
        self.assertEqual(['a'], list(found.not_drained))
        self.assertEqual([], found.steps)

    def test_without_metrics(self) -> None:
        """A drain waits for no metrics, and a closing neither."""
        snapshot = cloud('a')
        snapshot.readings['cpu'].imbalance.samples.clear()
        for host in snapshot.hosts.values():
            host.headroom = {'MEMORY_MB': Headroom(4096, 1024)}
        found = plan(snapshot)
        self.assertEqual(['a'], [one.host for one in found.closings])
