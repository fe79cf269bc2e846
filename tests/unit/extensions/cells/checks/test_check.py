# SPDX-License-Identifier: Apache-2.0
"""Does kronos-test-config --cells show what moves between cells depend on?"""

import json

from tests.unit.clients.nova.test_client import AGGREGATES
from tests.unit.extensions.cells.checks.checking import RULE, CellsTestCase


class TestCells(CellsTestCase):
    def test_all_is_well(self) -> None:
        report = self.asked()
        self.assertTrue(report['good'])
        self.assertEqual({}, self.found(report))
        self.assertEqual('metadata', report['cells']['source'])
        self.assertEqual(
            [('a2', ['new']), ('a3', ['new']), ('a1', ['old'])],
            [(x['host'], x['cells']) for x in report['cells']['hosts']],
        )
        self.assertEqual(
            {
                'microversion 2.56': ('yes', True),
                'microversion 2.80': ('yes', True),
                'microversion 2.104': ('yes', True),
                'key pairs of servers that leave their cell': ('kept', True),
                'extension binding-extended': ('yes', True),
                'microversion 3.44': ('yes', True),
                RULE: ('rule:admin_api', True),
                '[DEFAULT] long_rpc_timeout': ('1800', True),
                '[DEFAULT] resize_confirm_window': ('0', True),
                '[cinder] cross_az_attach': ('true', True),
                '[filter_scheduler] cross_cell_move_weight_multiplier': (
                    '1000000',
                    True,
                ),
            },
            self.needs(report),
        )

    def test_it_is_not_asked_for(self) -> None:
        """One cell needs none of it."""
        report = self.check()
        self.assertNotIn('cells', report)
        self.assertEqual({}, self.found(report))
        hosts = {one.hostname for one in self.wire.request_history}
        self.assertNotIn('neutron.example.org', hosts)

    def test_files_alone(self) -> None:
        """Offline nobody tells of hosts."""
        path = self.policy('"!"')
        report = self.asked('--offline', '--nova-policy', path)
        self.assertEqual([], report['cells']['hosts'])
        self.assertEqual({RULE: ('!', False)}, self.needs(report))
        self.assertEqual(
            {'cells-policy': 'error', 'cells-options-unknown': 'note'},
            self.found(report),
        )
        self.assertEqual([], self.wire.request_history)

    def test_no_files(self) -> None:
        """What no API tells is said to be unknown, and is no error."""
        conf = self.conf()
        report = self.check('--cells', '--config-file', conf)
        self.assertTrue(report['good'])
        self.assertEqual(
            {'cells-policy-unknown': 'note', 'cells-options-unknown': 'note'},
            self.found(report),
        )
        self.assertEqual(('unknown', None), self.needs(report)[RULE])

    def test_files_without_the_switch(self) -> None:
        for option in ('--cell-config', '--nova-policy'):
            code, out, err = self.run_it(option, self.nova_conf())
            self.assertEqual((2, ''), (code, out))
            self.assertIn('require --cells', err)

    def test_nova_is_away(self) -> None:
        """Told once, with the listing that failed."""
        self.wire.get(AGGREGATES, status_code=403, json={})
        report = self.asked()
        self.assertEqual([], report['cells']['hosts'])
        self.assertEqual({}, self.found(report))
        self.assertIn('permission', self.codes(report))

    def test_tables(self) -> None:
        arguments = (
            '--config-file',
            self.conf(),
            '--cells',
            '--wide',
            '--nova-policy',
            self.policy('rule:admin_api'),
        )
        lines = self.run_it(*arguments)[1].splitlines()
        at = lines.index('Cells of the hosts, by cell_source = metadata')
        self.assertEqual(
            ['a2', 'new', 'aggregate', 'of-new', 'az1', 'yes'],
            [one for one in lines[at + 2].split() if one != '|'],
        )
        self.assertIn('Requirements of moves between cells', lines)
        [rule] = [line for line in lines if line.strip().startswith(RULE)]
        self.assertIn('rule:admin_api', rule)
        self.assertTrue(rule.rstrip().endswith('yes'), rule)

    def test_rows(self) -> None:
        """As CSV, the findings alone."""
        path = self.policy(None, '# nothing')
        conf = self.conf()
        out = self.run_it(
            '--config-file',
            conf,
            '--cells',
            '--nova-policy',
            path,
            '-f',
            'csv',
        )[1]
        self.assertIn('cells-policy', out)
        self.assertNotIn('microversion 2.80', out)
        code, out, _ = self.run_it('--config-file', conf, '-f', 'json')
        self.assertNotIn('cells', json.loads(out))
        self.assertEqual(0, code)
