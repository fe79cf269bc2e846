# SPDX-License-Identifier: Apache-2.0
"""Does the command understand its options, and end with its status?"""

from tests.fakes.watcher_script import PLAN
from tests.unit.osc.run import scripted

START = f'POST /v1/action_plans/{PLAN}/start'


class TestCommand(scripted.CommandTestCase):
    def test_the_parameters(self) -> None:
        code, out, err = self.ended(
            'cell-drain',
            *('--aggregate', 'a', 'b'),
            *('--aggregate', 'c'),
            *('--param', 'max_migrations=5', '--param', 'confirm=x'),
        )
        self.assertEqual(0, code, err)
        self.assertIn('web-1', out)
        self.assertEqual(
            (
                'kronos_cell_drain',
                'kronos_cell',
                {
                    'aggregates': ['a', 'b', 'c'],
                    'max_migrations': 5,
                    'confirm': 'x',
                },
            ),
            tuple(
                self.script.audit[name]
                for name in ('strategy', 'goal', 'parameters')
            ),
        )

    def test_to_the_end(self) -> None:
        code, out, err = self.ended('spread', '--start', '--yes', '--wait')
        self.assertEqual(0, code, err)
        self.assertIn('2 of 2 actions succeeded', out)
        self.assertEqual(1, self.script.requests.count(START))

    def test_wrong_usage(self) -> None:
        for words, expected in (
            (('spread', '--yes'), 'require --start'),
            (('spread', '--wait'), 'require --start'),
            (('spread', '--param', 'x'), 'x is not NAME=VALUE'),
            (('spread', '--pickup-timeout', '0'), 'not a whole number'),
        ):
            code, out, err = self.ended(*words)
            self.assertEqual((2, ''), (code, out), err)
            self.assertIn(expected, err)
            self.assertEqual([], self.script.requests)

    def test_no_rights(self) -> None:
        """One line, whichever request is refused."""
        for pattern in ('GET /v1/strategies', 'POST .*', 'GET /v1/audits/.*'):
            code, _, err = self.ended(
                *('spread', '--start', '--yes'), refusals={pattern: 403}
            )
            self.assertEqual(1, code)
            self.assertRegex(
                err.splitlines()[-1], '^this requires the role .* HTTP 403'
            )

    def test_ctrl_c_before_the_audit(self) -> None:
        self.play()
        self.wire.register_uri(
            'GET', f'{scripted.URL}/v1/strategies', exc=KeyboardInterrupt
        )
        code, out, err = self.given('spread')
        self.assertEqual((130, ''), (code, out), err)
        self.assertEqual('\nNo audit was created.\n', err)

    def test_no_such_strategy(self) -> None:
        code, out, err = self.ended('sprad')
        self.assertEqual((1, ''), (code, out))
        self.assertIn('no strategy kronos_sprad', err)

    def test_nothing_planned(self) -> None:
        code, out, _ = self.ended('spread', moves=[], message='balanced')
        self.assertEqual((3, 'balanced\n'), (code, out))

    def test_no_service(self) -> None:
        self.be_patient(1.0)
        code, _, err = self.ended(
            *('spread', '--pickup-timeout', '1'), audit=['PENDING']
        )
        self.assertEqual(6, code)
        self.assertIn('watcher-decision-engine', err.splitlines()[-1])
