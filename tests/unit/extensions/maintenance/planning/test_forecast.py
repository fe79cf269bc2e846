# SPDX-License-Identifier: Apache-2.0
"""Is what is told of a run before it begins what comes of it?"""

from dataclasses import replace

import ddt
from oslotest import base

from kronos.engine.types import ComputeService
from kronos.extensions.maintenance import maintenance, outcome
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.maintenance import Maintenance, RunView
from kronos.extensions.maintenance.outcome import Forecast
from kronos.extensions.maintenance.planning.host_times import EMPTY_SECONDS
from tests.builders import maintained, timed_run


def run_of(hosts: int, allocated: float, **spec: int) -> timed_run.TimedRun:
    cloud = maintained.cloud(hosts, allocated, 1, spec.pop('spares', 0))
    names = tuple(sorted(cloud.hosts)[:hosts])
    return timed_run.TimedRun(cloud, Maintenance('r', names, **spec))


def forecast_of(run: timed_run.TimedRun) -> Forecast:
    return outcome.of(run.plan()).forecast


def hand_over(run: timed_run.TimedRun, host: str) -> None:
    """Empty a host, on which the work goes on for 1,000 seconds."""
    cloud = run.cloud
    assert cloud.services is not None
    for uuid, server in cloud.instances.items():
        if server.host == host:
            run.move(uuid, 'host-002')
    since = cloud.taken_at - 1000
    reason = ClosingReason('r', Step.HANDED_OVER, since, maintained.AUDIT)
    cloud.services[host] = ComputeService(
        host, state='up', status='disabled', disabled_reason=str(reason)
    )
    cloud.beside = {maintenance.NAME: RunView()}


@ddt.ddt
class TestForecast(base.BaseTestCase):
    @ddt.data(
        (6, 0.5, {}), (6, 0.7, {}), (5, 0.6, {'at_once': 2, 'spares': 2})
    )
    @ddt.unpack
    def test_to_the_end(
        self, hosts: int, allocated: float, spec: dict[str, int]
    ) -> None:
        """Moves are those that no run can do without; the end is near."""
        run = run_of(hosts, allocated, **spec)
        ahead = forecast_of(run)
        hours = run.hours()
        self.assertEqual({*run.asked.hosts}, run.done)
        self.assertEqual(ahead.least_moves, run.moves.total())
        self.assertEqual(ahead.moves, run.moves.total())
        self.assertAlmostEqual(hours, ahead.seconds / 3600, delta=0.2 * hours)
        self.assertEqual(run.done, {*ahead.ends})
        self.assertEqual([], ahead.stuck)

    @ddt.data((20, 1), (12, 2))
    @ddt.unpack
    def test_two_at_a_time(self, hosts: int, plans: int) -> None:
        """In plans one after the other or side by side."""
        run = run_of(hosts, 0.7, at_once=2)
        run.plans_at_once = plans
        ahead = forecast_of(run)
        hours = run.hours()
        self.assertEqual({*run.asked.hosts}, run.done)
        self.assertEqual(plans, run.most_plans)
        self.assertLessEqual(run.most_closed, 2)
        self.assertLessEqual(max(run.moves.values()), 2)
        self.assertAlmostEqual(hours, ahead.seconds / 3600, delta=0.2 * hours)

    def test_halfway(self) -> None:
        """Of hosts that are closed only the rest of their time counts."""
        run = run_of(2, 0.1, spares=2)
        first = run.asked.hosts[0]
        before = forecast_of(run)
        hand_over(run, first)
        after = forecast_of(run)
        self.assertLess(after.moves, before.moves)
        self.assertLess(after.seconds, before.seconds - 1000)
        self.assertLess(after.ends[first], 400)

    def test_a_server_on_a_host_that_is_handed_over(self) -> None:
        """It moves, and the whole work comes after that."""
        run = run_of(2, 0.1, spares=2)
        first = run.asked.hosts[0]
        hand_over(run, first)
        before = forecast_of(run)
        run.move(min(run.cloud.instances), first)
        after = forecast_of(run)
        self.assertEqual(before.moves + 1, after.moves)
        self.assertEqual(before.least_moves + 1, after.least_moves)
        self.assertLess(before.ends[first], 400)
        again = after.ends[first] - EMPTY_SECONDS - run.asked.work_time
        self.assertTrue(0 < again < 400, again)
        self.assertGreater(after.seconds, before.seconds + 800)

    def test_nowhere_to_go(self) -> None:
        run = run_of(2, 0.9)
        ahead = forecast_of(run)
        self.assertEqual([*run.asked.hosts], ahead.stuck)
        self.assertEqual({}, ahead.ends)

    def test_zones(self) -> None:
        """One at a time in the only zone takes longer than two."""
        run = run_of(3, 0.2, at_once=3, spares=3)
        whole = forecast_of(run).seconds
        run.asked = replace(run.asked, at_once_per_az=1)
        run.__post_init__()
        self.assertGreater(forecast_of(run).seconds, 2 * whole)
