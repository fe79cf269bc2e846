# SPDX-License-Identifier: Apache-2.0
"""Is a host handed over only when it is empty, twice?"""

import itertools
from collections.abc import Collection

from kronos.common import exceptions
from kronos.engine.faults import Fault
from kronos.extensions.maintenance.actions import hand_over
from kronos.extensions.maintenance.closing_reason import Step
from kronos.extensions.maintenance.maintenance import Stopped
from kronos.extensions.maintenance.notices.notice import Event
from tests.unit.extensions.maintenance.actions import base


class TestHandOver(base.HostTestCase):
    def run_of(
        self, *seen: Collection[str], stopped: Stopped = Stopped.STAY
    ) -> hand_over.HandOverRun:
        """:param seen: what Placement holds, at one look after the other"""
        looks = itertools.chain(seen, itertools.repeat([*seen, ()][-1]))
        return hand_over.HandOverRun(
            base.CHANGE, stopped, lambda: next(looks), self.context()
        )

    def test_empty(self) -> None:
        self.close()
        began = self.clock()
        run = self.run_of(())
        run.begin()
        self.assertEqual('', run.carry_out())
        self.assertEqual(Step.HANDED_OVER, self.reason().step)
        self.assertEqual(1798000000.0, self.reason().since)
        self.assertGreaterEqual(self.clock() - began, 60)
        self.assert_announced(Event.HANDED_OVER, 1798000000.0)

    def refused(self, run: hand_over.HandOverRun) -> str:
        error = self.assertRaises(exceptions.StaleTask, run.carry_out)
        self.assertIs(Fault.HOST_OCCUPIED, error.kwargs['fault'])
        self.assertEqual([], self.announced)
        self.assertEqual(Step.EMPTYING, self.reason().step)
        return str(error)

    def test_occupied(self) -> None:
        self.close()
        text = self.refused(self.run_of(['x']))
        self.assertIn('h1 is not handed over: Placement still has', text)

    def test_something_comes_within_the_minute(self) -> None:
        self.close()
        self.refused(self.run_of((), ['x']))

    def test_stopped_servers(self) -> None:
        self.close()
        [uuid, *others] = [
            server.uuid
            for server in self.cloud.servers.values()
            if server.host == 'h1'
        ]
        self.cloud.servers[uuid].status = 'SHUTOFF'
        self.refused(self.run_of([uuid], stopped=Stopped.BLOCK))
        if others:
            self.refused(self.run_of([uuid, *others]))
        self.assertEqual('', self.run_of([uuid]).carry_out())

    def test_handed_over_already(self) -> None:
        self.close(Step.HANDED_OVER)
        remark = self.run_of(()).carry_out()
        self.assertEqual('h1 was handed over already', remark)
        self.assertNotIn(base.PUT, self.cloud.calls)

    def test_somebody_elses(self) -> None:
        self.skipped(self.run_of(()), Fault.HOST_TAKEN_OVER)
        self.close(run='other')
        self.skipped(self.run_of(()), Fault.HOST_TAKEN_OVER)
