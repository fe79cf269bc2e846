# SPDX-License-Identifier: Apache-2.0
"""A small cloud of two cells, in which servers are moved cold.

Time is the test's own: Nova is as far as that clock says whenever it is
asked.
"""

from tests.fakes.small_cloud import cloud
from tests.fakes.small_cloud.state import Answer, stamp
from tests.fakes.two_cells import cold_moves
from tests.fakes.two_cells.cold_moves import Move

CELLS = {'old': ['o1', 'o2'], 'new': ['n1', 'n2']}
ZONES = {'o1': 'az-old', 'o2': 'az-old', 'n1': 'az-new', 'n2': 'az-new'}
SECONDS = 5.0
"""For so long each sight of a move is shown."""
NAMES = {
    'confirmResize': 'confirmResize',
    'revertResize': 'revertResize',
    'reboot': 'reboot',
    'os-start': 'start',
    'os-stop': 'stop',
}
"""Nova's names of the actions, by their requests."""


class TwoCells(cloud.Cloud):
    """The cloud; see :class:`.Cloud` for faults at the wire.

    :param clock: Unix seconds
    """

    def __init__(self, clock, servers):
        super().__init__(
            [host for hosts in CELLS.values() for host in hosts],
            CELLS,
            servers,
        )
        self.aggregate_metadata = {
            cell: {'kronos:cell': cell} for cell in CELLS
        }
        self.clock = clock
        self.is_open = True
        """Whether the policy lets servers leave their cell."""
        self.quota = ''
        """Nova's word for a quota that is exceeded."""
        self.moves = []
        self.images = {}
        """Names of images, by server."""
        self.leaves_images = False
        self.failures = {}
        """Why requests failed of which there is no migration."""
        self.numbers = 0
        self.on_accepted = lambda action: None
        """Is told what Nova accepts."""

    def answer(self, method, path, query, body):
        with self._lock:
            for server in list(self.servers.values()):
                self._follow(server)
            return super().answer(method, path, query, body)

    def _done(self, method, path, query, body):
        return self.route(ROUTES, method, path, query, body)

    # What is seen as time passes

    def _follow(self, server):
        now = self.clock()
        while server.plays and server.plays[0][0] <= now:
            moment, sight = server.plays.pop(0)
            self._show(server, sight, moment)

    def _show(self, server, sight, moment):
        move = server.moves[-1] if server.moves else None
        before = move.before if move else (server.status, server.power)
        server.status = sight.status or before[0]
        server.task_state = sight.task
        server.power = before[1] if sight.power is None else sight.power
        if move is None or not sight.migration:
            return
        move.status, move.updated, move.is_told = (
            sight.migration, moment, sight.is_told,
        )  # fmt: skip
        server.host = move.destination if sight.is_there else move.source
        server.flavor = move.flavors[sight.is_there]
        over = not server.plays and sight.migration in cold_moves.OVER
        move.holds = sight.is_told and not over
        name = f'{server.name}-resize-temp'
        if sight.task in ('resize_migrating', 'resize_migrated'):
            self.images[server.uuid] = name
        elif not self.leaves_images:
            self.images.pop(server.uuid, None)

    def play(self, server, sights):
        """From now on; the first one at once."""
        now = self.clock()
        server.plays = [
            (now + number * SECONDS, sight)
            for number, sight in enumerate(sights)
        ]
        self._follow(server)

    def delete(self, uuid):
        del self.servers[uuid]

    # Nova

    def server_row(self, server):
        vcpus, ram = self.flavors[server.flavor]
        row = super().server_row(server)
        row['flavor'] |= {
            'original_name': server.flavor, 'vcpus': vcpus, 'ram': ram,
        }  # fmt: skip
        return row | {
            'status': server.status,
            'OS-EXT-STS:power_state': server.power,
            'OS-EXT-STS:vm_state': 'stopped'
            if server.status == 'SHUTOFF'
            else server.status.lower(),
            'OS-EXT-SRV-ATTR:hypervisor_hostname': f'{server.host}'
            '.example.org',
            'OS-EXT-AZ:availability_zone': ZONES[server.host],
            'pinned_availability_zone': server.pinned,
            'image': {'id': 'image'},
            'addresses': {
                'net': [{'addr': '10.0.0.4', 'OS-EXT-IPS:type': 'fixed'}]
            },
            'security_groups': [{'name': 'default'}],
            'key_name': 'key',
        }

    def server_show(self, uuid, q, body):
        return {'server': self.server_row(self.find(uuid))}

    def change_server(self, uuid, q, body):
        server = self.find(uuid)
        server.pinned = body['server']['pinned_availability_zone']
        server.pins.append(server.pinned)
        return {'server': self.server_row(server)}

    def interfaces(self, uuid, q, body):
        self.find(uuid)
        port = {
            'port_id': 'port',
            'mac_addr': 'fa:16:3e:00:00:01',
            'net_id': 'net',
            'fixed_ips': [{'ip_address': '10.0.0.4', 'subnet_id': 'subnet'}],
        }
        return {'interfaceAttachments': [port]}

    def attachments(self, uuid, q, body):
        server = self.find(uuid)
        is_there = server.moves and server.host == server.moves[-1].destination
        rows = [
            {'volumeId': name, 'device': f'/dev/{name}', 'tag': None,
             'delete_on_termination': False}
            for name in server.volumes
            if name not in server.loses or not is_there
        ]  # fmt: skip
        return {'volumeAttachments': rows}

    def os_services(self, q, body):
        answer = super().os_services(q, body)
        for row in answer['services']:
            row['zone'] = ZONES[row['host']]
        return answer

    def flavor_show(self, flavor, q, body):
        for row in self.flavor_list({}, None)['flavors']:
            if row['id'] == flavor:
                return {'flavor': row}
        text = f'Flavor {flavor} could not be found.'
        raise Answer(404, {'itemNotFound': {'message': text}})

    def os_migrations(self, q, body):
        rows = []
        for move in reversed(self.moves):
            if q.get('instance_uuid', move.server.uuid) != move.server.uuid:
                continue
            if q.get('status', move.status) != move.status:
                continue
            if stamp(move.updated) < q.get('changes-since', ''):
                continue
            rows.append(move.row())
        return {'migrations': [] if 'marker' in q else rows}

    def instance_actions(self, uuid, q, body):
        server = self.find(uuid)
        rows = [
            {
                'action': action,
                'instance_uuid': uuid,
                'request_id': request,
                'project_id': 'project',
                'user_id': 'user',
                'message': None,
                'start_time': stamp(0),
                'updated_at': stamp(0),
            }
            for action, request in reversed(server.asked)
        ]
        return {'instanceActions': [] if 'marker' in q else rows}

    def instance_action(self, uuid, request, q, body):
        server = self.find(uuid)
        names = dict((number, name) for name, number in server.asked)
        if request not in names:
            raise Answer(404, {'itemNotFound': {'message': 'no action'}})
        # What went well keeps its result open: it was copied before.
        event = {
            'event': 'conductor_migrate_server',
            'start_time': stamp(0),
            'finish_time': None,
            'result': None,
            'details': None,
        }
        if request in self.failures:
            event |= {'result': 'Error', 'details': self.failures[request]}
        for move in self.moves:
            if move.request == request and move.status == 'error':
                says = cold_moves.BREAKS[server.breaks or 'scheduler'].says
                kind = {'migration': 'cold migrate'}.get(move.kind, move.kind)
                event |= {
                    'result': 'Error',
                    'details': says.format(uuid=uuid, kind=kind),
                }
        return {
            'instanceAction': {
                'action': names[request],
                'request_id': request,
                'instance_uuid': uuid,
                'start_time': stamp(0),
                'events': [event],
            }
        }

    # What Nova is asked to do

    def server_action(self, uuid, q, body):
        server = self.find(uuid)
        [(action, details)] = body.items()
        if action in ('migrate', 'resize'):
            return self._move(server, action, details)
        if action == 'os-resetState':
            return self._reset(server, details['state'])
        ask = {
            'confirmResize': self._confirm,
            'revertResize': self._revert,
            'reboot': self._reboot,
            'os-start': self._start,
            'os-stop': self._stop,
        }[action]
        status, sights = ask(server)
        if action not in server.stubborn:
            self.play(server, sights)
        raise self._accepted(server, NAMES[action], status)

    def _accepted(self, server, name, status=202):
        request = self._request()
        server.asked.append((name, request))
        self.on_accepted(name)
        return Answer(status, None, {'x-compute-request-id': request})

    def _request(self):
        self.numbers += 1
        return f'req-00000000-0000-0000-0000-{self.numbers:012d}'

    def _move(self, server, action, details):
        if server.task_state or server.status not in ('ACTIVE', 'SHUTOFF'):
            _refuse(server, action)
        if self.services[server.host]['state'] != 'up':
            _unavailable()
        ask = self._migrate if action == 'migrate' else self._resize
        destination, flavor = ask(server, details)
        breaks = server.breaks
        if not destination or server.pinned not in (None, ZONES[destination]):
            breaks = server.breaks = 'scheduler'
        request = self._request()
        server.asked.append((action, request))
        move = Move(
            number=len(self.moves) + 1,
            kind='migration' if action == 'migrate' else 'resize',
            server=server,
            source=server.host,
            destination=destination,
            status='pre-migrating',
            request=request,
            began=self.clock(),
            updated=self.clock(),
            before=(server.status, server.power),
            flavors=(server.flavor, flavor),
        )
        self.moves.append(move)
        server.moves.append(move)
        self.play(server, cold_moves.script(cold_moves.MOVE, breaks))
        self.on_accepted(action)
        raise Answer(202, None, {'x-compute-request-id': request})

    def _migrate(self, server, details):
        host = details['host']
        leaves = ZONES.get(host) != ZONES[server.host]
        if host not in self.hosts or (leaves and not self.is_open):
            _bad(f'Compute host {host} could not be found.')
        return host, server.flavor

    def _resize(self, server, details):
        number = details['flavorRef']
        names = dict(enumerate(self.flavors, 1))
        name = names.get(int(number))
        if name is None:
            _bad(f'Flavor {number} could not be found.')
        if name == server.flavor:
            _bad('When resizing, instances must change flavor!')
        if self.quota:
            raise Answer(403, {'forbidden': {'message': self.quota}})
        return server.lands if self.is_open else '', name

    def _confirm(self, server):
        move = self._resized(server, 'confirmResize')
        if self.services[move.source]['state'] != 'up':
            _unavailable()
        return 204, cold_moves.script(cold_moves.CONFIRM, server.breaks)

    def _revert(self, server):
        self._resized(server, 'revertResize')
        return 202, cold_moves.script(cold_moves.REVERT, server.breaks)

    def _resized(self, server, action):
        if server.status != 'VERIFY_RESIZE' or server.task_state:
            _refuse(server, action)
        move = server.moves[-1]
        if move.status != 'finished':
            _bad('Instance has not been resized.')
        return move

    def _reboot(self, server):
        if server.task_state:
            _refuse(server, 'reboot')
        return 202, cold_moves.REBOOT

    def _start(self, server):
        if server.task_state or server.status != 'SHUTOFF':
            _refuse(server, 'start')
        return 202, cold_moves.START

    def _stop(self, server):
        if server.task_state or server.status not in ('ACTIVE', 'ERROR'):
            _refuse(server, 'stop')
        return 202, cold_moves.STOP

    def _reset(self, server, state):
        if 'os-resetState' not in server.stubborn:
            server.status, server.task_state = state.upper(), None
        raise Answer(202, None, {'x-compute-request-id': self._request()})

    # Placement

    def allocations(self):
        by_consumer = {}
        for server in self.servers.values():
            move = server.moves[-1] if server.moves else None
            if move is None or not move.holds:
                by_consumer[server.uuid] = {
                    server.host: self._size(server.flavor)
                }
                continue
            old, new = map(self._size, move.flavors)
            by_consumer[move.uuid] = {move.source: old}
            by_consumer[server.uuid] = {move.destination: new}
        for consumer, hosts in self.leftovers.items():
            by_consumer.setdefault(consumer, {}).update(hosts)
        return by_consumer

    def _size(self, flavor):
        vcpus, ram = self.flavors[flavor]
        return {'VCPU': vcpus, 'MEMORY_MB': ram}

    # Glance

    def image_list(self, q, body):
        image_name = q['name'].removeprefix('eq:')
        rows = [
            {
                'id': f'image-{name}',
                'name': name,
                'status': 'active',
                'instance_uuid': uuid,
            }
            for uuid, name in self.images.items()
            if name == image_name
        ]
        return {'images': rows}


