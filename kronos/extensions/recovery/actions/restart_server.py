# SPDX-License-Identifier: Apache-2.0
"""The plugin kronos_restart_server of Watcher's applier."""

import time
from collections.abc import Mapping
from typing import Any

from oslo_log import log as logging
from watcher import conf

from kronos.actions.core import parameters, watcher_action
from kronos.actions.core.parameters import MigrationTask
from kronos.actions.core.watcher_action import NAME, TEXT, UUID
from kronos.clients.nova.server_power import ServerPower
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.settings import HostMatch
from kronos.engine.types import MigrationPhase
from kronos.extensions.recovery.actions.restart import run
from kronos.extensions.recovery.actions.restart.preflight import (
    RestartContext,
    RestartSettings,
)
from kronos.extensions.recovery.readings import failures, past_restarts
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
        self._recovery = {'stop': '', 'migrate': ''}
        """Ids of the requests by which it has acted."""

    @property
    def schema(self) -> dict[str, Any]:
        return {
            'type': 'object',
            'properties': {
                **watcher_action.PROPERTIES,
                'resource_id': UUID,
                'destination_node': NAME,
                'attempt': {'type': 'integer', 'minimum': 1},
                'failure': TEXT,
                'failed_at': {'type': 'number', 'minimum': 0},
                'stopped': TEXT,
                'reason': TEXT,
                past_restarts.MARK: {'type': 'object'},
            },
            'required': [
                'resource_id',
                'aggregate',
                'source_node',
                'destination_node',
                'failed_at',
            ],
        }

    def get_description(self) -> str:
        return (
            'Start a server again that failed: on its host, or on another '
            'that was chosen by Kronos, after a cold migration.'
        )

    def revert(self) -> None:
        """Leave the server as it is: it runs, or the next audit sees to it."""
        LOG.info('The restart of %s is not taken back', self.resource_id)

    def _make_run(self) -> run.RestartRun:
        clients = self._clients()
        nova = clients.nova()
        return run.RestartRun(
            _settings(self.input_parameters, CONF.kronos),
            RestartContext(
                **vars(self._patience()),
                nova=nova,
                power=ServerPower(nova.api),
                placement=clients.placement(),
                failures=self._failures,
                acts=lambda request: self._mark(stop=request),
                moves=lambda request: self._mark(migrate=request),
                exclusions=self._exclusions(),
            ),
        )

    def _failures(self) -> Mapping[str, float]:
        kronos = CONF.kronos
        servers = failures.of_servers(
            self._prometheus(),
            kronos.server_fault_query,
            [self.input_parameters['source_node']],
            HostMatch(kronos.host_match),
        )
        return {uuid: failure.at for uuid, failure in servers.items()}

    def _mark(self, **requests: str) -> None:
        """Write down that it acts: the next audits count it.

        :param requests: ids, by ``stop`` and ``migrate``
        :raises TurnUnknown: the database does not take it, so nothing is done
        """
        self._recovery |= requests
        uuid = self.input_parameters.get('action_uuid')
        if not uuid:
            return
        recovery = {'at': time.time(), **self._recovery}
        try:
            lock.write(
                lambda: watcher_action.update_row(
                    uuid,
                    input_parameters={past_restarts.MARK: recovery},
                ),
                self._writes,
            )
        except Exception as error:
            raise faults.error(
                Fault.WATCHER_ERROR,
                "Watcher's database does not take that the server is "
                f'restarted: {lock.reason(error)}',
            ) from error


def _settings(values: Mapping[str, Any], kronos: Any) -> RestartSettings:
    return RestartSettings(
        task=MigrationTask.from_parameters(
            {'phase': MigrationPhase.EVACUATE, **values}
        ),
        failed_at=values['failed_at'],
        stopped=values.get('stopped', ''),
        timeout=kronos.restart_timeout,
        timing=parameters.MoveTiming(
            poll_interval=kronos.migration_poll_interval
        ),
        preflight_wait=kronos.preflight_wait,
        resources=parameters.resources(kronos),
        require_headroom=kronos.require_headroom,
    )
