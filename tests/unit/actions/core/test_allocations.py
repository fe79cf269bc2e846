# SPDX-License-Identifier: Apache-2.0
"""Is it told what Placement holds when a server was evacuated meanwhile?"""

from kronos.common import exceptions
from kronos.engine import faults
from tests.fakes.small_cloud import state
from tests.unit.actions.live import base

EVACUATION = 'e0000000-0000-0000-0000-000000000001'
ROOM = {'VCPU': 1, 'MEMORY_MB': 1024}


class EvacuationTestCase(base.MoveTestCase):
    """A host dies while, or right after, a server moves from h1 to h2."""

    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 5
        self.instance.script = ('running',) * 2000
        self.holders = {}
        real = self.cloud.allocations

        def read():
            allocations = real()
            if self.holders:
                allocations[base.UUID] = self.holders
            return allocations

        self.cloud.allocations = read

    def evacuate(self, source, destination, *held, at=3, ends='running'):
        """At one look at its migration, an operator evacuates it.

        :param held: hosts that hold room for it from then on
        :param ends: status of the live migration from then on
        """
        looks = iter(range(1, 100_000))

        def look(migration):
            if next(looks) == at:
                self.instance.host = destination
                self.instance.task_state = None
                migration.script[:] = [ends] * 2000
                self.holders = dict.fromkeys(held, ROOM)
                self.cloud.cold_migrations.append(
                    self.row(source, destination)
                )

        self.cloud.on_look = look

    def row(self, source, destination):
        return {
            'id': 99,
            'uuid': EVACUATION,
            'instance_uuid': base.UUID,
            'status': 'done',
            'migration_type': 'evacuation',
            'source_compute': source,
            'dest_compute': destination,
            'created_at': state.stamp(1),
            'updated_at': state.stamp(1),
        }

    def ended(self):
        error = self.assertRaises(exceptions.KronosException, self.run_move)
        return f'[{faults.of_error(error)}] {error}'

    def test_its_source_died(self):
        """Room is left at the destination of the move, too."""
        self.evacuate('h1', 'h3', 'h2', 'h3')
        text = self.ended()
        self.assertIn(
            '[source_failed] the server was evacuated from h1 to h3 '
            'meanwhile; the instance is ACTIVE on h3; Placement has its '
            'allocations on h2.example.org and h3.example.org: "nova-manage '
            f'placement heal_allocations --instance {base.UUID} --force" '
            'corrects them',
            text,
        )

    def test_nova_gives_the_room_of_the_dead_host_back(self):
        """When that is up again: there is nothing to do."""
        self.evacuate('h1', 'h3', 'h1', 'h3', ends='error')
        self.assertEqual(
            '[source_failed] the server was evacuated from h1 to h3 '
            'meanwhile; the instance is ACTIVE on h3',
            self.ended(),
        )

    def test_its_destination_died_right_after(self):
        self.evacuate('h2', 'h3', 'h2', 'h3', ends='completed')
        self.assertEqual(
            '[destination_failed] the server was evacuated from h2 to h3 '
            'meanwhile; the instance is ACTIVE on h3',
            self.ended(),
        )

    def test_to_the_destination_of_the_move(self):
        """It is there, but no migration brought it: its guest was lost."""
        self.evacuate('h1', 'h2')
        self.cloud.services['h1']['state'] = 'up'
        self.assertIn(
            '[source_failed] the server was evacuated from h1 to h2 meanwhile',
            self.ended(),
        )

    def test_the_room_of_the_migration_is_left(self):
        self.evacuate('h1', 'h3')
        real = self.cloud.allocations

        def read():
            allocations = real()
            if self.instance.host == 'h3':
                allocations[self.cloud.migrations[0].uuid] = {'h1': ROOM}
            return allocations

        self.cloud.allocations = read
        self.assertIn(
            'Placement still has allocations for its migration on '
            'h1.example.org: "openstack resource provider allocation delete '
            'b0000000-0000-0000-0000-000000000001" releases them',
            self.ended(),
        )

    def test_long_before_the_move(self):
        """That says nothing of it."""
        self.cloud.cold_migrations.append(self.row('h9', 'h2'))
        self.instance.script = ('running', 'completed')
        self.assertEqual('', self.run_move())
        self.instance.host = 'h1'

        def stray(migration):
            self.instance.host = 'h1'

        self.cloud.cold_migrations[0] = self.row('h9', 'h1')
        self.cloud._reach = stray
        self.instance.task_state = None
        self.assertIn('[inconsistent]', self.ended())
