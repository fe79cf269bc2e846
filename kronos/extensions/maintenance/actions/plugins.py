# SPDX-License-Identifier: Apache-2.0
"""The plugins of Watcher's applier for a maintenance run."""

from typing import Any

from oslo_log import log as logging
from watcher import conf

from kronos.actions.core import watcher_action
from kronos.actions.core.watcher_action import NAME, TEXT
from kronos.clients.nova.compute_services import ComputeServices
from kronos.engine.settings import HostMatch
from kronos.extensions.maintenance.actions import close, hand_over, reopen
from kronos.extensions.maintenance.actions.host_change import (
    HostChange,
    HostContext,
)
from kronos.extensions.maintenance.maintenance import (
    Maintenance,
    RunView,
    Stopped,
)
from kronos.extensions.maintenance.notices import announcements
from kronos.extensions.maintenance.readings import done_hosts
from kronos.extensions.maintenance.readings.done_hosts import RunQueries
from kronos.watcher_db import lock

LOG = logging.getLogger(__name__)
CONF = conf.CONF


class _HostAction(watcher_action.KronosAction):
    """What these actions share: the host, the run, the clients."""

    MORE: dict[str, Any]
    """Schemas of its own parameters."""

    @property
    def schema(self) -> dict[str, Any]:
        return {
            'type': 'object',
            'properties': {
                **watcher_action.PROPERTIES,
                'resource_id': NAME,
                'run': NAME,
                **self.MORE,
            },
            'required': ['resource_id', 'aggregate', 'source_node', 'run'],
        }

    def revert(self) -> None:
        """Leave the host as it is: the next audit goes on from there."""
        LOG.info('Host %s stays as it is', self._host)

    @property
    def _host(self) -> str:
        return str(self.input_parameters['source_node'])

    @property
    def _change(self) -> HostChange:
        values = self.input_parameters
        return HostChange(
            self._host,
            values['aggregate'],
            values['run'],
            values.get('audit_uuid', ''),
        )

    def _context(self) -> HostContext:
        nova, values = self._clients().nova(), self.input_parameters
        announcer = announcements.Announcer(
            CONF,
            nova.list_compute_services,
            {
                name: values.get(name, '')
                for name in ('action_uuid', 'action_plan_uuid')
            },
        )
        announcer.begin()
        return HostContext(
            **vars(self._patience()),
            nova=nova,
            services=ComputeServices(nova.api),
            alone=lambda work: lock.exclusively(lambda session: work()),
            announce=announcer.announce,
        )


class CloseForMaintenance(_HostAction):
    """Disable the nova-compute of a host of a run, with its reason."""

    MORE = {  # noqa: RUF012
        'at_once': {'type': 'integer', 'minimum': 1},
        'at_once_per_az': {'type': 'integer', 'minimum': 1},
        'reopen': {'type': 'boolean'},
    }

    def get_description(self) -> str:
        return (
            'Disable the nova-compute of a host before its maintenance, as '
            'long as few enough hosts are unavailable.'
        )

    def _make_run(self) -> close.CloseRun:
        values = self.input_parameters
        limits = close.Closing(
            values.get('at_once', 1),
            values.get('reopen', True),
            values.get('at_once_per_az'),
        )
        return close.CloseRun(self._change, limits, self._context())


class HandOver(_HostAction):
    """Write into the reason of an empty host that it is handed over."""

    MORE = {'stopped': TEXT}  # noqa: RUF012

    def get_description(self) -> str:
        return (
            'Mark a host as handed over for maintenance, once Placement has '
            'shown twice, a minute apart, that it is empty.'
        )

    def _make_run(self) -> hand_over.HandOverRun:
        context = self._context()
        placement = self._clients().placement()
        host = context.nova.get_compute_host(self._host)
        node = host.node if host is not None else self._host
        stopped = self.input_parameters.get('stopped', Stopped.STAY)
        return hand_over.HandOverRun(
            self._change,
            Stopped(stopped),
            lambda: placement.consumers_on(node),
            context,
        )


class Reopen(_HostAction):
    """Enable the nova-compute of a host that the run has closed."""

    MORE = {'done_query': TEXT, 'ready_query': TEXT}  # noqa: RUF012

    def get_description(self) -> str:
        return (
            'Enable the nova-compute of a host that is done, if its reason '
            'is still the one that the maintenance run wrote.'
        )

    def _make_run(self) -> reopen.ReopenRun:
        context = self._context()
        return reopen.ReopenRun(self._change, self._view, context)

    def _view(self) -> RunView:
        values, kronos = self.input_parameters, CONF.kronos
        spec = Maintenance(
            values['run'],
            (self._host,),
            done_query=values.get('done_query', ''),
            ready_query=values.get('ready_query', ''),
        )
        queries = RunQueries(
            kronos.maintenance_done_query, kronos.maintenance_ready_query
        )
        view, _ = done_hosts.view(
            self._prometheus(),
            RunQueries.of(spec, queries),
            spec,
            self._clients().nova().list_compute_services(),
            HostMatch(kronos.host_match),
        )
        return view
