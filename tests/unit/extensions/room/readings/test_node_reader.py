# SPDX-License-Identifier: Apache-2.0
"""Are NUMA topologies read of the right servers, and bad cells refused?"""

from typing import Any
from unittest import mock

from oslotest import base

from kronos.clients.nova.rows import HostAggregate
from kronos.common.exceptions import ConfigurationError
from kronos.engine.slots.numa_nodes import NodeLayout
from kronos.engine.types import Host
from kronos.extensions.room.numa_cells import NumaCells
from kronos.extensions.room.readings import node_reader
from tests.builders import numa, policies

CELLS = {'pinned': NumaCells(2, 8, 8000)}


class TestFacts(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.requested: list[str] = []
        self.lines: list[str] = []
        reader = mock.Mock(get=self.topology)
        patch = mock.patch.object(
            node_reader, 'ServerTopologies', return_value=reader
        )
        patch.start()
        self.addCleanup(patch.stop)

    def topology(self, uuid: str) -> Any:
        self.requested.append(uuid)
        return None if uuid == 'hidden' else numa.topology([(0, 4)])

    def look(self) -> Any:
        look: Any = mock.Mock(report=self.lines.append)
        look.hosts = {'scope': [Host('a'), Host('b')]}
        look.gathered.cloud.aggregates = [
            HostAggregate(1, 'pinned', hosts=['a', 'elsewhere']),
            HostAggregate(2, 'other', hosts=['a', 'b']),
        ]
        look.gathered.instances = [
            policies.instance(uuid, host, extra_specs=dict(specs))
            for uuid, host, specs in (
                ('shown', 'a', numa.PINNED),
                ('hidden', 'a', numa.PINNED),
                ('plain', 'a', {}),
                ('unplanned', 'elsewhere', numa.PINNED),
                ('without-cells', 'b', numa.PINNED),
            )
        ]
        return look

    def test_read(self) -> None:
        """One request for each server that matters, and no more."""
        facts = node_reader.facts(self.look(), CELLS)
        self.assertEqual({'a': NodeLayout(2, 8, 8000)}, facts.layouts)
        self.assertEqual(['shown', 'hidden'], self.requested)
        self.assertEqual({'shown'}, {*facts.topologies})
        self.assertEqual('a', facts.topologies['shown'].host)
        self.assertEqual(['NUMA topologies of 1 servers'], self.lines)

    def test_not_configured(self) -> None:
        self.assertEqual({}, node_reader.facts(self.look(), {}).layouts)
        self.assertEqual([], self.requested)

    def test_bad(self) -> None:
        for cells, text in (
            ({'pined': CELLS['pinned']}, 'no aggregate pined; did you mean'),
            (
                {**CELLS, 'other': NumaCells(4, 4, 4000)},
                'host a is in pinned and in other, which have different',
            ),
        ):
            error = self.assertRaises(
                ConfigurationError, node_reader.facts, self.look(), cells
            )
            self.assertIn('[kronos] numa_cells: ', str(error))
            self.assertIn(text, str(error))

    def test_same_cells(self) -> None:
        cells = {**CELLS, 'other': CELLS['pinned']}
        facts = node_reader.facts(self.look(), cells)
        self.assertEqual({'a', 'b'}, {*facts.layouts})


class TestConfigured(base.BaseTestCase):
    def test_lines(self) -> None:
        line = 'pinned: nodes=2, cpus=8, memory_mb=8000'
        self.assertEqual(CELLS, node_reader.configured([line]))
        error = self.assertRaises(
            ConfigurationError, node_reader.configured, [line, line]
        )
        self.assertIn('numa_cells: aggregate', str(error))
