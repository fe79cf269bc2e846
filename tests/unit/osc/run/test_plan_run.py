# SPDX-License-Identifier: Apache-2.0
"""Is a plan started, followed and cancelled, and its end reported?"""

from kronos.common import exceptions
from kronos.osc.run.exit_status import ExitStatus
from kronos.osc.run.plan_run import PlanRun
from kronos.osc.run.polling import NoServiceError
from tests.fakes.watcher_script import PLAN
from tests.unit.osc.run import scripted

CANCEL = f'PATCH /v1/action_plans/{PLAN}'


class PlanRunTestCase(scripted.ScriptedTestCase):
    def make(self, **script: object) -> PlanRun:
        self.play(**script)
        return PlanRun(
            self.client, self.dialogue, self.polling, PLAN, lambda _: None
        )

    def followed(self, **script: object) -> tuple[ExitStatus, str]:
        run = self.make(**script)
        run.start()
        return run.follow(), self.shown()[0]


class TestFollow(PlanRunTestCase):
    def test_all_goes_well(self) -> None:
        status, out = self.followed()
        self.assertEqual(ExitStatus.DONE, status)
        self.assertEqual(
            f'The plan {PLAN} is SUCCEEDED: 2 of 2 actions succeeded, after '
            '6 s\n',
            out,
        )

    def test_a_move_that_was_skipped(self) -> None:
        status, out = self.followed(
            plan=['SUCCEEDED'], moves=[['SUCCEEDED', 'SKIPPED']]
        )
        self.assertEqual(ExitStatus.PLAN_FAILED, status)
        self.assertIn('web-2 cmp1 -> cmp3 (spread) is SKIPPED', out)

    def test_failures_come_first_and_are_few(self) -> None:
        _, out = self.followed(
            plan=['FAILED'],
            names=list('abcdef'),
            moves=[['SKIPPED', *['FAILED'] * 4, 'SUCCEEDED']],
        )
        self.assertEqual(1, out.count('\n'))
        self.assertRegex(out, r'succeeded; b .* c .* d .* and 2 more; see ')

    def test_no_applier(self) -> None:
        error = self.assertRaises(
            NoServiceError, self.followed, plan=['PENDING']
        )
        self.assertIn('watcher-applier', str(error))
        self.assertIn(f'actionplan cancel {PLAN}', str(error))

    def test_an_applier_that_is_busy(self) -> None:
        states = [*['PENDING'] * 90, 'SUCCEEDED']
        status, _ = self.followed(
            plan=states, moves=[['SUCCEEDED'] * 2], others=['ONGOING']
        )
        self.assertEqual(ExitStatus.DONE, status)

    def test_watcher_is_restarted_meanwhile(self) -> None:
        run = self.make()
        run.start()
        self.script.script.refusals = {f'GET /v1/action_plans/{PLAN}': 503}
        self.interrupt_at = 10.0
        self.assertRaises(KeyboardInterrupt, run.follow)
        self.script.script.refusals = {}
        self.assertEqual(ExitStatus.DONE, run.follow())
        self.assertEqual(1, self.shown()[1].count('does not answer'))


class TestInterrupted(PlanRunTestCase):
    def interrupt(self, state: str = 'ONGOING') -> str:
        run = self.make(plan=[state], moves=[['ONGOING', 'PENDING']])
        run.start()
        self.interrupt_at = 4.0
        self.assertRaises(KeyboardInterrupt, run.follow)
        run.interrupted()
        return ''.join(self.shown())

    def test_in_a_pipe_it_goes_on(self) -> None:
        self.assertIn(f'actionplan cancel {PLAN}', self.interrupt())
        self.assertNotIn(CANCEL, self.script.requests)

    def test_no_is_the_default(self) -> None:
        self.talk('\n')
        self.assertIn('goes on', self.interrupt())
        self.assertNotIn(CANCEL, self.script.requests)

    def test_it_is_cancelled_whether_it_has_begun_or_not(self) -> None:
        for state in ('ONGOING', 'PENDING'):
            self.talk('y\n')
            self.assertIn('is CANCELLED: 0 of 2', self.interrupt(state))
            self.assertEqual(1, self.script.requests.count(CANCEL))

    def test_ctrl_c_while_it_is_being_cancelled(self) -> None:
        self.talk('y\n')
        run = self.make(plan=['ONGOING'], cancelled=['CANCELLING'])
        run.start()
        self.interrupt_at = 4.0
        self.assertRaises(KeyboardInterrupt, run.interrupted)
        run.leave()
        self.assertRegex(
            self.shown()[1].splitlines()[-1],
            f'is being cancelled. To follow it: .* kronos plan show {PLAN}',
        )

    def test_it_was_never_started(self) -> None:
        self.talk('y\n')
        run = self.make()
        run.interrupted()
        self.assertIn(f'actionplan start {PLAN}', self.shown()[1])

    def test_it_has_ended_meanwhile(self) -> None:
        self.talk('y\n')
        run = self.make(plan=['SUCCEEDED'], moves=[['SUCCEEDED'] * 2])
        run.start()
        run.interrupted()
        self.assertIn('is SUCCEEDED', self.shown()[0])

    def test_the_cancellation_is_refused(self) -> None:
        self.talk('y\n')
        run = self.make(plan=['ONGOING'], refusals={CANCEL: 403})
        run.start()
        self.assertRaises(exceptions.ClientError, run.interrupted)
