# SPDX-License-Identifier: Apache-2.0
"""Audits that empty a cell of a real Nova, until nothing more can leave."""

import pathlib

import fixtures

from tests.functional.cells import cell_runs

# isort: split
from nova.policies import servers as policies

from kronos.engine.planning.propose import propose
from kronos.engine.reasons import Code
from kronos.engine.types import AggregateResult
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.readings.cell_hosts import CellScope
from kronos.extensions.cells.readings.reader import CellReader
from kronos.snapshots.collector import Collector
from kronos.snapshots.scopes import ScopeRequest
from tests.builders import cells as builders
from tests.functional.cells.two_cells import NEW, OLD

ACTION = '00000000-0000-4000-8000-{:012d}'


class TestAudits(cell_runs.CellRunTestCase):
    def audit(self, **drain: object) -> AggregateResult:
        """The plan of an audit that empties the old cell."""
        settings = builders.settings(**drain)
        asked = cell_drain.of(settings)
        assert asked is not None
        asked.source, asked.targets = OLD, [NEW]
        collector = Collector(
            self.nova,
            self.placement_client,
            self.prometheus,
            hypervisor_types=['fake'],
            reader=CellReader(self.sources),
        )
        request = ScopeRequest(chosen=CellScope(OLD, [NEW]))
        found = collector.collect(request, [builders.CPU], settings)
        [result] = propose(found.snapshots, [builders.CPU], settings).scopes
        return result

    def carry_out(self, result: AggregateResult) -> dict[str, str]:
        """Each action of a plan; the faults by server, '' of none."""
        found = {}
        self.marks.clear()
        for number, step in enumerate(result.steps):
            self.plan = self.standing()
            told = self.told(
                step.instance,
                step.destination,
                action_uuid=ACTION.format(number),
            )
            found[step.instance] = self.run_(
                told, hypervisor_types=['fake']
            ).fault
        return found

    def test_a_port_with_a_resource_request(self) -> None:
        """Its server stays by a reason of its own, and the others leave."""
        tied = self.made()
        others = {self.server(), self.server(is_stopped=True)}
        self.request_resources(self.neutron.port_1['id'])
        result = self.audit()
        self.assertIs(Code.CELL_PORT, result.stayed[tied].code)
        self.assertEqual(dict.fromkeys(others, ''), self.carry_out(result))
        result = self.audit()
        self.assertEqual([], result.steps)
        cell = cell_drain.outcome_of(result)
        assert cell is not None
        self.assertEqual([tied], cell.staying)

    def test_nobody_tells_of_the_port(self) -> None:
        """Nova's refusal is that of one server, and the others leave."""
        tied = self.made(is_stopped=True)
        others = {self.server(), self.server()}
        self.request_resources(self.neutron.port_1['id'])
        self.sources.tied_ports = None
        result = self.audit()
        # Stopped ones go first.
        self.assertEqual(tied, result.steps[0].instance)
        self.assertEqual(
            {tied: 'cell_refused'} | dict.fromkeys(others, ''),
            self.carry_out(result),
        )

    def test_a_closed_policy_and_a_new_flavor(self) -> None:
        """Nothing is closed, and Nova is not asked for anything."""
        uuid = self.made()
        self.policy.set_rules(
            {policies.CROSS_CELL_RESIZE: '!'}, overwrite=False
        )
        [small, large] = self.admin_api.get_flavors()[:2]
        drain = {
            'flavor_map': {small['name']: large['name']},
            'close_source': True,
        }
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'p.yaml')
        for text, words in (
            ('', 'set nova_policy_files in [kronos]'),
            ('{}', 'Nova lets no server leave its cell'),
            (
                f'"{policies.CROSS_CELL_RESIZE}": "!"',
                'Nova lets no server leave its cell',
            ),
        ):
            if text:
                path.write_text(text)
                self.sources.policy_files = [str(path)]
            result = self.audit(**drain)
            self.assertEqual(([], []), (result.steps, result.closings))
            self.assertIs(Code.CELL_POLICY, result.stayed[uuid].code)
            self.assertIn(words, result.stayed[uuid])
        path.write_text(f'"{policies.CROSS_CELL_RESIZE}": "rule:admin_api"')
        result = self.audit(**drain)
        self.assertEqual([uuid], [step.instance for step in result.steps])
        self.assertEqual(2, len(result.closings))
