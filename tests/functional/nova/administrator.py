# SPDX-License-Identifier: Apache-2.0
"""An administrator who gives the commands that Kronos names, one by one."""

import re
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from nova import context
from nova.cmd import manage
from nova.db.main import api as database

CELL = re.compile(r'cell (\w+)')
HEALED = 0


class Administrator:
    """Gives commands to the Nova, the Placement and the databases of a test.

    :param test: a :class:`.two_cells.TwoCellsTestCase`
    """

    def __init__(self, test: Any) -> None:
        self._test = test
        self._cell = ''
        self._known: list[tuple[str, Callable[..., object]]] = [
            (
                r'openstack server set --state (\w+) (\S+)',
                lambda state, uuid: self._set_state(uuid, state),
            ),
            (r'openstack server reboot --hard (\S+)', self._reboot),
            (r'openstack server start (\S+)', self._start),
            (r'openstack server stop (\S+)', self._stop),
            (
                r'openstack server resize (confirm|revert) (\S+)',
                lambda what, uuid: test.act(uuid, f'{what}Resize'),
            ),
            (
                r'openstack resource provider allocation delete (\S+)',
                lambda uuid: test.placement.delete(f'/allocations/{uuid}'),
            ),
            (
                r'nova-manage placement heal_allocations --instance (\S+) '
                r'--force',
                self._heal,
            ),
            (
                r'nova-manage db archive_deleted_rows --until-complete',
                self._archive,
            ),
            (r'SELECT (?s:.*)', lambda: None),
            (r'(UPDATE (?s:.*));', self._execute),
        ]

    def give(self, commands: list[str]) -> None:
        """Give commands in order, and wait for what each does.

        A comment tells the cell that the next ones are for.
        """
        for command in '\n'.join(commands).replace('\n  ', ' ').split('\n'):
            if command.startswith('#'):
                found = CELL.search(command)
                self._cell = found[1] if found else self._cell
                continue
            if command:
                self._one(command)

    def _one(self, command: str) -> None:
        for pattern, deed in self._known:
            if match := re.fullmatch(pattern, command):
                deed(*match.groups())
                return
        self._test.fail(f'no such command: {command}')

    def _set_state(self, uuid: str, state: str) -> None:
        self._test.act(uuid, 'os-resetState', {'state': state})
        self._test.is_(uuid, state.upper())

    def _reboot(self, uuid: str) -> None:
        self._test.act(uuid, 'reboot', {'type': 'HARD'})
        self._test.is_(uuid, 'ACTIVE')

    def _start(self, uuid: str) -> None:
        self._test.act(uuid, 'os-start')
        self._test.is_(uuid, 'ACTIVE')

    def _stop(self, uuid: str) -> None:
        self._test.act(uuid, 'os-stop')
        self._test.is_(uuid, 'SHUTOFF')

    def _heal(self, uuid: str) -> None:
        command = manage.PlacementCommands()
        status = command.heal_allocations(instance_uuid=uuid, force=True)
        self._test.assertEqual(HEALED, status)

    def _target(self) -> Any:
        return context.target_cell(
            context.get_admin_context(), self._test.cell_mappings[self._cell]
        )

    def _archive(self) -> None:
        with self._target() as target:
            while any(database.archive_deleted_rows(target, 1000)[0].values()):
                pass

    def _execute(self, statement: str) -> None:
        """Of MariaDB; the cells of tests are of SQLite."""
        here = statement.replace('NOW()', "datetime('now')")
        with self._target() as target:
            engine = database.get_engine(context=target)
            with engine.begin() as connection:
                connection.execute(sa.text(here))
