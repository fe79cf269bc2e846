# SPDX-License-Identifier: Apache-2.0
"""Does the client count the slots that Nova and Placement show?"""

import csv
import io

from kronos.engine.types import UNASSIGNED
from kronos.osc import slot_rows
from tests.fakes.keystone import PLACEMENT
from tests.unit.clients.nova import test_client
from tests.unit.osc import test_page
from tests.unit.osc.slot_clouds import SlotTestCase


class TestSlots(SlotTestCase):
    def test_the_page(self) -> None:
        """What the page of the client shows is what is printed."""
        ran = 0
        for words, output in test_page.examples():
            if words[0] == 'slots':
                is_closed = '--by-host' in words
                self.services['c2'] = 'disabled' if is_closed else 'enabled'
                code, out, err = self.run_client(*words)
                self.assertEqual((0, ''), (code, err))
                self.assertEqual(output, out.strip())
                ran += 1
        self.assertEqual(2, ran)

    def test_scopes(self) -> None:
        """By hand: 40 and 9 free CPUs are 2 + 0 slots of 16, and 49 are 3."""
        self.assertEqual(
            [
                dict(zip(slot_rows.SCOPES, row, strict=True))
                for row in (
                    ('a', 'f16', 2, 3, 1),
                    (UNASSIGNED, 'f16', 1, 1, 1),
                )
            ],
            self.told('slots', '--flavor', 'f16'),
        )

    def test_one_aggregate(self) -> None:
        rows = self.told('slots', '--flavor', 'f4', 'f16', '--aggregate', 'a')
        self.assertEqual(
            [('a', 'f4', 10), ('a', 'f16', 2)],
            [(row['Scope'], row['Flavor'], row['Slots']) for row in rows],
        )

    def test_hosts(self) -> None:
        self.services['c2'] = 'disabled'
        rows = self.told('slots', '--by-host', '--flavor', 'f4')
        self.assertEqual([*slot_rows.HOSTS], [*rows[0]])
        self.assertEqual(
            [('c1', 8), ('c2', 0), ('c3', 4)],
            [(row['Host'], row['Slots']) for row in rows],
        )
        self.assertEqual('', rows[0]['Reason'])
        self.assertIn('disabled', rows[1]['Reason'])

    def test_disk(self) -> None:
        [row, _] = self.told('slots', '--flavor', 'f4', '--check-disk')
        self.assertEqual(2, row['Slots'])

    def test_hypervisor_types(self) -> None:
        kinds = {'c1': 'lxc', 'c2': 'QEMU', 'c3': 'lxc'}
        rows = [test_client.hypervisor(n, k) for n, k in kinds.items()]
        self.wire.get(test_client.HYPERVISORS, json={'hypervisors': rows})
        for options, hosts in (
            ((), {'c2'}),
            (('--hypervisor-type', 'LXC'), {'c1', 'c3'}),
            (('--hypervisor-type', 'lxc', 'qemu'), {'c1', 'c2', 'c3'}),
        ):
            found = self.told('slots', '--by-host', '--flavor', 'f4', *options)
            self.assertEqual(hosts, {row['Host'] for row in found})

    def test_flavors_that_are_not_counted(self) -> None:
        code, out, err = self.run_client('slots', '-f', 'csv')
        self.assertEqual(0, code)
        names, *rows = csv.reader(io.StringIO(out))
        self.assertEqual([*slot_rows.SCOPES], names)
        self.assertEqual({'f16', 'f4'}, {row[1] for row in rows})
        self.assertEqual(1, err.count('\n'), err)
        self.assertIn('Not counted: numa: its extra spec hw:numa_nodes', err)
        self.assertIn('; describe them with --numa-cells AGGREGATE:', err)

    def test_names_that_do_not_exist(self) -> None:
        for arguments, text in (
            (('--flavor', 'f17'), 'Nova has no flavor "f17"; did you mean f1'),
            (('--aggregate', 'b'), 'there is no aggregate "b"; known: a'),
        ):
            self.assertIn(text, self.refused('slots', *arguments))

    def test_a_service_that_refuses(self) -> None:
        """Fails closed: no number is better than a wrong one."""
        for url, service in (
            (f'{PLACEMENT}/resource_providers', 'Placement'),
            (test_client.SERVICES, 'Nova'),
        ):
            self.wire.get(url, status_code=403, json={})
            self.assertIn(
                f"this requires the role of {service}'s administrator",
                self.refused('slots'),
            )

    def test_a_service_that_is_away(self) -> None:
        self.wire.get(
            f'{PLACEMENT}/allocation_candidates', status_code=503, json={}
        )
        text = self.refused('slots')
        self.assertIn('Placement', text)
        self.assertNotIn('Watcher', text)

    def test_each_listing_is_read_once(self) -> None:
        self.told('slots', '--flavor', 'f4')
        paths = [
            request.path
            for request in self.keystone.requests()
            if request.query or request.path.count('/') > 1
        ]
        self.assertEqual(sorted(set(paths)), sorted(paths))
        self.assertNotIn('/v2.1/servers/detail', paths)
