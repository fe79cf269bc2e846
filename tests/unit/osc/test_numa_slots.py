# SPDX-License-Identifier: Apache-2.0
"""Does the client count slots on the NUMA nodes that its user describes?"""

from typing import Any

from tests.fakes.keystone import NOVA
from tests.unit.clients.nova import test_client
from tests.unit.osc.slot_clouds import SlotTestCase

CELLS = 'a:nodes=2,cpus=24,memory_mb=32768'
COUNT = ('slots', '--flavor', 'pinned')


class TestNumaSlots(SlotTestCase):
    """Host c1 has two servers with dedicated CPUs, both on node 1."""

    used = 24

    def setUp(self) -> None:
        super().setUp()
        self.node_of = {'s1': 1, 's2': 1}
        for uuid in self.node_of:
            self.wire.get(f'{NOVA}/servers/{uuid}/topology', json=self._nodes)
        self.wire.get(test_client.SERVERS, json=self._servers)

    def _flavors(self) -> list[Any]:
        rows = super()._flavors()
        specs = {'hw:cpu_policy': 'dedicated'}
        huge = {**specs, 'hw:mem_page_size': 'large'}
        return [
            *rows,
            {**rows[1], 'name': 'pinned', 'extra_specs': specs, 'vcpus': 10},
            {**rows[1], 'name': 'huge', 'extra_specs': huge},
        ]

    def _candidates(self) -> Any:
        resources = {
            'PCPU': {'capacity': 48, 'used': 0},
            'MEMORY_MB': {'capacity': 65536, 'used': 0},
        }
        busy = {**resources, 'PCPU': {'capacity': 48, 'used': self.used}}
        rows = {'c1': busy, 'c2': resources, 'c3': resources}
        return {
            'provider_summaries': {
                name: {'resources': row, 'traits': []}
                for name, row in rows.items()
            }
        }

    def _servers(self, request: Any, context: Any) -> Any:
        rows = [test_client.server(uuid) for uuid in sorted(self.node_of)]
        for row in rows:
            row['OS-EXT-SRV-ATTR:host'] = 'c1'
            specs = {'hw:cpu_policy': 'dedicated'}
            row['flavor'] = {**row['flavor'], 'vcpus': 12} | {
                'extra_specs': specs
            }
        is_busy = request.qs['host'] == ['c1']
        return {'servers': rows if is_busy else []}

    def _nodes(self, request: Any, context: Any) -> Any:
        node = self.node_of[request.path.split('/')[-2]]
        return {
            'nodes': [
                {
                    'vcpu_set': [*range(12)],
                    'memory_mb': 1024,
                    'host_node': node,
                    'cpu_pinning': {str(cpu): cpu for cpu in range(12)},
                }
            ],
            'pagesize_kb': None,
        }

    def slots(self, *words: str) -> dict[str, tuple[int, str]]:
        """Slots and reason by host."""
        rows = self.told(*COUNT, '--by-host', *words)
        return {row['Host']: (row['Slots'], row['Reason']) for row in rows}

    def test_nodes(self) -> None:
        """By hand: 24 free CPUs are 2 slots of 10 on a node, and 48 are 4."""
        unknown = 'no aggregate of it is in numa_cells'
        self.assertEqual(
            {'c1': (2, ''), 'c2': (4, ''), 'c3': (0, unknown)},
            self.slots('--numa-cells', CELLS),
        )
        self.node_of['s2'] = 0
        self.assertEqual((2, ''), self.slots('--numa-cells', CELLS)['c1'])

    def test_what_is_read(self) -> None:
        """Servers of the hosts with cells, and nothing without the option."""
        self.slots('--aggregate', 'a', '--numa-cells', CELLS)
        self.assertEqual(2, len(self.keystone.requests('/topology')))
        self.assertEqual(2, len(self.keystone.requests('/servers/detail')))
        for words in (
            (*COUNT, '--aggregate', 'a'),
            ('slots', '--flavor', 'f4', '--numa-cells', CELLS),
        ):
            self.wire.reset_mock()
            self.assertEqual(0, self.run_client(*words)[0])
            self.assertEqual([], self.keystone.requests('/servers/detail'))

    def test_not_the_whole_truth(self) -> None:
        """A server that is not shown, or one more than Nova shows."""
        self.wire.get(f'{NOVA}/servers/s2/topology', status_code=403)
        slots, reason = self.slots('--numa-cells', CELLS)['c1']
        self.assertEqual(0, slots)
        self.assertEqual(
            'Nova does not show the NUMA topology of server s2', reason
        )

    def test_not_counted(self) -> None:
        for words, remedied in (((), {'numa', 'pinned'}), (('a',), set())):
            cells = ('--numa-cells', CELLS) if words else ()
            _, _, err = self.run_client('slots', *cells)
            lines = err.splitlines()
            self.assertEqual(
                remedied,
                {
                    line.split(': ')[1]
                    for line in lines
                    if 'describe them with --numa-cells' in line
                },
            )
            self.assertIn('Not counted: huge: ', err)

    def test_bad(self) -> None:
        for cells, text in (
            (['a:nodes=2'], "--numa-cells: 'a:nodes=2': it must be AGGREGATE"),
            ([CELLS, CELLS], "aggregate 'a' has two lines"),
            (
                [CELLS.replace('a', 'aa', 1)],
                '--numa-cells: there is no aggregate aa; did you mean a?',
            ),
        ):
            message = self.refused(*COUNT, '--numa-cells', *cells)
            self.assertIn(text, message)
