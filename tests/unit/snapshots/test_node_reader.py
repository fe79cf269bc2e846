# SPDX-License-Identifier: Apache-2.0
"""Are NUMA topologies read of the right servers, and bad cells refused?"""

from typing import Any
from unittest import mock

from oslotest import base

from kronos.clients.nova.rows import HostAggregate
from kronos.common.exceptions import ConfigurationError
from kronos.engine.slots.numa_nodes import NodeLayout
from kronos.options.numa_cells import NumaCells
from kronos.snapshots import node_reader
from tests.builders import numa, policies

CELLS = {'pinned': NumaCells(2, 8, 8000)}


class TestLayouts(base.BaseTestCase):
    AGGREGATES = (
        HostAggregate(1, 'pinned', hosts=['a', 'elsewhere']),
        HostAggregate(2, 'other', hosts=['a', 'b']),
    )

    def layouts(self, cells: dict[str, NumaCells]) -> dict[str, NodeLayout]:
        return node_reader.layouts(self.AGGREGATES, cells, ['a', 'b'])

    def test_hosts(self) -> None:
        layout = NodeLayout(2, 8, 8000)
        self.assertEqual({'a': layout}, self.layouts(CELLS))
        both = {**CELLS, 'other': CELLS['pinned']}
        self.assertEqual({'a': layout, 'b': layout}, self.layouts(both))
        self.assertEqual({}, self.layouts({}))

    def test_bad(self) -> None:
        for cells, text in (
            ({'pined': CELLS['pinned']}, 'no aggregate pined; did you mean'),
            (
                {**CELLS, 'other': NumaCells(4, 4, 4000)},
                'host a is in pinned and in other, which have different',
            ),
        ):
            error = self.assertRaises(ConfigurationError, self.layouts, cells)
            self.assertIn('[kronos] numa_cells: ', str(error))
            self.assertIn(text, str(error))


class TestFacts(base.BaseTestCase):
    def test_read(self) -> None:
        """One request for each server that matters, and no more."""
        requested: list[str] = []

        def get(uuid: str) -> Any:
            requested.append(uuid)
            return None if uuid == 'hidden' else numa.topology([(0, 4)])

        servers = [
            policies.instance(uuid, host, extra_specs=dict(specs))
            for uuid, host, specs in (
                ('shown', 'a', numa.PINNED),
                ('hidden', 'a', numa.PINNED),
                ('plain', 'a', {}),
                ('without-cells', 'b', numa.PINNED),
            )
        ]
        unused: Any = None
        with mock.patch.object(
            node_reader, 'ServerTopologies', return_value=mock.Mock(get=get)
        ):
            facts = node_reader.facts(unused, {'a': numa.LAYOUT}, servers)
        self.assertEqual({'a': numa.LAYOUT}, facts.layouts)
        self.assertEqual(['shown', 'hidden'], requested)
        self.assertEqual({'shown'}, {*facts.topologies})
        self.assertEqual('a', facts.topologies['shown'].host)


class TestConfigured(base.BaseTestCase):
    def test_lines(self) -> None:
        line = 'pinned: nodes=2, cpus=8, memory_mb=8000'
        self.assertEqual(CELLS, node_reader.configured([line]))
        error = self.assertRaises(
            ConfigurationError, node_reader.configured, [line, line]
        )
        self.assertIn('numa_cells: aggregate', str(error))
