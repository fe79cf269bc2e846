# SPDX-License-Identifier: Apache-2.0
"""Moves between two cells of a real Nova, carried out by Kronos' action.

The action's run is whole, with its real clients; only the marks and turns,
which Watcher's database keeps, are kept in memory.
"""

import io
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar
from urllib import parse

import requests
from keystoneauth1 import adapter, session
from requests import adapters
from requests.packages import urllib3

from tests.functional.cells import apart  # noqa: F401

# isort: split
# Before what imports Watcher.
from kronos.actions.core import notifications, slots
from kronos.clients import glance, neutron
from kronos.clients.nova.cell_listings import CellListings
from kronos.clients.nova.server_details import ServerDetails
from kronos.clients.prometheus.client import PrometheusClient
from kronos.common import exceptions
from kronos.engine import faults
from kronos.extensions.cells.actions import checkpoint, parameters, run
from kronos.extensions.cells.actions.context import CellMoveContext
from kronos.extensions.cells.actions.parameters import CellMoveTask
from kronos.extensions.cells.cell_drain import CELL_MARK
from kronos.extensions.cells.readings import cell_needs
from tests.functional.cells import administrator, broken_ends, two_cells
from tests.functional.cells.two_cells import HOSTS
from tests.functional.nova import base

GLANCE = 'http://glance.test/v2'
NEUTRON = 'http://neutron.test'
PROMETHEUS = 'http://prometheus.test'
QUERY = 'probe_success{uuid="{uuid}"}'
ACTION = '11111111-1111-4111-8111-111111111111'
NEXT_ACTION = '22222222-2222-4222-8222-222222222222'
NEXT_ACTIONS = (NEXT_ACTION, '44444444-4444-4444-8444-444444444444')
PLAN = '33333333-3333-4333-8333-333333333333'


class Answers(adapters.BaseAdapter):
    """A service whose answers a function gives: JSON by path and query."""

    def __init__(
        self, answer: Callable[[str, dict[str, list[str]]], Any]
    ) -> None:
        super().__init__()
        self._answer = answer

    def send(
        self, request: requests.PreparedRequest, *args: Any, **kwargs: Any
    ) -> requests.Response:
        url = parse.urlsplit(request.url or '')
        body = request.body or b''
        text = body.decode() if isinstance(body, bytes) else str(body)
        query = parse.parse_qs('&'.join(filter(None, (url.query, text))))
        content = json.dumps(self._answer(url.path, query)).encode()
        raw = urllib3.HTTPResponse(
            body=io.BytesIO(content),
            status=200,
            headers={'Content-Type': 'application/json'},
            preload_content=False,
        )
        return adapters.HTTPAdapter().build_response(request, raw)

    def close(self) -> None:
        """Nothing is open."""


class Turns(slots.Slots):
    """The turn and the marks of one action, in memory."""

    def __init__(self, rows: dict[str, dict[str, str]], action: str) -> None:
        self._rows = rows
        self._own = rows.setdefault(action, {})
        self.taken = 0

    def enter(self) -> slots.DeliveryState:
        return slots.DeliveryState.FREE

    def renew(self) -> None:
        """Nobody else waits for it."""

    def take(self, decide: slots.Decide) -> str:
        reason = decide([])
        self.taken += not reason
        return reason

    def release(self) -> None:
        """Nobody else waits for it."""

    def mark(self, key: str, value: object, must_go_on: bool = True) -> None:
        self._own[key] = json.dumps(value)

    def mark_of(self, key: str, action_uuid: str = '') -> dict[str, Any]:
        row = self._rows.get(action_uuid, {}) if action_uuid else self._own
        return dict(json.loads(row.get(key, '{}')))


@dataclass
class Outcome:
    """What came of an action."""

    remark: str = ''
    error: exceptions.KronosException | None = None
    kept: list[dict[str, Any]] = field(default_factory=list)
    """The evidence, each time that it was kept."""
    told: list[str] = field(default_factory=list)

    @property
    def fault(self) -> str:
        return str(faults.of_error(self.error)) if self.error else ''

    @property
    def document(self) -> dict[str, Any]:
        return self.kept[-1]

    @property
    def commands(self) -> str:
        return '\n'.join(self.document['commands'])


