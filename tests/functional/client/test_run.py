# SPDX-License-Identifier: Apache-2.0
"""Does ``run`` go from the question to the end, wherever it is stopped?"""

from typing import Any

from oslotest import base

from tests.fakes import loopback_watcher
from tests.fakes.watcher_script import AUDIT, PLAN, Script
from tests.functional.client.openstack_process import OpenStackProcess

RUN = ('optimize', 'kronos', 'run', 'spread', '--aggregate', 'alpha')
CANCEL = f'PATCH /v1/action_plans/{PLAN}'
CANCEL_AUDIT = f'PATCH /v1/audits/{AUDIT}'
ENDLESS = {
    'plan': ['PENDING', 'ONGOING'],
    'moves': [['PENDING', 'PENDING'], ['ONGOING', 'PENDING']],
}


class RunTestCase(base.BaseTestCase):
    def begin(
        self, *words: str, on_terminal: bool = False, **script: Any
    ) -> OpenStackProcess:
        self.watcher = self.useFixture(
            loopback_watcher.LoopbackWatcher(Script(**script))
        )
        return self.useFixture(
            OpenStackProcess(
                self.watcher.url, *RUN, *words, on_terminal=on_terminal
            )
        )


class TestInAPipe(RunTestCase):
    def test_from_the_question_to_the_end(self) -> None:
        run = self.begin('--start', '--yes', '--wait', percent=40.0)
        code, out, err = run.end()
        self.assertEqual(0, code, err)
        self.assertIn('Combined imbalance: 0.600 -> 0.200', out)
        self.assertIn('2 of 2 actions succeeded', out)
        self.assertIn(': 1 of 2 actions done, 1 under way', err)
        self.assertNotIn('\x1b', out + err)

    def test_no_terminal_confirms(self) -> None:
        code, out, err = self.begin('--start').end()
        self.assertEqual(4, code, err)
        self.assertIn('web-1', out)
        self.assertIn('use --yes', err)
        self.assertIn(f'openstack optimize actionplan start {PLAN}', err)

    def test_ctrl_c_leaves_the_audit(self) -> None:
        run = self.begin(audit=['ONGOING'])
        run.await_text('is ONGOING')
        run.interrupt()
        code, out, err = run.end()
        self.assertEqual((130, ''), (code, out), err)
        self.assertRegex(err, 'goes on.* audit update run-spread-.* replace')

    def test_ctrl_c_leaves_the_plan(self) -> None:
        run = self.begin('--start', '--yes', '--wait', **ENDLESS)
        run.await_text('1 under way')
        run.interrupt()
        code, _, err = run.end()
        self.assertEqual(130, code, err)
        self.assertIn(f'openstack optimize actionplan cancel {PLAN}', err)
        self.assertNotIn('[y/N]', err)

    def test_a_move_fails(self) -> None:
        code, out, err = self.begin(
            '--start',
            '--yes',
            '--wait',
            plan=['FAILED'],
            moves=[['SUCCEEDED', 'FAILED']],
            reasons={
                'web-2': 'Action failed in pre_condition: KRONOS:'
                'PreFlightError: [instance_locked] the server is locked'
            },
        ).end()
        self.assertEqual(5, code, err)
        self.assertRegex(
            out.splitlines()[-1],
            'is FAILED: 1 of 2 actions succeeded; web-2 cmp1 -> cmp3 '
            r'\(spread\) is FAILED: the server is locked, after',
        )


