# SPDX-License-Identifier: Apache-2.0
"""The action kronos_restart_server: it starts a server that failed again."""

import time
from collections.abc import Mapping
from typing import Any

from oslo_log import log as logging
from watcher import conf, objects
from watcher.common import context

from kronos.actions.core import watcher_action
from kronos.actions.core.task import MigrationTask
from kronos.actions.core.watcher_action import NAME, SEQUENCE, TEXT, UUID
from kronos.actions.restart import run
from kronos.clients.nova.server_power import ServerPower
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.settings import HostMatch
from kronos.engine.types import MigrationPhase
from kronos.snapshots import failures, watcher_actions
from kronos.watcher_db import lock

LOG = logging.getLogger(__name__)
CONF = conf.CONF


class RestartServer(watcher_action.KronosAction):
    """Stop and start a server that failed, on its host or on another.

    Never one that somebody else stopped, that is locked, or that runs. Once
    it has stopped a server it starts it, also if its plan is cancelled.
    """

    def __init__(self, config: Any, osc: Any = None) -> None:
        super().__init__(config, osc)
        self._own_restart: run.ServerRestart | None = None
        self._recovery = {'stop': '', 'migrate': ''}
        """Ids of the requests by which it has acted."""

    @property
    def schema(self) -> dict[str, Any]:
        return {
            'type': 'object',
            'properties': {
                'resource_id': UUID,
                'resource_name': TEXT,
                'aggregate': NAME,
                'sequence': SEQUENCE,
                'source_node': NAME,
                'destination_node': NAME,
                'attempt': {'type': 'integer', 'minimum': 1},
                'failure': TEXT,
                'failed_at': {'type': 'number', 'minimum': 0},
                'stopped': TEXT,
                'reason': TEXT,
                watcher_actions.RECOVERY: {'type': 'object'},
                'action_uuid': UUID,
                'action_plan_uuid': UUID,
                'audit_uuid': UUID,
            },
            'required': [
                'resource_id',
                'aggregate',
                'source_node',
                'destination_node',
                'failed_at',
            ],
            'additionalProperties': False,
        }

    def get_description(self) -> str:
        return (
            'Start a server again that failed: on its host, or on another '
            'that was chosen by Kronos, after a cold migration.'
        )

    def _begin(self) -> None:
        self._restart().check()

    def _carry_out(self) -> str:
        return self._restart().carry_out()

    def revert(self) -> None:
        """Leave the server as it is: it runs, or the next audit sees to it."""
        LOG.info('The restart of %s is not taken back', self.resource_id)

    def _restart(self) -> run.ServerRestart:
        """The restart; the same one for all that Watcher calls.

        :raises KronosException: an option of Kronos is not valid, or
            Keystone does not lead to Nova or Placement
        """
        if self._own_restart is None:
            clients = self._clients()
            nova = clients.nova()
            self._own_restart = run.ServerRestart(
                _settings(self.input_parameters, CONF.kronos),
                run.RestartContext(
                    nova=nova,
                    power=ServerPower(nova.api),
                    placement=clients.placement(),
                    failures=self._failures,
                    acts=lambda request: self._mark(stop=request),
                    moves=lambda request: self._mark(migrate=request),
                    exclusions=self._exclusions(),
                ),
                self._patience(),
            )
        return self._own_restart

    def _failures(self) -> Mapping[str, float]:
        kronos = CONF.kronos
        found = failures.of_servers(
            self._prometheus(),
            kronos.server_fault_query,
            [self.input_parameters['source_node']],
            HostMatch(kronos.host_match),
        )
        return {uuid: one.at for uuid, one in found.items()}

    def _mark(self, **requests: str) -> None:
        """Write down that it acts: the next audits count it.

        :param requests: ids, by ``stop`` and ``migrate``
        :raises TurnUnknown: the database does not take it, so nothing is done
        """
        self._recovery |= requests
        uuid = self.input_parameters.get('action_uuid')
        if not uuid:
            return
        told = {'at': time.time(), **self._recovery}
        try:
            lock.write(lambda: _write(uuid, told), self._writes)
        except Exception as error:
            raise faults.error(
                Fault.WATCHER_ERROR,
                "Watcher's database does not take that the server is "
                f'restarted: {lock.reason(error)}',
            ) from error


def _write(uuid: str, told: dict[str, Any]) -> None:
    row = objects.Action.get_by_uuid(
        context.make_context(is_admin=True), uuid, eager=True
    )
    row.input_parameters = {
        **row.input_parameters,
        watcher_actions.RECOVERY: told,
    }
    row.save()


def _settings(told: Mapping[str, Any], kronos: Any) -> run.RestartSettings:
    resources = ['VCPU', 'MEMORY_MB']
    if kronos.check_disk:
        resources.append('DISK_GB')
    return run.RestartSettings(
        task=MigrationTask(
            instance=told['resource_id'],
            source=told['source_node'],
            destination=told['destination_node'],
            phase=MigrationPhase.EVACUATE,
            aggregate=told['aggregate'],
            name=told.get('resource_name', ''),
        ),
        failed_at=told['failed_at'],
        stopped=told.get('stopped', ''),
        timeout=kronos.restart_timeout,
        poll_interval=kronos.migration_poll_interval,
        preflight_wait=kronos.preflight_wait,
        resources=resources,
        require_headroom=kronos.require_headroom,
    )
