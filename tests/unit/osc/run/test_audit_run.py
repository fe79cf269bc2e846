# SPDX-License-Identifier: Apache-2.0
"""Is an audit followed to its plan, and one that goes wrong reported?"""

from kronos.common import exceptions
from kronos.osc.run.audit_run import AuditRun
from kronos.osc.run.polling import NoServiceError
from tests.fakes.watcher_script import AUDIT, PLAN
from tests.unit.osc.run import scripted


class AuditRunTestCase(scripted.ScriptedTestCase):
    def make(self, **script: object) -> AuditRun:
        self.play(**script)
        return AuditRun(
            self.client, self.dialogue, self.polling, scripted.REQUEST
        )


class TestRun(AuditRunTestCase):
    def refused(self, **script: object) -> str:
        run = self.make(**script)
        return str(self.assertRaises(exceptions.KronosException, run.run))

    def test_its_plan(self) -> None:
        run = self.make()
        plan = run.run()
        assert plan is not None
        self.assertEqual(PLAN, plan.uuid)
        self.assertIn('0.60 -> 0.20', run.message)
        self.assertEqual(scripted.REQUEST.fields, self.script.audit)

    def test_it_plans_nothing(self) -> None:
        run = self.make(moves=[], message='alpha: balanced')
        self.assertIsNone(run.run())
        self.assertEqual('alpha: balanced', run.message)

    def test_it_fails(self) -> None:
        self.assertEqual(
            'the audit run-spread-1 is FAILED: no\x3fpolicy',
            self.refused(audit=['ONGOING', 'FAILED'], message='no\x1bpolicy'),
        )

    def test_the_request_is_refused(self) -> None:
        self.assertIn(
            'HTTP 403', self.refused(refusals={'POST /v1/audits': 403})
        )

    def test_no_decision_engine(self) -> None:
        run = self.make(audit=['PENDING'])
        error = self.assertRaises(NoServiceError, run.run)
        self.assertIn('watcher-decision-engine', str(error))
        self.assertEqual(60.0, self.now)


class TestInterrupted(AuditRunTestCase):
    def interrupt(self, **script: object) -> str:
        run = self.make(audit=['ONGOING'], **script)
        self.interrupt_at = 10.0
        self.assertRaises(KeyboardInterrupt, run.run)
        run.interrupted()
        return self.shown()[1]

    def is_cancelled(self) -> bool:
        return f'PATCH /v1/audits/{AUDIT}' in self.script.requests

    def test_in_a_pipe_it_goes_on(self) -> None:
        self.assertIn('audit update run-spread-1 replace', self.interrupt())
        self.assertFalse(self.is_cancelled())

    def test_no_is_the_default(self) -> None:
        self.talk('\n')
        self.assertIn('goes on', self.interrupt())
        self.assertFalse(self.is_cancelled())

    def test_it_is_cancelled(self) -> None:
        self.talk('y\n')
        self.assertIn('was cancelled', self.interrupt())
        self.assertTrue(self.is_cancelled())

    def test_watcher_has_not_got_the_request(self) -> None:
        self.make().interrupted()
        self.assertIn('No audit was created', self.shown()[1])

    def test_it_has_ended_meanwhile(self) -> None:
        self.talk('y\n')
        run = self.make(audit=['SUCCEEDED'])
        run.run()
        run.interrupted()
        self.assertFalse(self.is_cancelled())
