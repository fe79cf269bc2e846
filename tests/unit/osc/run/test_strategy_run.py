# SPDX-License-Identifier: Apache-2.0
"""Does a run go as far as it was asked to, and no further?"""

from typing import Any

from kronos.osc.run.exit_status import ExitStatus
from kronos.osc.run.strategy_run import Choice, StrategyRun
from tests.fakes.watcher_script import PLAN
from tests.unit.osc.run import scripted

START = f'POST /v1/action_plans/{PLAN}/start'
WHOLE = Choice(starts=True, waits=True, is_confirmed=True)


class TestStrategyRun(scripted.ScriptedTestCase):
    def ended(self, choice: Choice, **script: Any) -> ExitStatus:
        self.play(**script)
        return StrategyRun(
            self.client,
            self.dialogue,
            self.polling,
            choice,
            lambda: lambda _: None,
        ).run(scripted.REQUEST)

    def is_started(self) -> bool:
        return START in self.script.requests

    def test_the_plan_is_shown(self) -> None:
        self.assertEqual(ExitStatus.DONE, self.ended(Choice()))
        self.assertFalse(self.is_started())
        out, err = self.shown()
        self.assertIn('web-1', out)
        self.assertIn(f'actionplan start {PLAN}', err)

    def test_nothing_is_planned(self) -> None:
        status = self.ended(WHOLE, moves=[], message='alpha: balanced')
        self.assertEqual(ExitStatus.NOTHING_PLANNED, status)
        self.assertEqual('alpha: balanced\n', self.shown()[0])

    def test_started_and_left(self) -> None:
        choice = Choice(starts=True, is_confirmed=True)
        self.assertEqual(ExitStatus.DONE, self.ended(choice))
        self.assertTrue(self.is_started())
        self.assertIn('kronos plan show', self.shown()[0])

    def test_to_the_end(self) -> None:
        self.assertEqual(ExitStatus.DONE, self.ended(WHOLE))
        self.assertIn('2 of 2 actions succeeded', self.shown()[0])

    def test_the_question(self) -> None:
        for answer, status in (
            ('y\n', ExitStatus.DONE),
            ('n\n', ExitStatus.NOT_STARTED),
            (None, ExitStatus.NOT_STARTED),
            (scripted.Interrupted(), ExitStatus.INTERRUPTED),
        ):
            self.talk(answer)
            self.assertEqual(status, self.ended(Choice(starts=True)))
            self.assertIs(status == ExitStatus.DONE, self.is_started())

    def test_ctrl_c_while_the_audit_runs(self) -> None:
        self.interrupt_at = 4.0
        status = self.ended(WHOLE, audit=['ONGOING'])
        self.assertEqual(ExitStatus.INTERRUPTED, status)
        self.assertFalse(self.is_started())

    def test_ctrl_c_while_moves_run_and_again(self) -> None:
        self.talk(scripted.Interrupted())
        self.interrupt_at = 12.0
        status = self.ended(WHOLE, plan=['ONGOING'])
        self.assertEqual(ExitStatus.INTERRUPTED, status)
        self.assertIn('goes on', self.shown()[1])

    def test_ctrl_c_while_watcher_is_away(self) -> None:
        """Nobody can decide: what goes on is named."""
        for pattern, script, goes_on in (
            ('GET /v1/audits/.*', {'audit': ['ONGOING']}, 'audit'),
            (f'GET /v1/action_plans/{PLAN}', {}, 'plan'),
        ):
            self.talk('y\n')
            self.interrupt_at = self.now + 12.0
            status = self.ended(WHOLE, refusals={pattern: 503}, **script)
            self.assertEqual(ExitStatus.INTERRUPTED, status)
            self.assertRegex(
                self.shown()[1].splitlines()[-1],
                f'^Watcher does not answer. The {goes_on} .* goes on',
            )
