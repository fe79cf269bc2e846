# SPDX-License-Identifier: Apache-2.0
"""What may go wrong in a move to another cell, made to go wrong.

Each is a context: what fails does so inside of it, and no more afterwards.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import sqlalchemy
from nova import context, exception, objects
from nova.compute import api, rpcapi
from nova.conductor.tasks import cross_cell_migrate
from nova.db.main import api as db
from nova.tests import fixtures as nova_fixtures
from oslo_messaging import exceptions as messaging

from tests.functional.cells import two_cells

PREP_AT_DEST = 'prep_snapshot_based_resize_at_dest'
CONDUCTOR_STEPS = {
    'resize_prep': '_prep_resize_at_source',
    'resize_migrated': '_finish_resize_at_dest',
}
"""What nova-conductor would have done next, by the task that stays."""


class _Killed(BaseException):
    """Passes by all that Nova does about exceptions."""


class BrokenEndsTestCase(two_cells.TwoCellsTestCase):
    """Provokes what :mod:`kronos.extensions.cells.actions.repair` is for."""

    def driver(self, host: str) -> Any:
        return self.computes[host].manager.driver

    def failing(self, host: str, method: str) -> Any:
        """A method of a host's driver that fails."""
        return mock.patch.object(
            self.driver(host),
            method,
            side_effect=exception.HypervisorUnavailable(host=host),
        )

    @contextlib.contextmanager
    def before(
        self, host: str, method: str, deed: Callable[[], object]
    ) -> Iterator[None]:
        """Do something right before a host's driver does something, once."""
        real = getattr(self.driver(host), method)
        deeds = [deed]

        def act(*args: Any, **kwargs: Any) -> Any:
            if deeds:
                deeds.pop()()
            return real(*args, **kwargs)

        with mock.patch.object(self.driver(host), method, side_effect=act):
            yield

    def scheduler_refuses(self) -> Any:
        """No filter passes any host."""
        return mock.patch(
            'nova.scheduler.host_manager.HostManager.get_filtered_hosts',
            return_value=[],
        )

    def claim_fails(self, host: str) -> Any:
        """The destination finds that it has no room."""
        return mock.patch.object(
            self.computes[host].manager.rt,
            'resize_claim',
            side_effect=exception.ComputeResourcesUnavailable(
                reason='NUMA cells are full'
            ),
        )

    def binding_fails(self) -> Any:
        """No port can be bound to the destination."""
        return mock.patch(
            'nova.network.neutron.API.bind_ports_to_host',
            side_effect=exception.PortBindingFailed(port_id='any'),
        )

    def preparation_times_out(self) -> Any:
        """The destination does not answer."""
        return mock.patch.object(
            rpcapi.ComputeAPI,
            PREP_AT_DEST,
            side_effect=messaging.MessagingTimeout(),
        )

    def power_off_fails(self, host: str) -> Any:
        return self.failing(host, 'power_off')

    def snapshot_fails(self, host: str) -> Any:
        return self.failing(host, 'snapshot')

    def destroy_fails(self, host: str) -> Any:
        return self.failing(host, 'destroy')

    def spawn_fails(self, host: str) -> Any:
        return self.failing(host, 'spawn')

    @contextlib.contextmanager
    def spawns_otherwise(self, host: str) -> Iterator[None]:
        """What ran is stopped there, and what was stopped runs."""
        real = self.driver(host).spawn

        def spawn(*args: Any, power_on: bool = True, **kwargs: Any) -> None:
            real(*args, power_on=not power_on, **kwargs)

        with mock.patch.object(self.driver(host), 'spawn', side_effect=spawn):
            yield

    def volumes_fail(self, host: str) -> Any:
        """The destination does not connect any volume."""
        return mock.patch.object(
            self.computes[host].manager,
            '_prep_block_device',
            side_effect=exception.VolumeAttachFailed(
                volume_id='any', reason='no path to it'
            ),
        )

    def cleanup_fails(self, host: str) -> Any:
        """The source cannot be cleaned when a move is confirmed."""
        return self.failing(host, 'cleanup')

    def return_fails(self, host: str) -> Any:
        """The source does not bring the guest back."""
        return self.failing(host, 'finish_revert_migration')

    @contextlib.contextmanager
    def database_down(self, cell: str) -> Iterator[None]:
        """The database of a cell answers nobody."""
        mapping = self.cell_mappings[cell]
        with context.target_cell(context.get_admin_context(), mapping) as own:
            engine = db.get_engine(context=own)

        def refuse(*args: Any) -> None:
            raise sqlite3.OperationalError('the database is away')

        sqlalchemy.event.listen(engine, 'before_cursor_execute', refuse)
        try:
            yield
        finally:
            sqlalchemy.event.remove(engine, 'before_cursor_execute', refuse)

    @contextlib.contextmanager
    def confirmed_in_vain(self, cell: str, times: int) -> Iterator[None]:
        """The database of a cell is away whenever a move is confirmed.

        :param times: how often; it answers again afterwards
        """
        real, left = api.API.confirm_resize, [None] * times

        def confirm(*args: Any, **kwargs: Any) -> Any:
            if not left:
                return real(*args, **kwargs)
            with self.database_down(cell):
                try:
                    return real(*args, **kwargs)
                except Exception:
                    left.pop()
                    raise

        with mock.patch.object(api.API, 'confirm_resize', confirm):
            yield
        self.assertEqual([], left)

    @contextlib.contextmanager
    def conductor_dies(self, task: str) -> Iterator[None]:
        """nova-conductor dies while a server has a task.

        It does nothing more, and undoes nothing; another one, for all that
        comes later, is there.
        """
        died, is_over = threading.Event(), threading.Event()

        def die(*args: Any, **kwargs: Any) -> None:
            died.set()
            is_over.wait()
            raise _Killed

        self.addCleanup(is_over.set)
        self.left_busy = (*self.left_busy, task)
        with mock.patch.object(
            cross_cell_migrate.CrossCellMigrationTask,
            CONDUCTOR_STEPS[task],
            side_effect=die,
        ):
            yield
            # The action may have given up before it came so far.
            self.until('the conductor has died', died.is_set)

    def compute_restarts(self, host: str, uuid: str) -> Any:
        """The source is started anew while the snapshot is taken.

        What the old process was doing goes on, as on the lab's machine.
        """

        def restart() -> None:
            cell = self.cell_mappings[two_cells.HOSTS[host]]
            admin = context.get_admin_context()
            with context.target_cell(admin, cell) as target:
                instance = objects.Instance.get_by_uuid(
                    target,
                    uuid,
                    expected_attrs=['info_cache', 'metadata', 'flavor'],
                )
                self.computes[host].manager._init_instance(target, instance)

        return self.before(host, 'snapshot', restart)

    @contextlib.contextmanager
    def compute_is_down(self, host: str) -> Iterator[None]:
        self.force_down(host)
        try:
            yield
        finally:
            self.force_down(host, False)

    def cell_is_down(self, cell: str) -> Any:
        """The database of a cell does not answer."""
        return nova_fixtures.DownCellFixture([self.cell_mappings[cell]])
