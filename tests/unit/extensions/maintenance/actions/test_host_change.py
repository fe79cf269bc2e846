# SPDX-License-Identifier: Apache-2.0
"""Is a host changed by its run alone, and only once Nova shows it?"""

from collections.abc import Mapping

from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.types import ComputeService
from kronos.extensions.maintenance.actions.host_change import (
    SETTLE_SECONDS,
    HostChange,
    HostRun,
)
from kronos.extensions.maintenance.closing_reason import Step
from kronos.extensions.maintenance.notices.notice import Event
from tests.unit.extensions.maintenance.actions import base

TEXT = 'it is changed'


class Change(HostRun):
    """It writes a reason, as long as there is something to do."""

    participle = 'changed'
    event = Event.CLOSED
    due = True

    def _due(self, services: Mapping[str, ComputeService]) -> bool:
        return self.due

    def _reason(self) -> str:
        return TEXT


class TestHostRun(base.HostTestCase):
    def run_of(self, change: HostChange = base.CHANGE) -> Change:
        return Change(change, self.context())

    def test_changed(self) -> None:
        run = self.run_of()
        run.begin()
        self.assertEqual(0, self.alone)
        self.assertEqual('', run.carry_out())
        self.assertEqual(1, self.alone)
        self.assertEqual(TEXT, self.cloud.services['h1']['reason'])

    def test_nothing_to_do(self) -> None:
        run = self.run_of()
        run.due = False
        run.begin()
        self.assertEqual('h1 was changed already', run.carry_out())
        self.assertNotIn(base.PUT, self.cloud.calls)

    def test_there_is_no_such_host(self) -> None:
        run = self.run_of(HostChange('h9', 'alpha', 'r', base.AUDIT))
        error = self.assertRaises(exceptions.KronosException, run.begin)
        self.assertIs(Fault.SOURCE_NOT_UP, faults.of_error(error))

    def test_somebody_writes_at_the_same_time(self) -> None:
        """Nova shows another reason for as long as anybody waits."""
        run = self.run_of()
        run.begin()
        real = self.cloud.answer

        def answer(*request: object) -> object:
            told = real(*request)
            self.cloud.services['h1']['reason'] = 'mine'
            return told

        self.cloud.answer = answer
        before = self.clock.now
        error = self.assertRaises(exceptions.NovaClientError, run.carry_out)
        self.assertIn('h1 is not changed', str(error))
        self.assertGreaterEqual(self.clock.now - before, SETTLE_SECONDS)

    def test_whose_reason_it_is(self) -> None:
        run = self.run_of()
        self.close(Step.HANDED_OVER)
        service = self.client.get_service('h1')
        self.assertIs(Step.HANDED_OVER, run.own(service).step)
        for reason in ('mine', f'{service.disabled_reason} and more', ''):
            self.cloud.services['h1']['reason'] = reason
            error = self.assertRaises(
                exceptions.StaleTask, run.own, self.client.get_service('h1')
            )
            self.assertIs(Fault.HOST_TAKEN_OVER, faults.of_error(error))
            self.assertIn(f'"{reason}"', str(error))
        self.cloud.services['h1']['status'] = 'enabled'
        error = self.assertRaises(
            exceptions.StaleTask, run.own, self.client.get_service('h1')
        )
        self.assertIn('h1 is enabled', str(error))
