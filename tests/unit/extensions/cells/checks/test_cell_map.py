# SPDX-License-Identifier: Apache-2.0
"""Does ``--cells`` show the cell of each host, and which have none or two?"""

from tests.unit.clients.nova.test_client import HYPERVISORS, hypervisor
from tests.unit.extensions.cells.checks.checking import CellsTestCase


class TestMap(CellsTestCase):
    def test_hosts_that_are_not_in_one_cell(self) -> None:
        """First, and none of them is passed over."""
        self.cells(old=['a1', 'a2'], new=['a2'])
        report = self.asked()
        self.assertEqual(
            [
                {
                    'host': 'a3',
                    'cells': [],
                    'told_by': [],
                    'zone': 'az1',
                    'takes_servers': True,
                },
                {
                    'host': 'a2',
                    'cells': ['new', 'old'],
                    'told_by': ['aggregate of-new', 'aggregate of-old'],
                    'zone': 'az1',
                    'takes_servers': True,
                },
            ],
            report['cells']['hosts'][:2],
        )
        self.assertEqual(
            {'cells-several': 'error', 'cells-missing': 'warning'},
            self.found(report),
        )
        several = self.finding(report, 'cells-several')
        self.assertIn(
            '1 host in more than one cell (a2: new and old)', str(several)
        )
        missing = self.finding(report, 'cells-missing')
        self.assertIn('1 host in no known cell (a3)', missing['text'])
        self.assertIn('kronos:cell', missing['mend'])

    def test_no_cell(self) -> None:
        self.cells()
        report = self.asked()
        self.assertEqual({'cells-none': 'error'}, self.found(report))
        self.assertIn(
            'kronos:cell', self.finding(report, 'cells-none')['mend']
        )

    def test_one_cell(self) -> None:
        """There is nowhere to go."""
        self.cells(old=['a1', 'a2', 'a3'])
        report = self.asked()
        self.assertEqual({'cells-none': 'error'}, self.found(report))
        result = self.finding(report, 'cells-none')
        self.assertIn('are in old: there is no other cell', result['text'])

    def test_hosts_of_other_types(self) -> None:
        """They are no matter: nothing is planned for them."""
        rows = [hypervisor('a1'), hypervisor('a2')]
        rows.append(hypervisor('a3') | {'hypervisor_type': 'ironic'})
        self.wire.get(HYPERVISORS, json={'hypervisors': rows})
        self.cells(old=['a1'], new=['a2'])
        report = self.asked()
        self.assertNotIn('cells-missing', self.found(report))
        self.assertEqual(2, len(report['cells']['hosts']))

    def test_a_cell_is_down(self) -> None:
        """Nova lists no hypervisor then; the services are there."""
        self.wire.get(HYPERVISORS, status_code=404, json={})
        report = self.asked()
        self.assertEqual(3, len(report['cells']['hosts']))

    def test_zones_are_cells(self) -> None:
        self.zones(a1='east', a2='west', a3='west')
        conf = self.conf(cell_source='az')
        report = self.asked('--config-file', conf)
        self.assertEqual('az', report['cells']['source'])
        self.assertEqual(
            [('a1', ['east']), ('a2', ['west']), ('a3', ['west'])],
            [(x['host'], x['cells']) for x in report['cells']['hosts']],
        )

    def test_one_zone(self) -> None:
        report = self.asked('--config-file', self.conf(cell_source='az'))
        self.assertEqual('error', self.found(report)['cells-none'])
        mend = self.finding(report, 'cells-none')['mend']
        self.assertIn('cell_source = metadata', mend)
