# SPDX-License-Identifier: Apache-2.0
"""Is it looked whether what a move failed of is still so?"""

from collections.abc import Sequence
from typing import ClassVar

from kronos.engine import faults
from kronos.engine.types import Event, Host, Instance, Origin, Outcome
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.past import lasting_faults
from kronos.snapshots.scopes import Cloud
from tests.unit.actions.live import base


class TestFaults(base.MoveTestCase):
    SIZE: ClassVar = {'VCPU': 1, 'MEMORY_MB': 1024}

    def setUp(self) -> None:
        super().setUp()
        self.one = Instance(base.UUID, 'h1')
        self.host = Host('h1', node='h1.example.org')

    def note(self, events: Sequence[Event] | None = None) -> list[str] | None:
        """The nodes that hold it, if they are wrong."""
        lasting_faults.note(
            self.placement,
            CloudInventory(
                Cloud({'h1': self.host}, {}, []),
                {},
                [self.one],
                events=[self.failed()] if events is None else list(events),
            ),
        )
        return self.one.misallocated_on

    @staticmethod
    def failed(fault: str = 'instance_allocations') -> Event:
        return Event(
            base.UUID,
            'h1',
            'h2',
            Outcome.FAILED,
            900.0,
            Origin.WATCHER,
            error_type='PreFlightError',
            fault=fault,
        )

    def test_each_fault_that_lasts(self) -> None:
        self.assertEqual(
            {fault for fault, row in faults.TABLE.items() if row.lasts},
            {*lasting_faults.LOOKS},
        )

    def test_is_still_so(self) -> None:
        self.cloud.leftovers[base.UUID] = {'h3': self.SIZE}
        self.assertEqual(['h1.example.org', 'h3.example.org'], self.note())

    def test_nothing_is_held(self) -> None:
        self.cloud.swapped = {base.UUID: {}}
        self.assertEqual([], self.note())

    def test_is_mended(self) -> None:
        self.assertIsNone(self.note())
        self.assertNotEqual([], self.cloud.calls)

    def test_others_cost_nothing(self) -> None:
        self.cloud.leftovers[base.UUID] = {'h3': self.SIZE}
        for events in ([], [self.failed('migration_failed')]):
            self.assertIsNone(self.note(events))
        self.assertEqual([], self.cloud.calls)

    def test_one_that_is_busy(self) -> None:
        """Whoever moves it holds room at both ends."""
        self.cloud.leftovers[base.UUID] = {'h3': self.SIZE}
        self.one.task_state = 'migrating'
        self.assertIsNone(self.note())

    def test_host_that_is_not_known(self) -> None:
        self.cloud.leftovers[base.UUID] = {'h3': self.SIZE}
        self.host.node = ''
        self.assertIsNone(self.note())

    def test_placement_is_away(self) -> None:
        self.cloud.down.add(('GET', '/placement'))
        self.assertIsNone(self.note())

    def test_too_many(self) -> None:
        self.patch(lasting_faults, 'MOST', 0)
        self.cloud.leftovers[base.UUID] = {'h3': self.SIZE}
        self.assertIsNone(self.note())
