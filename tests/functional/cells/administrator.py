# SPDX-License-Identifier: Apache-2.0
"""An administrator who gives the commands that Kronos names, one by one."""

import re
from collections.abc import Callable
from typing import Any

import fixtures
from nova.cmd import manage

from tests import documented
from tests.functional.cells.two_cells import HOSTS

SCRIPT = 'delete_hidden_copy.py'
DONE = 0
BINDING = re.compile(
    r'# .*of Neutron.*: (PUT|DELETE) /v2.0/ports/(\S+)/bindings/(\w+)'
)


class Administrator:
    """Gives commands to the services of a test.

    :param test: a :class:`.two_cells.TwoCellsTestCase`
    """

    def __init__(self, test: Any) -> None:
        self._test = test
        self._known: dict[str, Callable[..., object]] = {
            r'openstack server set --state (\w+) (\S+)': self._set_state,
            r'openstack server reboot --hard (\S+)': self._reboot,
            r'openstack server start (\S+)': self._start,
            r'openstack server stop (\S+)': self._stop,
            r'openstack server delete (\S+)': test.admin_api.delete_server,
            r'openstack server resize (confirm|revert) (\S+)': self._end,
            r'openstack image delete (\S+)': self._delete_image,
            r'openstack resource provider allocation delete (\S+)': self._free,
            r'nova-manage placement heal_allocations --instance (\S+) '
            r'--force': self._heal,
            r'nova-manage volume_attachment refresh (\S+) (\S+) '
            r'(\w+)\.json': self._connect,
            rf'python3 {SCRIPT} (\w+) (\S+)': self._delete_copy,
        }

    def give(self, commands: list[str]) -> None:
        """Give commands in order, and wait for what each does.

        What is only for Neutron's API is told as a comment.
        """
        for command in commands:
            if binding := BINDING.match(command):
                self._bind(*binding.groups())
            elif not command.startswith('#'):
                self._one(command)

    def _one(self, command: str) -> None:
        for pattern, deed in self._known.items():
            if match := re.fullmatch(pattern, command):
                deed(*match.groups())
                return
        self._test.fail(f'no such command: {command}')

    def _bind(self, method: str, port: str, host: str) -> None:
        neutron = self._test.neutron
        if host not in neutron._port_bindings[port]:
            return
        if method == 'PUT':
            neutron.activate_port_binding(port, host)
        else:
            neutron.delete_port_binding(port, host)

    def _set_state(self, state: str, uuid: str) -> None:
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

    def _end(self, what: str, uuid: str) -> None:
        self._test.act(uuid, f'{what}Resize')

    def _delete_image(self, uuid: str) -> None:
        self._test.glance.delete(None, uuid)

    def _free(self, consumer: str) -> None:
        self._test.placement.delete(f'/allocations/{consumer}')

    def _heal(self, uuid: str) -> None:
        command = manage.PlacementCommands()
        status = command.heal_allocations(instance_uuid=uuid, force=True)
        self._test.assertEqual(DONE, status)

    def _connect(self, uuid: str, volume: str, host: str) -> None:
        self._test.assertIn(host, HOSTS)
        driver = self._test.computes[host].manager.driver
        command = manage.VolumeAttachmentCommands()
        connector = driver.get_volume_connector(None)
        self._test.assertEqual(DONE, command._refresh(uuid, volume, connector))

    def _delete_copy(self, cell: str, uuid: str) -> None:
        """As the guide has it; the configuration is there already."""
        with (
            fixtures.MonkeyPatch('sys.argv', [SCRIPT, cell, uuid]),
            fixtures.MonkeyPatch(
                'nova.config.parse_args', lambda *args, **kwargs: None
            ),
        ):
            exec(documented.scripts()[SCRIPT], {'__name__': '__main__'})