class CellRunTestCase(broken_ends.BrokenEndsTestCase):
    """Moves servers by Kronos' action."""

    patience: ClassVar[float] = 30
    """Seconds until what does not fit together is broken: where nothing is,
    a busy machine must not make it so."""

    def setUp(self) -> None:
        super().setUp()
        self.marks: dict[str, dict[str, str]] = {}
        self.is_cancelled = False
        self.is_healthy = True
        """What Prometheus says of every server."""
        self.plan = checkpoint.PlanStanding(True)
        self.administrator = administrator.Administrator(self)
        self.was: dict[str, Any] = {}
        self.status = ''
        self._waiting: list[tuple[str, Callable[[], object]]] = []
        images = requests.Session()
        images.mount(GLANCE, Answers(self._images))
        self.glance_client = glance.GlanceClient(
            adapter.Adapter(
                session.Session(
                    auth=base.NoKeystone(self.admin_api), session=images
                ),
                endpoint_override=GLANCE,
                service_type='image',
            ),
            retry_backoff=0,
        )
        ports = requests.Session()
        ports.mount(NEUTRON, Answers(self._ports))
        network = adapter.Adapter(
            session.Session(
                auth=base.NoKeystone(self.admin_api), session=ports
            ),
            endpoint_override=NEUTRON,
            service_type='network',
        )
        self.sources = cell_needs.Sources(
            lambda servers: neutron.tied(network, servers)
        )
        probes = requests.Session()
        self.prometheus = PrometheusClient(PROMETHEUS, probes, max_retries=0)
        probes.mount(PROMETHEUS, Answers(self._probes))

    def _images(self, path: str, query: dict[str, list[str]]) -> Any:
        wanted = query['name'][0].removeprefix('eq:')
        return {
            'images': [
                {
                    'id': image['id'],
                    'name': image['name'],
                    'status': image['status'],
                    'visibility': image.get('visibility', 'private'),
                    **image['properties'],
                }
                for image in list(self.glance.images.values())
                if image['name'] == wanted
            ]
        }

    def _ports(self, path: str, query: dict[str, list[str]]) -> Any:
        """Those of servers, with what was asked for."""
        return {
            'ports': [
                {name: port.get(name) for name in query['fields']}
                for port in list(self.neutron._ports.values())
                if port.get('device_id') in query['device_id']
            ]
        }

    def request_resources(self, port: str) -> None:
        """Have a port ask for a minimum bandwidth, as by a QoS policy."""
        self.neutron._ports[port]['resource_request'] = {
            'resources': {'NET_BW_IGR_KILOBIT_PER_SEC': 1000},
            'required': ['CUSTOM_PHYSNET_2', 'CUSTOM_VNIC_TYPE_NORMAL'],
        }

    def _probes(self, path: str, query: dict[str, list[str]]) -> Any:
        rows = [{'metric': {}, 'value': [time.time(), '1']}]
        result = rows if self.is_healthy else []
        return {
            'status': 'success',
            'data': {'resultType': 'vector', 'result': result},
        }

    def cancel(self) -> None:
        self.is_cancelled = True

    def standing(self) -> checkpoint.PlanStanding:
        """What the marks of the actions that were carried out tell."""
        return checkpoint.PlanStanding.of(
            json.loads(row[CELL_MARK])
            for row in self.marks.values()
            if CELL_MARK in row
        )

    def attach(self, uuid: str) -> str:
        """The uuid of a volume that is attached to the server."""
        volume = self.bootable_volume()
        self.admin_api.post_server_volume(
            uuid, {'volumeAttachment': {'volumeId': volume}}
        )
        self.until('it is attached', lambda: volume in self.volumes(uuid))
        return volume

    def detach(self, uuid: str, volume: str) -> None:
        self.admin_api.delete_server_volume(uuid, volume)
        self.until('it is detached', lambda: volume not in self.volumes(uuid))

    def volumes(self, uuid: str) -> list[str]:
        return [row['id'] for row in self.shown(uuid)[two_cells.ATTACHED]]

    ahead = 0.0
    """Seconds by which the action's clock is ahead: its limits end sooner."""

    def when(self, status: str, deed: Callable[[], object]) -> None:
        """Do something once, while the action waits, at a server's status."""
        self._waiting.append((status, deed))

    def _sleep(self, uuid: str, seconds: float) -> None:
        if self._waiting:
            status, deed = self._waiting[0]
            try:
                now = self.shown(uuid)['status']
            except Exception:
                now = ''
            if now == status:
                self._waiting.pop(0)
                deed()
        time.sleep(min(seconds, two_cells.POLL_SECONDS))

    def told(
        self, uuid: str, destination: str = 'new1', **more: Any
    ) -> dict[str, Any]:
        """Input parameters of an action that moves a server."""
        row = self.shown(uuid)
        source = row['OS-EXT-SRV-ATTR:host']
        flavor = row['flavor']['original_name']
        return {
            'resource_id': uuid,
            'resource_name': row['name'],
            'aggregate': f'{HOSTS[source]} -> {HOSTS[destination]}',
            'phase': 'cell_drain',
            'source_node': source,
            'destination_node': destination,
            'mode': 'migrate',
            'source_cell': HOSTS[source],
            'destination_cell': HOSTS[destination],
            'target_cells': [HOSTS[destination]],
            'source_flavor': flavor,
            'destination_flavor': flavor,
            'source_zone': HOSTS[source],
            'destination_zone': HOSTS[destination],
            'confirm': 'auto',
            'action_uuid': ACTION,
            'action_plan_uuid': PLAN,
            **more,
        }

    def run_(self, told: dict[str, Any], **settings: Any) -> Outcome:
        """Carry out an action from its start to its end.

        :param told: of :meth:`told`
        :param settings: of :class:`.parameters.CellMoveSettings` that are
            others than those of the tests
        """
        timing = parameters.CellMoveTiming(
            queue_timeout=90,
            poll_interval=two_cells.POLL_SECONDS,
            **{
                'move_timeout': 120,
                'confirm_timeout': 90,
                'revert_timeout': 90,
                'settle_timeout': self.patience,
                'agree_seconds': 0.5,
                **settings.pop('timing', {}),
            },
        )
        made = parameters.CellMoveSettings(
            task=CellMoveTask.from_parameters(told),
            timing=timing,
            **{
                'preflight_wait': 0,
                'max_retries': 0,
                'retry_backoff': 0,
                'verify_query': '',
                'verify_seconds': 1,
                **settings,
            },
        )
        found = Outcome()
        uuid = told['resource_id']
        nova_facts = notifications.Facts(
            **{name: '' for name in notifications.Facts.__annotations__}
        )
        quiet = SimpleNamespace(kronos=SimpleNamespace(notify=False))
        context = CellMoveContext(
            is_cancelled=lambda: self.is_cancelled,
            tell=found.told.append,
            clock=lambda: time.monotonic() + self.ahead,
            sleep=lambda seconds: self._sleep(uuid, seconds),
            nova=self.nova,
            cell_migration=self.cell_migration,
            details=ServerDetails(self.nova.api),
            listings=CellListings(self.nova.api),
            placement=self.placement_client,
            glance=self.glance_client,
            prometheus=lambda: self.prometheus,
            slots=Turns(self.marks, told['action_uuid']),
            plan=lambda: self.plan,
            notices=notifications.Notices(nova_facts, quiet),
            keep=found.kept.append,
            sources=self.sources,
        )
        action = run.CellMoveRun(made, context, told['action_plan_uuid'])
        try:
            action.begin()
            found.remark = action.carry_out()
        except exceptions.KronosException as error:
            found.error = error
        return found

    def moved(
        self,
        uuid: str,
        destination: str = 'new1',
        parameters: dict[str, Any] | None = None,
        moves: int = 1,
        is_deleted: bool = False,
        **settings: Any,
    ) -> Outcome:
        """Move a server by an action, watched at every poll.

        :param parameters: more input parameters
        :param moves, is_deleted: of :meth:`listed_once`
        """
        told = self.told(uuid, destination, **(parameters or {}))
        with self.listed_once(uuid, moves, is_deleted):
            return self.run_(told, **settings)

    def requests(self, uuid: str) -> int:
        """How often Nova was asked to move a server."""
        return len(self.cell_migration.requests_of(uuid))

    # -- one server, and what has become of it -------------------------------

    def made(self, **more: Any) -> str:
        """The uuid of a new server with a port: the one of the test.

        :param more: of :meth:`server`
        """
        uuid = self.server(port=self.neutron.port_1['id'], **more)
        self.was = self.picture(uuid)
        self.status = str(self.shown(uuid)['status'])
        return uuid

    def is_there(
        self, uuid: str, found: Outcome, host: str = 'new1', **more: Any
    ) -> None:
        """It has arrived, whole, and only one request was needed.

        :param more: of :meth:`is_clean`
        """
        self.assertIsNone(found.error, found.error)
        self.assertIn(f'cell1/old1 -> cell2/{host}', found.remark)
        self.assertEqual('moved', found.document['outcome'])
        self.assertEqual([], found.document['commands'])
        self.is_clean(uuid, host, self.status, self.was, **more)
        self.assertEqual(1, self.requests(uuid))

    def is_gone(self, uuid: str, found: Outcome) -> None:
        """It was deleted, and nothing of it is left.

        Or what is, an administrator takes away as told.
        """
        self.administrator.give(found.document['commands'])
        self.until('it is in no cell', lambda: not self.rows(uuid))
        self.assertEqual({}, self.guests(uuid))
        self.assertEqual([], self.temporary_images())
        for consumer in (uuid, found.document['migration']):
            self.assertEqual({}, self.room(consumer))
        for attachments in self.cinder.volume_to_attachment.values():
            self.assertEqual({}, attachments)

    def is_back(
        self, uuid: str, found: Outcome, fault: str, **more: Any
    ) -> None:
        """It was taken back, or never went, and is whole.

        :param more: of :meth:`is_clean`
        """
        self.assertEqual(fault, found.fault, found.error or found.remark)
        for document in found.kept:
            self.assertIn(document['outcome'], ('failed', 'skipped'))
            self.assertEqual(
                [], [one for one in document['old_state'] if not one['ok']]
            )
        self.is_clean(uuid, 'old1', self.status, self.was, **more)
        self.assertLessEqual(self.requests(uuid), 1)
