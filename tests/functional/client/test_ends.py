# SPDX-License-Identifier: Apache-2.0
"""Has each end of ``run`` its exit status, and one clear line?"""

from typing import Any

import fixtures

from tests import terminal
from tests.fakes.watcher_script import PLAN
from tests.unit.osc.run import scripted

WHOLE = ('spread', '--start', '--yes', '--wait')
ROLE = "^this requires the role of Watcher's administrator "
LOCKED = (
    'Action failed in pre_condition: KRONOS:PreFlightError: '
    '[instance_locked] the server is locked'
)
ENDS: dict[str, tuple[dict[str, Any], int, str]] = {
    'the list of strategies is refused': (
        {'refusals': {'GET /v1/strategies': 403}},
        1,
        rf'{ROLE}\(GET /v1/strategies: HTTP 403: ',
    ),
    'the audit is refused': (
        {'refusals': {'POST /v1/audits': 403}},
        1,
        rf'{ROLE}\(POST /v1/audits: HTTP 403: ',
    ),
    'the start is refused': (
        {'refusals': {'POST /v1/action_plans/.*/start': 403}},
        1,
        rf'{ROLE}\(POST /v1/action_plans/{PLAN}/start: HTTP 403: ',
    ),
    'what follows is refused': (
        {'refusals': {f'GET /v1/action_plans/{PLAN}': 403}},
        1,
        rf'{ROLE}\(GET /v1/action_plans/{PLAN}: HTTP 403: ',
    ),
    'the audit fails': (
        {'audit': ['ONGOING', 'FAILED'], 'message': 'no policies'},
        1,
        r'^the audit run-spread-\w{8} is FAILED: no policies$',
    ),
    'the audit plans nothing': (
        {'moves': [], 'message': 'alpha: balanced'},
        3,
        '^alpha: balanced$',
    ),
    'no decision engine': (
        {'audit': ['PENDING']},
        6,
        r'^the audit run-spread-\w{8} has been PENDING for 1 s: '
        'no decision engine ',
    ),
    'no applier': (
        {'plan': ['PENDING']},
        6,
        f'^the plan {PLAN} has been PENDING for 1 s, and no other plan is '
        f'ONGOING: no applier .* openstack optimize actionplan cancel {PLAN}$',
    ),
    'a move fails': (
        {
            'plan': ['ONGOING', 'FAILED'],
            'moves': [['ONGOING', 'PENDING'], ['SUCCEEDED', 'FAILED']],
            'reasons': {'web-2': LOCKED},
        },
        5,
        f'^The plan {PLAN} is FAILED: 1 of 2 actions succeeded; web-2 '
        r'cmp1 -> cmp3 \(spread\) is FAILED: the server is locked, after ',
    ),
    'the plan is cancelled by somebody': (
        {
            'plan': ['ONGOING', 'CANCELLED'],
            'moves': [['ONGOING', 'PENDING'], ['SUCCEEDED', 'CANCELLED']],
        },
        5,
        f'^The plan {PLAN} is CANCELLED: 1 of 2 actions succeeded; web-2 ',
    ),
    'watcher is away while the audit runs': (
        {'refusals': {'GET /v1/audits/.*': 503}},
        1,
        r'^Watcher has not answered for 0\.3 s \(GET .* HTTP 503.*\)\. The '
        r'audit run-spread-\w{8} goes on, and starts no move\. To cancel it: ',
    ),
    'watcher is away while moves run': (
        {'refusals': {f'GET /v1/action_plans/{PLAN}': 503}},
        1,
        r'^Watcher has not answered for 0\.3 s \(GET .* HTTP 503.*\)\. The '
        f'plan {PLAN} goes on. To follow it: .* kronos plan show {PLAN}$',
    ),
}
"""What happens, the exit status, and the last line."""


class TestEnds(scripted.CommandTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.be_patient(0.1)
        self.useFixture(
            fixtures.MonkeyPatch('kronos.osc.run.polling.OUTAGE_SECONDS', 0.3)
        )
        self.useFixture(fixtures.EnvironmentVariable('TERM', 'xterm'))

    def check(self, name: str, code: int, text: str) -> None:
        _, status, line = ENDS[name]
        self.assertEqual(status, code, f'{name}: {text}')
        self.assertRegex(text.splitlines()[-1], line, name)
        self.assertNotIn('Traceback', text)

    def words(self) -> tuple[str, ...]:
        return (*WHOLE, '--pickup-timeout', '1')

    def test_in_a_pipe(self) -> None:
        for name, (script, status, _) in ENDS.items():
            code, out, err = self.ended(*self.words(), **script)
            is_result = status in (3, 5)
            self.check(name, code, out if is_result else err)
            self.assertNotIn('\x1b', out + err)

    def test_on_a_terminal(self) -> None:
        for name, (script, status, _) in ENDS.items():
            tty = self.useFixture(terminal.Terminal())
            code, out, _ = self.ended(*self.words(), terminal=tty, **script)
            is_result = status in (3, 5)
            self.check(name, code, out if is_result else tty.shown())
