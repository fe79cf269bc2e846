# SPDX-License-Identifier: Apache-2.0
"""What the tests of the changes of a host share."""

from typing import Any

from kronos.clients.nova.compute_services import ComputeServices
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.extensions.maintenance import closing_reason
from kronos.extensions.maintenance.actions.host_change import (
    HostChange,
    HostContext,
    HostRun,
)
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.notices.notice import Event, HostNotice
from tests.unit.actions.live import base

AUDIT = 'a0d17000-1111-4111-8111-111111111111'
CHANGE = HostChange('h1', 'alpha', 'r', AUDIT)
PUT = ('PUT', '/nova/v2.1/os-services/0')


class HostTestCase(base.MoveTestCase):
    """Host h1 of the small cloud, in aggregate alpha."""

    def setUp(self) -> None:
        super().setUp()
        self.is_cancelled = False
        self.alone = 0
        self.announced: list[HostNotice] = []

    def context(self) -> HostContext:
        return HostContext(
            nova=self.client,
            services=ComputeServices(self.client.api),
            is_cancelled=lambda: self.is_cancelled,
            tell=lambda text: None,
            clock=self.clock,
            wall=lambda: 1798000000.5,
            sleep=self.clock.sleep,
            alone=self.count_alone,
            announce=self.announced.append,
        )

    def count_alone(self, work: Any) -> str:
        self.alone += 1
        answer: str = work()
        return answer

    def close(self, step: Step = Step.EMPTYING, run: str = 'r') -> None:
        """As if a run had closed it."""
        reason = ClosingReason(run, step, 1797000000.0, AUDIT)
        self.cloud.services['h1'] |= {
            'status': 'disabled',
            'reason': str(reason),
        }

    def reason(self) -> ClosingReason | None:
        return closing_reason.parsed(self.cloud.services['h1']['reason'] or '')

    def assert_announced(self, event: Event, since: float) -> None:
        """Once, with the time of the reason."""
        notice = HostNotice(event, 'r', 'h1', 'alpha', since, AUDIT)
        self.assertEqual([notice], self.announced)

    def skipped(self, run: HostRun, fault: Fault) -> str:
        """Nothing is changed, whenever it is looked at."""
        before = dict(self.cloud.services['h1'])
        for call in (run.begin, run.carry_out):
            error = self.assertRaises(exceptions.StaleTask, call)
            self.assertIs(fault, faults.of_error(error))
        self.assertEqual(before, self.cloud.services['h1'])
        self.assertNotIn(PUT, self.cloud.calls)
        self.assertEqual([], self.announced)
        return str(error)
