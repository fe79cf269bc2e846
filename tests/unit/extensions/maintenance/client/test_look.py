# SPDX-License-Identifier: Apache-2.0
"""Does a look tell what would be done, and leave nothing to be started?"""

from typing import Any

from kronos.engine.types import ComputeService
from kronos.extensions.maintenance.client import (
    look,
    run_history,
    start_request,
)
from kronos.extensions.maintenance.client.exit_status import ExitStatus
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.osc import plans
from kronos.osc.run.dialogue import Dialogue
from kronos.osc.run.polling import Polling
from tests.unit.extensions.maintenance.client import maintained
from tests.unit.osc.run.scripted import Stream

ASKED = Maintenance('r1', ('h1', 'h2'))


class TestLook(maintained.MaintainedTestCase):
    def take(self, **plan: Any) -> look.Look:
        request = start_request.of({'hosts': ['h1'], 'run': 'r1'}, None)

        self.plan_next(state='RECOMMENDED', **plan)
        self.act(run_history.CLOSE, 'h1', 1, state='PENDING')
        answer, result = look.take(
            self.client,
            Dialogue(Stream(), Stream(), Stream()),
            Polling(60.0),
            request,
        )
        return look.Look(ASKED, answer, result, [], {'h2': 'mine'})

    def test_a_look(self) -> None:
        result = self.take()
        self.assertEqual('CANCELLED', self.watcher.plans[0]['state'])
        values = result.fields
        self.assertEqual('alpha: sentence 1', values['answer'])
        self.assertEqual(['h1'], values['closes_first'].machine_readable())
        [step] = values['steps'].machine_readable()
        self.assertEqual(
            ('kronos_close_for_maintenance', 'h1'),
            (step['action_type'], step['source']),
        )
        self.assertEqual(
            'h2: mine', values['closed_by_others'].human_readable()
        )
        self.assertIs(ExitStatus.REACHED, result.exit_status)

    def test_what_is_expected(self) -> None:
        result = self.take(
            efficacy_indicators=[
                {'name': name, 'value': value}
                for name, value in (
                    ('hosts_done', 0),
                    ('most_at_once', 2),
                    ('moves_at_least', 12),
                    ('seconds_to_end', 3600.0),
                )
            ]
        )
        values = result.fields
        self.assertEqual(2, values['most_at_once'])
        self.assertEqual(12, values['moves_at_least'])
        self.assertEqual(3600.0, values['expected_seconds'])
        self.assertRegex(values['eta'], r'^\d{4}-\d\d-\d\dT.*Z$')
        nothing = look.Look(ASKED, '', None, [], {}).fields
        for name in ('most_at_once', 'moves_at_least', 'eta'):
            self.assertIsNone(nothing[name])

    def test_hints(self) -> None:
        """A query that names all or nobody, closed hosts, balancers."""
        result = self.take(
            efficacy_indicators=[{'name': 'hosts_done', 'value': 0}]
        )
        result.balancing = ['even (kronos_spread)']
        nobody, closed, balanced = result.hints
        self.assertIn('names no host of the run', nobody)
        self.assertIn('h2 cannot take servers', closed)
        self.assertIn('audit even (kronos_spread) goes on', balanced)
        shown = result.fields['hints']
        self.assertEqual({'hint': nobody}, shown.machine_readable()[0])
        self.assertIn(closed, shown.human_readable())
        result.is_new, result.foreign, result.balancing = False, {}, []
        self.assertEqual([], result.hints)
        assert result.plan is not None
        result.plan.indicators['hosts_done'] = 2.0
        self.assertIn('names all hosts', ''.join(result.hints))

    def test_exit_status(self) -> None:
        """Blocked, if nothing would be done, and hosts are not done."""
        for done, expected in (
            (1, ExitStatus.BLOCKED),
            (2, ExitStatus.REACHED),
        ):
            self.watcher.plans.clear()
            self.plan_next(
                efficacy_indicators=[{'name': 'hosts_done', 'value': done}]
            )
            [row] = self.watcher.plans
            plan = plans.read(self.client, row)
            result = look.Look(ASKED, '', plan, [], {})
            self.assertIs(expected, result.exit_status)
        nothing = look.Look(ASKED, '', None, [], {})
        self.assertIs(ExitStatus.BLOCKED, nothing.exit_status)
        self.assertEqual([], nothing.fields['steps'].machine_readable())

    def test_balancing_audits(self) -> None:
        self.begin(strategy_name='kronos_spread', name='even')
        self.begin(strategy_name='kronos_spread', audit_type='ONESHOT')
        self.begin('CANCELLED', strategy_name='kronos_spread')
        self.begin(strategy_name='dummy')
        self.begin()
        self.assertEqual(
            ['even (kronos_spread)'],
            look.balancing(
                {r['uuid']: r for r in self.client.audits()}.values()
            ),
        )

    def test_closed_by_others(self) -> None:
        own, other = (
            str(ClosingReason(run, Step.EMPTYING, 0.0, maintained.AUDIT))
            for run in ('r1', 'r2')
        )
        services = {
            name: ComputeService(name, status=status, disabled_reason=reason)
            for name, status, reason in (
                ('h1', 'disabled', own),
                ('h2', 'disabled', other),
                ('h9', 'disabled', 'x'),
            )
        }
        self.assertEqual({'h2': other}, look.foreign(ASKED, services))
        services['h2'] = ComputeService('h2', status='enabled')
        self.assertEqual({}, look.foreign(ASKED, services))
