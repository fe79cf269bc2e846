# SPDX-License-Identifier: Apache-2.0
"""The documented way to delete a hidden copy of a server from a cell."""

import fixtures
from nova import context, exception, objects
from nova.cmd import manage

from tests import documented
from tests.functional.nova import base

SCRIPT = 'delete_hidden_copy.py'
OLD, NEW = 'cell1', 'cell2'


class TestHiddenCopy(base.NovaTestCase):
    """What a conductor leaves that dies while it moves a server."""

    NUMBER_OF_CELLS = 2
    hosts = ()

    def setUp(self) -> None:
        super().setUp()
        self._start_compute('host1', cell_name=OLD)
        self._start_compute('host2', cell_name=NEW)
        self.uuid = self.boot('host1')['id']
        self.useFixture(
            fixtures.MonkeyPatch('nova.config.parse_args', self.parsed)
        )
        self.copy()

    def parsed(self, arguments: list[str], init_rpc: bool) -> None:
        """Nova's own; the configuration of the test is there already."""
        self.assertEqual((['nova-manage'], False), (arguments, init_rpc))

    def copy(self) -> None:
        """Write a hidden row of the server into the other cell."""
        with self.cell(OLD) as inside:
            living = objects.Instance.get_by_uuid(
                inside, self.uuid, expected_attrs=['flavor', 'metadata']
            )
        with self.cell(NEW) as inside:
            copy = objects.Instance(
                inside,
                uuid=self.uuid,
                host='host2',
                hidden=True,
                project_id=living.project_id,
                user_id=living.user_id,
                flavor=living.flavor,
                system_metadata={'a': 'b'},
                metadata={'c': 'd'},
            )
            copy.create()

    def cell(self, name: str) -> context.target_cell:
        admin = context.get_admin_context()
        return context.target_cell(admin, self.cell_mappings[name])

    def is_in(self, name: str) -> bool:
        """Whether the database of a cell has a row of the server."""
        with self.cell(name) as inside:
            inside = inside.elevated(read_deleted='yes')
            try:
                objects.Instance.get_by_uuid(inside, self.uuid)
            except exception.InstanceNotFound:
                return False
            return True

    def run_script(self, cell: str) -> None:
        arguments = [SCRIPT, cell, self.uuid]
        self.useFixture(fixtures.MonkeyPatch('sys.argv', arguments))
        exec(documented.scripts()[SCRIPT], {'__name__': '__main__'})

    def test_copy_goes_and_the_server_stays(self) -> None:
        self.assertTrue(self.is_in(NEW))
        self.run_script(NEW)
        self.assertFalse(self.is_in(NEW))
        [server] = self.nova.list_instances()
        self.assertEqual(
            (self.uuid, 'host1', 'ACTIVE'),
            (server.uuid, server.host, server.status),
        )
        admin = context.get_admin_context()
        objects.RequestSpec.get_by_instance_uuid(admin, self.uuid)

    def test_server_itself_is_refused(self) -> None:
        error = self.assertRaises(SystemExit, self.run_script, OLD)
        self.assertIn('lives in cell cell1', str(error.code))
        self.assertTrue(self.is_in(OLD) and self.is_in(NEW))

    def test_what_lives_is_no_copy_although_it_is_hidden(self) -> None:
        """Nova hides the row that is not the newer one, before it maps it."""
        with self.cell(OLD) as inside:
            living = objects.Instance.get_by_uuid(inside, self.uuid)
            living.hidden = True
            living.save()
        self.assertRaises(SystemExit, self.run_script, OLD)
        self.assertTrue(self.is_in(OLD))

    def test_a_copy_that_is_archived_takes_the_server_with_it(self) -> None:
        """So nobody is told to do that."""
        admin = context.get_admin_context()
        with self.cell(NEW) as inside:
            objects.Instance.get_by_uuid(inside, self.uuid).destroy()
        objects.InstanceMapping.get_by_instance_uuid(admin, self.uuid)
        self.assertEqual(
            1, manage.DbCommands().archive_deleted_rows(all_cells=True)
        )
        self.assertRaises(
            exception.InstanceMappingNotFound,
            objects.InstanceMapping.get_by_instance_uuid,
            admin,
            self.uuid,
        )
