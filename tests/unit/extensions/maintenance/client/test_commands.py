# SPDX-License-Identifier: Apache-2.0
"""Does each command print in each format, and end with its status?"""

import json
from typing import Any

import ddt
import yaml

from kronos.extensions.maintenance.client import run_history
from kronos.extensions.maintenance.closing_reason import Step
from tests.fakes import keystone
from tests.unit.extensions.maintenance.client import maintained
from tests.unit.osc import clouds


@ddt.ddt
class TestStatus(maintained.MaintainedTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.begin()
        self.plan_next(
            efficacy_indicators=[{'name': 'hosts_done', 'value': 0.0}]
        )

    def status(self, code: int, *words: str) -> Any:
        return self.ended(code, 'status', *words)

    @ddt.data('table', 'json', 'yaml', 'value', 'shell')
    def test_formats(self, form: str) -> None:
        """Each with the same exit status."""
        self.close('h1')
        code, out, err = self.run_client('maintenance', 'status', '-f', form)
        self.assertEqual((3, ''), (code, err))
        self.assertIn('handed over', out)
        if form in ('json', 'yaml'):
            read = json.loads if form == 'json' else yaml.safe_load
            self.assertEqual('running', read(out)['state'])

    def test_each_exit_status(self) -> None:
        self.assertEqual('blocked', self.status(4)['state'])
        self.close('h1')
        of_host = ('--host', 'h1', '--state')
        self.status(0, *of_host, 'handed-over')
        self.status(0, *of_host, 'handed over')
        self.status(3, *of_host, 'done')
        self.watcher.audits[maintained.AUDIT]['state'] = 'SUSPENDED'
        self.status(5, *of_host, 'done')
        self.close('h1', age=4000.0)
        self.status(6)
        self.close_by_hand('h1')
        self.watcher.audits[maintained.AUDIT]['state'] = 'ONGOING'
        self.status(4, *of_host, 'done')
        self.assertIn('no host h9', self.status(1, '--host', 'h9'))
        self.watcher.refusal = 500, 'x'
        self.assertIn('Watcher: GET', self.status(1))

    def test_usage(self) -> None:
        self.assertEqual(
            '--timeout requires --wait', self.status(2, '--timeout', '5')
        )
        self.assertIn(
            'did you mean handed-over?', self.status(2, '--state', 'handed')
        )

    def test_nova_refuses(self) -> None:
        self.keystone.wire.get(
            f'{keystone.NOVA}/os-services?binary=nova-compute',
            status_code=403,
            json={'forbidden': {'message': 'no'}},
        )
        self.assertRegex(
            self.status(1), "^this requires the role of Nova's administrator"
        )

    def test_waiting(self) -> None:
        """To the state, or to what keeps the host from it."""
        self.close('h1', Step.EMPTYING)
        looks = iter((Step.EMPTYING, Step.EMPTYING, Step.HANDED_OVER))
        answer = self._services

        def next_look(request: Any, context: Any) -> Any:
            self.close('h1', next(looks))
            return answer(request, context)

        self.keystone.wire.get(
            f'{keystone.NOVA}/os-services?binary=nova-compute', json=next_look
        )
        code, out, err = self.run_client(
            *('maintenance', 'status', '--wait', '--host', 'h1'),
            *('--state', 'handed-over', '-f', 'json'),
        )
        self.assertEqual(
            (0, 'handed over'), (code, json.loads(out)['hosts'][0]['state'])
        )
        self.assertEqual('h1 is emptying\n', err)

    def test_waiting_has_an_end(self) -> None:
        self.close('h1', Step.EMPTYING)
        self.status(3, '--wait', '--timeout', '1')


class TestOthers(maintained.MaintainedTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.begin()

    def test_pause_and_resume(self) -> None:
        self.close('h1')
        paused = self.ended(0, 'pause', '--run', 'r1')
        self.assertEqual(
            ('paused', 'SUSPENDED'), (paused['state'], paused['audit_state'])
        )
        self.assertEqual('ONGOING', self.ended(0, 'resume')['audit_state'])
        self.assertIn(
            'no maintenance run r2', self.ended(1, 'pause', '--run', 'r2')
        )

    def test_finish_names_what_stays_closed(self) -> None:
        self.close('h1')
        self.plan_next(state='RECOMMENDED')
        code, out, err = self.run_client('maintenance', 'finish', '-f', 'json')
        self.assertEqual((4, 'ended'), (code, json.loads(out)['state']), err)
        self.assertRegex(err, r'\nh1 stays closed \(handed over\): .*\n$')
        self.assertEqual('CANCELLED', self.watcher.plans[0]['state'])
        self.services['h1'] |= {'status': 'enabled', 'disabled_reason': None}
        self.ended(0, 'finish')

    def test_report(self) -> None:
        self.act(run_history.CLOSE, 'h1', 20)
        self.act('kronos_live_migrate', 'h1', 10)
        report = self.ended(0, 'report')
        self.assertEqual(
            (1, 0), (report['moves'], report['servers_moved_twice'])
        )
        self.assertEqual(
            [
                {
                    'server': clouds.uuid(1),
                    'name': 'vm1',
                    'moves': 1,
                    'hosts': ['h1', 'h2'],
                }
            ],
            report['servers'],
        )
