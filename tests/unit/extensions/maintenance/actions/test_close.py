# SPDX-License-Identifier: Apache-2.0
"""Is a host closed only while few enough are unavailable?"""

from kronos.common import exceptions
from kronos.engine.faults import Fault
from kronos.extensions.maintenance.actions import close
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.notices.notice import Event
from tests.unit.extensions.maintenance.actions import base


class TestClose(base.HostTestCase):
    def run_of(
        self, at_once: int = 1, per_az: int | None = None
    ) -> close.CloseRun:
        limits = close.Closing(at_once, at_once_per_az=per_az)
        return close.CloseRun(base.CHANGE, limits, self.context())

    def test_closed(self) -> None:
        run = self.run_of()
        run.begin()
        self.assertNotIn(base.PUT, self.cloud.calls)
        self.assertEqual('', run.carry_out())
        self.assertEqual(
            ClosingReason('r', Step.EMPTYING, 1798000000.0, base.AUDIT),
            self.reason(),
        )
        self.assertEqual(1, self.alone)
        self.assert_announced(Event.CLOSED, 1798000000.0)

    def test_closed_before(self) -> None:
        """By this run; its step and time stay."""
        self.close(Step.HANDED_OVER)
        run = self.run_of()
        run.begin()
        self.assertEqual('h1 was closed already', run.carry_out())
        self.assertEqual(Step.HANDED_OVER, self.reason().step)
        self.assertNotIn(base.PUT, self.cloud.calls)
        self.assertEqual([], self.announced)

    def test_somebody_elses(self) -> None:
        self.cloud.services['h1'] |= {'status': 'disabled', 'reason': 'mine'}
        text = self.skipped(self.run_of(), Fault.HOST_TAKEN_OVER)
        self.assertIn('"mine"', text)

    def test_too_many(self) -> None:
        for change in (
            {'status': 'disabled', 'reason': 'mine'},
            {'state': 'down'},
        ):
            before = dict(self.cloud.services['h2'])
            self.cloud.services['h2'] |= change
            text = self.skipped(self.run_of(), Fault.TOO_MANY_UNAVAILABLE)
            self.assertIn('1 host of alpha', text)
            self.cloud.services['h2'] = before
        self.cloud.services['h2'] |= {'status': 'disabled', 'reason': 'mine'}
        self.assertEqual('', self.run_of(2).carry_out())

    def test_too_many_of_a_zone(self) -> None:
        services = self.cloud.services
        services['h2'] |= {'state': 'down'}
        services['h1']['zone'] = 'az1'
        self.assertEqual('', self.run_of(3, 1).carry_out())
        services['h1'] |= {'status': 'enabled', 'reason': None}
        self.cloud.calls.clear()
        self.announced.clear()
        services['h2']['zone'] = 'az1'
        text = self.skipped(self.run_of(3, 1), Fault.TOO_MANY_UNAVAILABLE)
        self.assertIn('1 host of availability zone az1', text)
        self.assertEqual('', self.run_of(3, 2).carry_out())

    def test_one_of_another_scope(self) -> None:
        outside = next(
            host
            for host in self.cloud.hosts
            if host not in self.cloud.aggregates['alpha']
        )
        self.cloud.services[outside] |= {'state': 'down'}
        self.assertEqual('', self.run_of().carry_out())

    def test_cancelled(self) -> None:
        self.is_cancelled = True
        self.assertRaises(
            exceptions.MigrationCancelled, self.run_of().carry_out
        )
