# SPDX-License-Identifier: Apache-2.0
"""Does ``--cells`` tell what Nova and Neutron lack for moves between cells?"""

from tests.unit.extensions.cells.checks.checking import (
    CINDER,
    NEUTRON,
    CellsTestCase,
)

WHAT = 'extension binding-extended'


class TestNeutron(CellsTestCase):
    def test_without_the_extension(self) -> None:
        self.extensions('quotas', 'binding')
        report = self.asked()
        self.assertEqual({'cells-binding': 'error'}, self.found(report))
        self.assertEqual(('no', False), self.needs(report)[WHAT])

    def test_an_endpoint_with_its_version(self) -> None:
        self.catalog(f'{NEUTRON}/v2.0')
        self.assertEqual(('yes', True), self.needs(self.asked())[WHAT])

    def test_not_in_the_catalog(self) -> None:
        """Nobody tells, which is no error."""
        self.catalog('')
        report = self.asked()
        self.assertEqual({'neutron-failed': 'warning'}, self.found(report))
        self.assertEqual(('unknown', None), self.needs(report)[WHAT])

    def test_it_refuses(self) -> None:
        self.wire.get(f'{NEUTRON}/v2.0/extensions', status_code=403, json={})
        report = self.asked()
        self.assertEqual({'neutron-failed': 'warning'}, self.found(report))
        text = self.finding(report, 'neutron-failed')['text']
        self.assertIn('HTTP 403', text)


class TestCinder(CellsTestCase):
    WHAT = 'microversion 3.44'

    def test_new_and_old(self) -> None:
        for newest, value in (('3.44', 'yes'), ('3.43', 'no'), ('3.9', 'no')):
            self.cinder(newest)
            report = self.asked()
            good = value == 'yes'
            self.assertEqual((value, good), self.needs(report)[self.WHAT])
            self.assertEqual(
                {} if good else {'cells-cinder': 'error'}, self.found(report)
            )
            if not good:
                text = self.finding(report, 'cells-cinder')['text']
                self.assertIn(f'Cinder is {newest}: Nova needs 3.44', text)

    def test_a_project_in_its_endpoint(self) -> None:
        self.catalog(f'{NEUTRON}/', f'{CINDER}/v3/{{project}}')
        self.assertEqual(('yes', True), self.needs(self.asked())[self.WHAT])

    def test_a_cloud_without_volumes(self) -> None:
        self.catalog(f'{NEUTRON}/', '')
        report = self.asked()
        self.assertEqual({}, self.found(report))
        self.assertEqual(('no Cinder', None), self.needs(report)[self.WHAT])

    def test_it_does_not_answer(self) -> None:
        for path in ('/', '/v3', '/v3/'):
            self.wire.get(f'{CINDER}{path}', status_code=503)
        report = self.asked()
        self.assertEqual({'cinder-failed': 'warning'}, self.found(report))
        self.assertEqual(('unknown', None), self.needs(report)[self.WHAT])


class TestOldNova(CellsTestCase):
    newest = '2.79'

    def test_what_is_missing(self) -> None:
        report = self.asked()
        needs = self.needs(report)
        self.assertEqual(('yes', True), needs['microversion 2.56'])
        self.assertEqual(('no', False), needs['microversion 2.80'])
        self.assertEqual(('no', False), needs['microversion 2.104'])
        found = [
            finding['text']
            for finding in report['findings']
            if finding['code'] == 'cells-microversion'
        ]
        self.assertEqual(2, len(found))
        self.assertIn('unpin_az', found[1])
        self.assertTrue(report['good'])

    def test_key_pairs(self) -> None:
        """Nova 34 keeps them, or one with a backport."""
        report = self.asked()
        what = 'key pairs of servers that leave their cell'
        self.assertEqual(('lost', False), self.needs(report)[what])
        finding = self.finding(report, 'cells-keys')
        self.assertIn('has microversion 2.79', finding['text'])
        self.assertIn('cell_keys_kept = true', finding['mend'])
        conf = self.conf(cell_keys_kept='true')
        report = self.asked('--config-file', conf)
        self.assertEqual(('kept', True), self.needs(report)[what])
        self.assertNotIn('cells-keys', self.found(report))


class TestAggregates(CellsTestCase):
    def multiplied(self, value: str) -> None:
        """The aggregates, one with a multiplier of its own."""
        rows = []
        for cell, host in (('old', 'a1'), ('new', 'a2')):
            rows.append(
                {
                    'id': len(rows) + 1,
                    'uuid': cell,
                    'name': cell,
                    'hosts': [host],
                    'metadata': {'kronos:cell': cell},
                    'availability_zone': None,
                }
            )
        rows[0]['hosts'].append('a3')
        rows[1]['metadata']['cross_cell_move_weight_multiplier'] = value
        self.aggregates(*rows)

    def asked_of(self, value: str) -> tuple[dict[str, str], tuple[str, bool]]:
        self.multiplied(value)
        report = self.check(
            '--cells', '--config-file', self.conf(aggregates='old')
        )
        what = 'cross_cell_move_weight_multiplier of aggregate new'
        result = self.found(report)
        return result, self.needs(report)[what]

    def test_multiplier(self) -> None:
        found, need = self.asked_of('2.5')
        self.assertNotIn('cells-weigher', found)
        self.assertEqual(('2.5', True), need)

    def test_the_wrong_way_round(self) -> None:
        found, need = self.asked_of('-1')
        self.assertEqual('warning', found['cells-weigher'])
        self.assertEqual(('-1', False), need)

    def test_no_number(self) -> None:
        found, need = self.asked_of('much')
        self.assertEqual('warning', found['cells-weigher'])
        self.assertEqual(('no number', False), need)
