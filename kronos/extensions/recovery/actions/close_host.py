# SPDX-License-Identifier: Apache-2.0
"""The plugin kronos_close_host of Watcher's applier: schema and clients."""

from collections.abc import Mapping
from typing import Any

from oslo_log import log as logging
from watcher import conf

from kronos.actions.core import watcher_action
from kronos.actions.core.watcher_action import NAME, TEXT
from kronos.clients.nova.compute_services import ComputeServices
from kronos.engine.settings import HostMatch
from kronos.engine.types import ComputeService
from kronos.extensions.recovery.actions.close import run
from kronos.extensions.recovery.readings import failures
from kronos.snapshots import parts

LOG = logging.getLogger(__name__)
CONF = conf.CONF


class CloseHost(watcher_action.KronosAction):
    """Disable the nova-compute of a host at fault, with a reason.

    Before, it looks once more whether the host is at fault, and whether so
    few of its aggregate are that it is not what they share. Nothing opens the
    host again but an operator.
    """

    @property
    def schema(self) -> dict[str, Any]:
        return {
            'type': 'object',
            'properties': {
                **watcher_action.PROPERTIES,
                'resource_id': NAME,
                'reason': TEXT,
            },
            'required': ['resource_id', 'aggregate', 'source_node'],
        }

    def get_description(self) -> str:
        return (
            'Disable the nova-compute of a host that is at fault by '
            'host_fault_query, so that no new server is placed there.'
        )

    def revert(self) -> None:
        """Leave it closed: only an operator knows when it is mended."""
        LOG.info('Host %s is not opened again', self._host)

    @property
    def _host(self) -> str:
        return str(self.input_parameters['source_node'])

    def _make_run(self) -> run.ClosingRun:
        nova = self._clients().nova()
        values, kronos = self.input_parameters, CONF.kronos
        return run.ClosingRun(
            run.ClosingSettings(
                host=self._host,
                aggregate=values['aggregate'],
                plan=values.get('action_plan_uuid', ''),
                max_closed_hosts=kronos.max_closed_hosts,
                max_retries=kronos.max_retries,
                retry_backoff=kronos.retry_backoff,
            ),
            run.ClosingContext(
                **vars(self._patience()),
                nova=nova,
                services=ComputeServices(nova.api),
                at_fault=self._at_fault,
            ),
        )

    def _at_fault(
        self, services: Mapping[str, ComputeService]
    ) -> Mapping[str, float]:
        """Those that nobody works on: what is rebooted does not answer."""
        kronos = CONF.kronos
        answer = failures.of_hosts(
            self._prometheus(),
            kronos.host_fault_query,
            services,
            HostMatch(kronos.host_match),
        )
        return {
            host: value
            for host, value in answer.values.items()
            if not parts.is_at_work(services[host])
        }