def _bad(text):
    raise Answer(400, {'badRequest': {'code': 400, 'message': text}})


def _refuse(server, action):
    what = f'task_state {server.task_state}' if server.task_state else (
        f'vm_state {server.status.lower()}'
    )  # fmt: skip
    text = f"Cannot '{action}' instance {server.uuid} while it is in {what}"
    raise Answer(409, {'conflictingRequest': {'code': 409, 'message': text}})


def _unavailable():
    text = 'Service is unavailable at this time.'
    raise Answer(409, {'conflictingRequest': {'code': 409, 'message': text}})


_SERVER = '/nova/v2.1/servers/((?!detail)[^/]+)'
ROUTES = [
    ('GET', '/nova/v2.1/os-services', TwoCells.os_services),
    ('GET', _SERVER, TwoCells.server_show),
    ('PUT', _SERVER, TwoCells.change_server),
    ('POST', f'{_SERVER}/action', TwoCells.server_action),
    ('GET', f'{_SERVER}/os-interface', TwoCells.interfaces),
    ('GET', f'{_SERVER}/os-volume_attachments', TwoCells.attachments),
    ('GET', '/nova/v2.1/os-migrations', TwoCells.os_migrations),
    ('GET', f'{_SERVER}/os-instance-actions', TwoCells.instance_actions),
    (
        'GET',
        f'{_SERVER}/os-instance-actions/([^/]+)',
        TwoCells.instance_action,
    ),
    ('GET', '/nova/v2.1/flavors/((?!detail)[^/]+)', TwoCells.flavor_show),
    ('GET', '/glance/v2/images', TwoCells.image_list),
    *cloud.ROUTES,
]
