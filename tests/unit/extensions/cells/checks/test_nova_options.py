# SPDX-License-Identifier: Apache-2.0
"""Are the options of nova.conf told that moves between cells depend on?"""

from typing import Any

from tests.unit.extensions.cells.checks.checking import HIDDEN, CellsTestCase

RPC = '[DEFAULT] long_rpc_timeout'
WINDOW = '[DEFAULT] resize_confirm_window'
ATTACH = '[cinder] cross_az_attach'
MULTIPLIER = '[filter_scheduler] cross_cell_move_weight_multiplier'


class TestOptions(CellsTestCase):
    def judged(self, text: str, **kronos: Any) -> dict[str, tuple[str, Any]]:
        """The needs; in ``self.report`` the rest."""
        self.report = self.asked(
            '--offline',
            '--config-file',
            self.conf(**kronos),
            '--cell-config',
            self.nova_conf(text),
            '--nova-policy',
            self.policy('rule:admin_api'),
        )
        return self.needs(self.report)

    def only(self, code: str, level: str) -> dict[str, str]:
        self.assertEqual({code: level}, self.found(self.report))
        return self.finding(self.report, code)

    def test_nova_waits_for_less(self) -> None:
        needs = self.judged('long_rpc_timeout = 600')
        self.assertEqual(('600', False), needs[RPC])
        text = self.only('cells-rpc-timeout', 'warning')['text']
        self.assertIn('[kronos] long_rpc_timeout = 1800: Nova gives up', text)

    def test_nova_waits_for_more(self) -> None:
        needs = self.judged('long_rpc_timeout = 3600')
        self.assertEqual(('3600', False), needs[RPC])
        text = self.only('cells-rpc-timeout', 'warning')['text']
        self.assertIn('Kronos keeps servers in their cell', text)

    def test_both_wait_as_long(self) -> None:
        needs = self.judged('long_rpc_timeout = 3600', long_rpc_timeout=3600)
        self.assertEqual(('3600', True), needs[RPC])
        self.assertEqual({}, self.found(self.report))

    def test_nova_confirms_too_early(self) -> None:
        for seconds in (1, 150):
            needs = self.judged(f'resize_confirm_window = {seconds}')
            self.assertEqual((str(seconds), False), needs[WINDOW])
            result = self.only('cells-confirm-window', 'error')
            self.assertIn('may take 2 min 30 s', result['text'])

    def test_nova_confirms_later(self) -> None:
        needs = self.judged('resize_confirm_window = 151')
        self.assertEqual(('151', True), needs[WINDOW])
        text = self.only('cells-confirm-window', 'note')['text']
        self.assertIn('confirm=manual', text)

    def test_a_long_proof(self) -> None:
        """The query is to be true for longer."""
        needs = self.judged(
            'resize_confirm_window = 151', cell_verify_seconds=32
        )
        self.assertEqual(('151', False), needs[WINDOW])
        self.only('cells-confirm-window', 'error')

    def test_volumes_stay_in_their_zone(self) -> None:
        needs = self.judged('[cinder]\ncross_az_attach = false')
        self.assertEqual(('false', False), needs[ATTACH])
        self.only('cells-az-attach', 'warning')

    def test_multiplier(self) -> None:
        section = '[filter_scheduler]\ncross_cell_move_weight_multiplier = '
        self.assertEqual(('3', True), self.judged(f'{section}3')[MULTIPLIER])
        self.assertEqual({}, self.found(self.report))
        self.assertEqual(
            ('-3', False), self.judged(f'{section}-3')[MULTIPLIER]
        )
        self.only('cells-weigher', 'warning')

    def test_invalid_values(self) -> None:
        """What they are is not repeated."""
        for text, what, rule in (
            (f'long_rpc_timeout = {HIDDEN}', RPC, 'whole number of seconds'),
            ('resize_confirm_window = -7', WINDOW, '0 for never'),
            (f'[cinder]\ncross_az_attach = {HIDDEN}', ATTACH, 'true or false'),
        ):
            self.assertEqual(('invalid', False), self.judged(text)[what])
            told = self.only('config-invalid', 'error')['text']
            self.assertIn(what, told)
            self.assertIn(rule, told)
            self.assertNotIn('-7', told)

    def test_not_a_configuration(self) -> None:
        needs = self.judged(f'{HIDDEN} without a value')
        self.assertNotIn(RPC, needs)
        text = self.only('config-invalid', 'error')['text']
        self.assertIn('line 3', text)

    def test_several_services(self) -> None:
        """Each is judged by itself."""
        first = self.nova_conf('', 'conductor.conf')
        second = self.nova_conf('resize_confirm_window = 10', 'compute.conf')
        report = self.asked(
            '--offline', '--cell-config', first, '--cell-config', second
        )
        rows = [
            (need['where'], need['value'])
            for need in report['cells']['needs']
            if need['what'] == WINDOW
        ]
        self.assertEqual([(first, '0'), (second, '10')], rows)

    def test_the_directory_beside_a_file(self) -> None:
        self.write('nova.conf.d/more.conf', '[DEFAULT]\nlong_rpc_timeout=9\n')
        self.assertEqual('9', self.judged('')[RPC][0])
