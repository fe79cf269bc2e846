# SPDX-License-Identifier: Apache-2.0
"""Do servers leave their cell in the right order, to where there is room?"""

import random
from typing import Any

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.types import (
    AggregateResult,
    ServerGroup,
    Snapshot,
    StopReason,
)
from kronos.extensions.cells.cell_drain import CellPhase, MoveOrder
from kronos.policies.models import Mode
from tests.builders import cells, scopes
from tests.builders.cells import CPU, NEW, OLD, server, stopped


def run(snapshot: Snapshot, **drain: Any) -> AggregateResult:
    return propose([snapshot], [CPU], cells.settings(**drain)).scopes[0]


class TestOrder(base.BaseTestCase):
    def moved(self, order: MoveOrder) -> list[str]:
        disk = {'root_gb': 50, 'disk_gb': 50}
        servers = [
            server('big', 'o1', **disk),
            server('small', 'o2'),
            server('volume', 'o2', is_volume_backed=True, root_gb=50),
            stopped('off', 'o2', **disk),
            stopped('off-volume', 'o1', is_volume_backed=True),
        ]
        result = run(cells.cells(servers), order=order)
        return [step.instance for step in result.steps]

    def test_safest(self) -> None:
        """Stopped ones, then those on volumes, then small disks."""
        self.assertEqual(
            ['off-volume', 'off', 'volume', 'small', 'big'],
            self.moved(MoveOrder.SAFEST),
        )

    def test_hosts(self) -> None:
        self.assertEqual(
            ['off-volume', 'big', 'off', 'volume', 'small'],
            self.moved(MoveOrder.HOSTS),
        )


class TestDestination(base.BaseTestCase):
    def test_evenly(self) -> None:
        """Each to the host that is the least full by then."""
        servers = [server(f'v{n}', OLD[n % 2]) for n in range(6)]
        result = run(cells.cells(servers))
        self.assertEqual(StopReason.DONE, result.stopped)
        self.assertEqual({'cell_drain'}, {s.phase.value for s in result.steps})
        ends = sorted(step.destination for step in result.steps)
        self.assertEqual(['n1', 'n1', 'n2', 'n2', 'n3', 'n3'], ends)

    def test_fullest_first(self) -> None:
        cpu = CPU.model_copy(
            update={
                'mode': Mode.PACK,
                'capacity_query': 'up',
                'capacity_threshold': 0.46,
            }
        )
        there = [server('there', 'n2'), server('there too', 'n1')]
        servers = [server(f'v{n}', OLD[n % 2]) for n in range(4)]
        snapshot = cells.cells([*servers, *there], cpu)
        readings = snapshot.readings['cpu']
        readings.imbalance.samples[3].value = 0.35
        readings.capacity = readings.imbalance
        settings = cells.settings()
        [result] = propose([snapshot], [cpu], settings).scopes
        ends = [step.destination for step in result.steps]
        self.assertEqual(['n2', 'n2', 'n1', 'n1'], ends)

    def test_no_room(self) -> None:
        """Until the move is confirmed, room is held on both hosts."""
        snapshot = cells.cells([server('a', memory_mb=8192), server('b')])
        for name in NEW:
            scopes.give_room(snapshot, {name: {'VCPU': 9, 'MEMORY_MB': 4096}})
        result = run(snapshot)
        self.assertEqual(['b'], [step.instance for step in result.steps])
        self.assertIn('8192 MEMORY_MB', result.stayed['a'])

    def test_ceilings(self) -> None:
        servers = [server(f'v{n}', 'o1') for n in range(4)]
        usages = dict.fromkeys((one.uuid for one in servers), 0.4)
        snapshot = cells.cells(servers, **usages)
        settings = cells.settings()
        settings.drain_may_exceed_threshold = True
        [result] = propose([snapshot], [CPU], settings).scopes
        self.assertEqual(3, len(result.steps))
        self.assertEqual(StopReason.STUCK, result.stopped)

    def test_budget(self) -> None:
        servers = [server(f'v{n}', 'o1') for n in range(4)]
        result = run(cells.cells(servers), max_migrations=2)
        self.assertEqual(2, len(result.steps))
        self.assertEqual(StopReason.BUDGET, result.stopped)

    def test_a_source_that_is_down(self) -> None:
        """Nova refuses a move from there; what is elsewhere leaves."""
        snapshot = cells.cells([server('a', 'o1'), server('b', 'o2')])
        assert snapshot.services is not None
        snapshot.services['o1'].state = 'down'
        result = run(snapshot, close_source=True)
        self.assertEqual(['b'], [step.instance for step in result.steps])
        self.assertEqual({'o1': 'nova-compute is down'}, result.not_drained)
        self.assertIn('nova-compute is down', result.stayed['a'])
        [warning] = [one for one in result.warnings if 'o1' in one]
        self.assertIn('its 1 instance cannot leave the cell', warning)
        self.assertEqual(['o2'], [one.host for one in result.closings])

    def test_a_host_without_a_service(self) -> None:
        snapshot = cells.cells([server('a', 'o1')])
        assert snapshot.services is not None
        del snapshot.services['o2']
        self.assertEqual(1, len(run(snapshot, close_source=True).steps))

    def test_groups_across_cells(self) -> None:
        """Anti-affinity counts the hosts of all cells; soft ones yield."""
        servers = [server(f'v{n}', 'o1') for n in range(3)]
        snapshot = cells.cells([*servers, server('there', 'n1')])
        apart = ['v0', 'v1', 'there']
        snapshot.groups = [
            ServerGroup('g', 'anti-affinity', apart),
            ServerGroup('s', 'soft-affinity', ['v0', 'v2']),
        ]
        result = run(snapshot)
        ends = {step.instance: step.destination for step in result.steps}
        self.assertEqual({'v0', 'v1', 'v2'}, ends.keys())
        self.assertEqual({'n2', 'n3'}, {ends['v0'], ends['v1']})


class TestProperties(base.BaseTestCase):
    def test_random(self) -> None:
        """Only from the source to a target, and no ceiling is broken."""
        for seed in range(200):
            rng = random.Random(seed)
            servers = [
                rng.choice((server, stopped))(
                    f'v{n}',
                    rng.choice((*OLD, *NEW)),
                    memory_mb=rng.choice((512, 8192)),
                )
                for n in range(rng.randrange(1, 30))
            ]
            usages = {one.uuid: rng.uniform(0, 0.3) for one in servers}
            snapshot = cells.cells(servers, **usages)
            result = run(snapshot, max_migrations=rng.randrange(1, 40))
            load = dict.fromkeys(NEW, 0.3)
            for step in result.steps:
                self.assertIs(CellPhase.CELL_DRAIN, step.phase)
                self.assertIn(step.source, OLD)
                load[step.destination] += usages[step.instance]
            self.assertLessEqual(max(load.values()), 0.9 + 1e-9, seed)
            moved = {step.instance for step in result.steps}
            self.assertEqual(
                snapshot.instances.keys() - moved, result.stayed.keys()
            )
