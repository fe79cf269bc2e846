# SPDX-License-Identifier: Apache-2.0
"""What the extension that maintains hosts answers to the trunk."""

from oslotest import base

from kronos.engine.types import ComputeService
from kronos.extensions.maintenance import maintenance, outcome
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.extension import MaintenanceRun
from kronos.extensions.maintenance.host_states import State
from kronos.extensions.maintenance.maintenance import Maintenance, Stopped
from tests.builders import maintained
from tests.unit.extensions.maintenance.planning import searches

HOSTS = {'a': [4, 4], 'b': [4], 'c': [], 'd': [4]}
ASKED = Maintenance('r', ('a', 'b', 'c'), at_once=2)


class TestMaintenanceRun(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.case = searches.run(HOSTS, ASKED)

    def close(self, host: str, step: Step) -> None:
        assert self.case.cloud.services is not None
        reason = ClosingReason('r', step, 0.0, maintained.AUDIT)
        self.case.cloud.services[host] = ComputeService(
            host, state='up', status='disabled', disabled_reason=str(reason)
        )

    def stop_servers(self, host: str) -> None:
        for server in self.case.cloud.instances.values():
            if server.host == host:
                server.status = maintenance.SHUTOFF

    def test_it_closes_hosts(self) -> None:
        self.assertTrue(MaintenanceRun(ASKED).closes_hosts)

    def test_what_it_empties(self) -> None:
        self.close('a', Step.EMPTYING)
        self.close('b', Step.HANDED_OVER)
        self.close('d', Step.EMPTYING)
        self.stop_servers('b')
        run = MaintenanceRun(ASKED)
        self.assertEqual(
            {'a'}, run.to_empty(self.case.cloud, self.case.settings)
        )

    def test_closings(self) -> None:
        """Each with its reason; hosts without servers are handed over."""
        result = self.case.plan()
        closing = outcome.of(result).waves.closing
        self.assertEqual(closing, [row.host for row in result.closings])
        self.assertIn('run r', str(result.closings[0].reason))
        leaving = {step.source for step in result.steps}
        handed = outcome.of(result).handing_over
        self.assertEqual({*closing}, {*handed})
        self.assertLessEqual(leaving, {*closing})

    def test_host_answer(self) -> None:
        """About hosts of the run alone."""
        result, run = self.case.plan(), MaintenanceRun(ASKED)
        row = run.host_answer(result, 'a')['maintenance']
        self.assertEqual(('r', 'to do'), (row['run'], row['state']))
        self.assertEqual({'maintenance': None}, run.host_answer(result, 'd'))

    def test_servers_to_move(self) -> None:
        """On hosts to be done, and not on d."""
        self.assertEqual(3, outcome.of(self.case.plan()).to_move)
        self.close('b', Step.HANDED_OVER)
        self.stop_servers('b')
        self.assertEqual(2, outcome.of(self.case.plan()).to_move)

    def test_a_server_that_was_started_leaves_again(self) -> None:
        """It stands on a host that was handed over, which stays so."""
        self.close('b', Step.HANDED_OVER)
        result = self.case.plan()
        [step] = [step for step in result.steps if step.source == 'b']
        self.assertNotIn(step.destination, ('b',))
        planned = outcome.of(result)
        self.assertNotIn('b', planned.handing_over)
        self.assertIs(State.OCCUPIED, planned.states['b'].state)

    def test_a_server_that_cannot_leave_keeps_its_host(self) -> None:
        self.close('a', Step.EMPTYING)
        self.case.cloud.instances['a1'].locked = True
        planned = outcome.of(self.case.plan())
        self.assertNotIn('a', planned.handing_over)

    def test_stopped_servers(self) -> None:
        """They stay, and do not keep their host; unless they block it."""
        self.close('a', Step.EMPTYING)
        for server in ('a0', 'a1'):
            self.case.cloud.instances[server].status = maintenance.SHUTOFF
        planned = outcome.of(self.case.plan())
        self.assertIn('a', planned.handing_over)
        self.assertEqual(1, planned.to_move)
        self.case = searches.run(
            HOSTS, Maintenance('r', ('a', 'b', 'c'), stopped=Stopped.BLOCK)
        )
        self.close('a', Step.EMPTYING)
        for server in ('a0', 'a1'):
            self.case.cloud.instances[server].status = maintenance.SHUTOFF
        planned = outcome.of(self.case.plan())
        self.assertNotIn('a', planned.handing_over)
        self.assertEqual(3, planned.to_move)

    def test_what_it_opens(self) -> None:
        self.close('b', Step.HANDED_OVER)
        self.case.done |= {'b', 'c'}
        planned = outcome.of(self.case.plan())
        self.assertEqual(['b'], planned.reopening)
        self.assertEqual(['c'], planned.empty_done)
        self.case = searches.run(
            HOSTS, Maintenance('r', ('a', 'b'), reopen=False)
        )
        self.close('b', Step.HANDED_OVER)
        self.case.done.add('b')
        self.assertEqual([], outcome.of(self.case.plan()).reopening)

    def test_nobody_knows_who_is_done(self) -> None:
        """Nothing is closed or opened; what is closed is emptied further."""
        self.close('a', Step.EMPTYING)
        self.close('b', Step.HANDED_OVER)
        self.stop_servers('b')
        case = self.case
        view = maintenance.RunView('no answer', done=['b'], ready=['b'])
        planned = case.plan(view)
        row = outcome.of(planned)
        self.assertEqual(([], []), (row.waves.closing, row.reopening))
        self.assertEqual('no answer', row.unknown)
        self.assertEqual({'a'}, {step.source for step in planned.steps})
