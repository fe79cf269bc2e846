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
            for one in list(self.servers.values()):
                self._follow(one)
            return super().answer(method, path, query, body)

    def _done(self, method, path, query, body):
        return self.route(ROUTES, method, path, query, body)

    # What is seen as time passes

    def _follow(self, one):
        now = self.clock()
        while one.plays and one.plays[0][0] <= now:
            at, sight = one.plays.pop(0)
            self._show(one, sight, at)

    def _show(self, one, sight, at):
        move = one.moves[-1] if one.moves else None
        before = move.before if move else (one.status, one.power)
        one.status = sight.status or before[0]
        one.task_state = sight.task
        one.power = before[1] if sight.power is None else sight.power
        if move is None or not sight.migration:
            return
        move.status, move.updated, move.is_told = (
            sight.migration, at, sight.is_told,
        )  # fmt: skip
        one.host = move.destination if sight.is_there else move.source
        one.flavor = move.flavors[sight.is_there]
        over = not one.plays and sight.migration in cold_moves.OVER
        move.holds = sight.is_told and not over
        name = f'{one.name}-resize-temp'
        if sight.task in ('resize_migrating', 'resize_migrated'):
            self.images[one.uuid] = name
        elif not self.leaves_images:
            self.images.pop(one.uuid, None)

    def play(self, one, sights):
        """From now on; the first one at once."""
        now = self.clock()
        one.plays = [
            (now + number * SECONDS, sight)
            for number, sight in enumerate(sights)
        ]
        self._follow(one)

    def delete(self, uuid):
        del self.servers[uuid]

    # Nova

    def server_row(self, one):
        vcpus, ram = self.flavors[one.flavor]
        row = super().server_row(one)
        row['flavor'] |= {
            'original_name': one.flavor, 'vcpus': vcpus, 'ram': ram,
        }  # fmt: skip
        return row | {
            'status': one.status,
            'OS-EXT-STS:power_state': one.power,
            'OS-EXT-STS:vm_state': 'stopped'
            if one.status == 'SHUTOFF'
            else one.status.lower(),
            'OS-EXT-SRV-ATTR:hypervisor_hostname': f'{one.host}.example.org',
            'OS-EXT-AZ:availability_zone': ZONES[one.host],
            'pinned_availability_zone': one.pinned,
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
        one = self.find(uuid)
        one.pinned = body['server']['pinned_availability_zone']
        one.pins.append(one.pinned)
        return {'server': self.server_row(one)}

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
        one = self.find(uuid)
        is_there = one.moves and one.host == one.moves[-1].destination
        rows = [
            {'volumeId': name, 'device': f'/dev/{name}', 'tag': None,
             'delete_on_termination': False}
            for name in one.volumes
            if name not in one.loses or not is_there
        ]  # fmt: skip
        return {'volumeAttachments': rows}

    def os_services(self, q, body):
        found = super().os_services(q, body)
        for row in found['services']:
            row['zone'] = ZONES[row['host']]
        return found

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
        one = self.find(uuid)
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
            for action, request in reversed(one.asked)
        ]
        return {'instanceActions': [] if 'marker' in q else rows}

    def instance_action(self, uuid, request, q, body):
        one = self.find(uuid)
        names = dict((asked, name) for name, asked in one.asked)
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
                says = cold_moves.BREAKS[one.breaks or 'scheduler'].says
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
        one = self.find(uuid)
        [(action, told)] = body.items()
        if action in ('migrate', 'resize'):
            return self._move(one, action, told)
        if action == 'os-resetState':
            return self._reset(one, told['state'])
        ask = {
            'confirmResize': self._confirm,
            'revertResize': self._revert,
            'reboot': self._reboot,
            'os-start': self._start,
            'os-stop': self._stop,
        }[action]
        status, sights = ask(one)
        if action not in one.stubborn:
            self.play(one, sights)
        raise self._accepted(one, NAMES[action], status)

    def _accepted(self, one, name, status=202):
        request = self._request()
        one.asked.append((name, request))
        self.on_accepted(name)
        return Answer(status, None, {'x-compute-request-id': request})

    def _request(self):
        self.numbers += 1
        return f'req-00000000-0000-0000-0000-{self.numbers:012d}'

    def _move(self, one, action, told):
        if one.task_state or one.status not in ('ACTIVE', 'SHUTOFF'):
            _refuse(one, action)
        if self.services[one.host]['state'] != 'up':
            _unavailable()
        ask = self._migrate if action == 'migrate' else self._resize
        destination, flavor = ask(one, told)
        breaks = one.breaks
        if not destination or one.pinned not in (None, ZONES[destination]):
            breaks = one.breaks = 'scheduler'
        request = self._request()
        one.asked.append((action, request))
        move = Move(
            number=len(self.moves) + 1,
            kind='migration' if action == 'migrate' else 'resize',
            server=one,
            source=one.host,
            destination=destination,
            status='pre-migrating',
            request=request,
            began=self.clock(),
            updated=self.clock(),
            before=(one.status, one.power),
            flavors=(one.flavor, flavor),
        )
        self.moves.append(move)
        one.moves.append(move)
        self.play(one, cold_moves.script(cold_moves.MOVE, breaks))
        self.on_accepted(action)
        raise Answer(202, None, {'x-compute-request-id': request})

    def _migrate(self, one, told):
        host = told['host']
        leaves = ZONES.get(host) != ZONES[one.host]
        if host not in self.hosts or (leaves and not self.is_open):
            _bad(f'Compute host {host} could not be found.')
        return host, one.flavor

    def _resize(self, one, told):
        asked = told['flavorRef']
        names = dict(enumerate(self.flavors, 1))
        name = names.get(int(asked))
        if name is None:
            _bad(f'Flavor {asked} could not be found.')
        if name == one.flavor:
            _bad('When resizing, instances must change flavor!')
        if self.quota:
            raise Answer(403, {'forbidden': {'message': self.quota}})
        return one.lands if self.is_open else '', name

    def _confirm(self, one):
        move = self._resized(one, 'confirmResize')
        if self.services[move.source]['state'] != 'up':
            _unavailable()
        return 204, cold_moves.script(cold_moves.CONFIRM, one.breaks)

    def _revert(self, one):
        self._resized(one, 'revertResize')
        return 202, cold_moves.script(cold_moves.REVERT, one.breaks)

    def _resized(self, one, action):
        if one.status != 'VERIFY_RESIZE' or one.task_state:
            _refuse(one, action)
        move = one.moves[-1]
        if move.status != 'finished':
            _bad('Instance has not been resized.')
        return move

    def _reboot(self, one):
        if one.task_state:
            _refuse(one, 'reboot')
        return 202, cold_moves.REBOOT

    def _start(self, one):
        if one.task_state or one.status != 'SHUTOFF':
            _refuse(one, 'start')
        return 202, cold_moves.START

    def _stop(self, one):
        if one.task_state or one.status not in ('ACTIVE', 'ERROR'):
            _refuse(one, 'stop')
        return 202, cold_moves.STOP

    def _reset(self, one, state):
        if 'os-resetState' not in one.stubborn:
            one.status, one.task_state = state.upper(), None
        raise Answer(202, None, {'x-compute-request-id': self._request()})

    # Placement

    def allocations(self):
        found = {}
        for one in self.servers.values():
            move = one.moves[-1] if one.moves else None
            if move is None or not move.holds:
                found[one.uuid] = {one.host: self._size(one.flavor)}
                continue
            old, new = map(self._size, move.flavors)
            found[move.uuid] = {move.source: old}
            found[one.uuid] = {move.destination: new}
        for consumer, hosts in self.leftovers.items():
            found.setdefault(consumer, {}).update(hosts)
        return found

    def _size(self, flavor):
        vcpus, ram = self.flavors[flavor]
        return {'VCPU': vcpus, 'MEMORY_MB': ram}

    # Glance

    def image_list(self, q, body):
        wanted = q['name'].removeprefix('eq:')
        rows = [
            {
                'id': f'image-{name}',
                'name': name,
                'status': 'active',
                'instance_uuid': uuid,
            }
            for uuid, name in self.images.items()
            if name == wanted
        ]
        return {'images': rows}


def _bad(text):
    raise Answer(400, {'badRequest': {'code': 400, 'message': text}})


def _refuse(one, action):
    what = f'task_state {one.task_state}' if one.task_state else (
        f'vm_state {one.status.lower()}'
    )  # fmt: skip
    text = f"Cannot '{action}' instance {one.uuid} while it is in {what}"
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