class TestOnATerminal(RunTestCase):
    def begin(self, *words: str, **script: Any) -> OpenStackProcess:
        return super().begin(*words, on_terminal=True, **script)

    def test_from_the_question_to_the_end(self) -> None:
        run = self.begin('--start', '--wait', percent=40.0, forecast=30.0)
        run.await_text('[y/N]')
        run.type('y\n')
        code, out, err = run.end()
        self.assertEqual(0, code, err)
        self.assertIn('2 of 2 actions succeeded', out)
        self.assertIn('web-1 cmp1 -> cmp2 (spread): 40 %', err)
        self.assertIn(' left', err)

    def test_the_answer_is_no(self) -> None:
        run = self.begin('--start')
        run.await_text('[y/N]')
        run.type('\n')
        code, _, err = run.end()
        self.assertEqual(4, code, err)
        self.assertIn('was not started', err)

    def test_ctrl_c_at_the_question(self) -> None:
        run = self.begin('--start')
        run.await_text('[y/N]')
        run.interrupt()
        code, _, err = run.end()
        self.assertEqual(130, code, err)
        self.assertIn(f'openstack optimize actionplan start {PLAN}', err)

    def test_ctrl_c_cancels_the_audit(self) -> None:
        run = self.begin(audit=['ONGOING'])
        run.await_text('is ONGOING')
        run.interrupt()
        run.await_text('Cancel the audit')
        run.type('y\n')
        code, _, err = run.end()
        self.assertEqual(130, code, err)
        self.watcher.await_request(CANCEL_AUDIT)

    def test_ctrl_c_leaves_the_audit(self) -> None:
        """By another answer, or by Ctrl-C again."""
        for answer in ('\n', None):
            run = self.begin(audit=['ONGOING'])
            run.await_text('is ONGOING')
            run.interrupt()
            run.await_text('Cancel the audit')
            if answer is None:
                run.interrupt()
            else:
                run.type(answer)
            code, out, err = run.end()
            self.assertEqual((130, ''), (code, out), err)
            self.assertRegex(
                err.splitlines()[-1], 'goes on.* audit update run-spread-'
            )

    def test_ctrl_c_leaves_the_plan(self) -> None:
        run = self.begin('--start', '--yes', '--wait', **ENDLESS)
        run.await_text('1 under way')
        run.interrupt()
        run.await_text('Cancel the plan')
        run.type('n\n')
        code, _, err = run.end()
        self.assertEqual(130, code, err)
        self.assertRegex(
            err.splitlines()[-1],
            f'^The plan {PLAN} goes on. To cancel it: openstack .* {PLAN}$',
        )

    def test_ctrl_c_while_the_plan_is_being_cancelled(self) -> None:
        run = self.begin(
            *('--start', '--yes', '--wait'),
            **ENDLESS,
            cancelled=['CANCELLING'],
        )
        run.await_text('1 under way')
        run.interrupt()
        run.await_text('Cancel the plan')
        run.type('y\n')
        run.await_text('is CANCELLING')
        run.interrupt()
        code, _, err = run.end()
        self.assertEqual(130, code, err)
        self.assertIn('is being cancelled. To follow it: ', err)

    def test_ctrl_c_cancels_the_plan(self) -> None:
        run = self.begin('--start', '--yes', '--wait', **ENDLESS)
        run.await_text('1 under way')
        run.interrupt()
        run.await_text('Cancel the plan')
        run.type('y\n')
        code, out, err = run.end()
        self.assertEqual(130, code, err)
        self.assertIn('is CANCELLED: 0 of 2 actions succeeded', out)
        self.watcher.await_request(CANCEL)

    def test_ctrl_c_twice_leaves_the_plan(self) -> None:
        run = self.begin('--start', '--yes', '--wait', **ENDLESS)
        run.await_text('1 under way')
        run.interrupt()
        run.await_text('Cancel the plan')
        run.interrupt()
        code, _, err = run.end()
        self.assertEqual(130, code, err)
        self.assertIn('goes on', err)

    def test_hostile_names(self) -> None:
        run = self.begin(
            '--start',
            '--yes',
            '--wait',
            names=['[red]\x1b]0;x\x07', '[/]:smile:'],
            **{**ENDLESS, 'plan': ['ONGOING', 'ONGOING', 'SUCCEEDED']},
        )
        _, out, err = run.end()
        self.assertIn('[red]?]0;x?', out)
        self.assertIn('[red]?]0;x?', err)
        self.assertIn('[/]:smile:', out)
        self.assertNotIn('\x1b]0', out + err)
