# SPDX-License-Identifier: Apache-2.0
"""Is a host opened only by the run's own reason, and when it is done?"""

from kronos.engine.faults import Fault
from kronos.extensions.maintenance.actions import reopen
from kronos.extensions.maintenance.closing_reason import Step
from kronos.extensions.maintenance.maintenance import RunView
from kronos.extensions.maintenance.notices.notice import Event
from tests.unit.extensions.maintenance.actions import base

DONE = RunView(done=['h1'], ready=['h1'])


class TestReopen(base.HostTestCase):
    def run_of(self, view: RunView = DONE) -> reopen.ReopenRun:
        return reopen.ReopenRun(base.CHANGE, lambda: view, self.context())

    def test_opened(self) -> None:
        self.close(Step.HANDED_OVER)
        run = self.run_of()
        run.begin()
        self.assertEqual('', run.carry_out())
        self.assertEqual('enabled', self.cloud.services['h1']['status'])
        self.assert_announced(Event.REOPENED, 1797000000.0)

    def test_not_done(self) -> None:
        self.close(Step.HANDED_OVER)
        for view in (RunView(), RunView('away', ['h1'], ['h1'])):
            self.skipped(self.run_of(view), Fault.HOST_NOT_DONE)

    def test_not_handed_over(self) -> None:
        self.close()
        self.skipped(self.run_of(), Fault.HOST_NOT_DONE)

    def test_down(self) -> None:
        self.close(Step.HANDED_OVER)
        self.cloud.services['h1']['state'] = 'down'
        self.skipped(self.run_of(), Fault.HOST_NOT_DONE)

    def test_not_its_own(self) -> None:
        """Whatever the queries say."""
        self.skipped(self.run_of(), Fault.HOST_TAKEN_OVER)
        self.close(Step.HANDED_OVER, run='other')
        self.skipped(self.run_of(), Fault.HOST_TAKEN_OVER)
        self.cloud.services['h1']['reason'] += '!'
        self.skipped(self.run_of(), Fault.HOST_TAKEN_OVER)
