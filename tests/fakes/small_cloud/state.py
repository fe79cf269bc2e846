# SPDX-License-Identifier: Apache-2.0
"""What the small cloud is made of: servers, migrations, answers."""

import dataclasses
import time

OVER = ('completed', 'conflict', 'error', 'failed', 'cancelled')
HAPPY = ('accepted', 'queued', 'preparing', 'running', 'completed')
ABORTABLE = ('queued', 'preparing', 'running')


@dataclasses.dataclass
class Server:
    uuid: str
    host: str
    name: str
    cpu: float = 0.1
    memory: float = 0.1
    vcpus: int = 1
    ram: int = 1024
    status: str = 'ACTIVE'
    guest: str = 'running'
    """What its hypervisor says, when it is asked."""
    task_state: str | None = None
    locked: bool = False
    metadata: dict = dataclasses.field(default_factory=dict)
    script: tuple = HAPPY
    """What a migration is at each look; the last one stays."""
    refusal: str = ''
    """Nova's word on why the conductor refuses."""
    stops: list = dataclasses.field(default_factory=list)
    """(request, user) of each request to stop it; nova-compute has no user."""
    steps: list = dataclasses.field(default_factory=list)
    """What Nova was asked to do to it: ``stop``, ``start``, ..."""
    refuses: dict = dataclasses.field(default_factory=dict)
    """Step to Nova's word on why it fails after it was accepted."""
    failed_steps: dict = dataclasses.field(default_factory=dict)
    """Request to such a word."""
    asked: list = dataclasses.field(default_factory=list)
    """(action, request) of what Nova accepted besides stops, the newest
    first."""


@dataclasses.dataclass
class Migration:
    id: int
    uuid: str
    request: str
    server: Server
    source: str
    destination: str
    script: list
    began: float
    updated: float
    aborted: bool = False
    forced: bool = False
    figures: dict = dataclasses.field(
        default_factory=lambda: {
            'memory_total_bytes': 4 * 2**30,
            'memory_processed_bytes': 2**30,
            'memory_remaining_bytes': 3 * 2**30,
        }
    )
    """What Nova tells of its progress, by name; of a driver that tells
    nothing it is empty."""

    @property
    def status(self):
        return self.script[0]

    def row(self):
        refused = self.server.refusal and self.status == 'error'
        return {
            'id': self.id,
            'uuid': self.uuid,
            'instance_uuid': self.server.uuid,
            'status': self.status,
            'migration_type': 'live-migration',
            'source_compute': self.source,
            'dest_compute': None if refused else self.destination,
            'created_at': stamp(self.began),
            'updated_at': stamp(self.updated),
            'project_id': 'service',
        }


def stamp(seconds):
    return time.strftime('%Y-%m-%dT%H:%M:%S.000000', time.gmtime(seconds))


def node_of(host):
    """Name of a host's hypervisor and of its resource provider."""
    return f'{host}.example.org'


class Answer(Exception):  # noqa: N818
    def __init__(self, status, body=None, headers=()):
        self.status, self.body, self.headers = status, body, dict(headers)
