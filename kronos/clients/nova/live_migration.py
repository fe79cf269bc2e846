# SPDX-License-Identifier: Apache-2.0
"""How does one live-migrate a server, and what became of it? Nova's part.

Raw calls with explicit microversions: openstacksdk's own call pins live
migration at 2.30 and drops its request id.
"""

import math
from collections.abc import Iterator

from oslo_log import log as logging

from kronos.clients import rest
from kronos.clients.nova import rows, schema
from kronos.clients.nova.api import quoted
from kronos.clients.nova.client import NovaReader
from kronos.clients.nova.instance_actions import NovaRequests, started
from kronos.clients.nova.progress import Progress
from kronos.clients.nova.rows import (
    AbortOutcome,
    AbortResult,
    HostAggregate,
    MigrationStatus,
)
from kronos.clients.schema import seconds_of
from kronos.common import exceptions
from kronos.engine import types

__all__ = [
    'AbortOutcome',
    'AbortResult',
    'HostAggregate',
    'MigrationStatus',
    'NovaClient',
    'Progress',
]

LOG = logging.getLogger(__name__)

LIVE_MIGRATION = 'live-migration'
TELLING = frozenset({'running', 'post-migrating'})
"""Statuses of a migration of which Nova may tell the progress."""


class NovaClient(NovaReader, NovaRequests):
    """Nova, as an administrator; nothing is cached, nothing decided (M7).

    Every method raises :class:`~kronos.common.exceptions.NovaClientError`
    whose ``kwargs`` are those of :class:`~kronos.clients.rest.Wire`.

    :param compute: an openstacksdk compute proxy, or any keystoneauth1
        adapter for the service type ``compute``
    :param options: of :class:`~kronos.clients.rest.Wire`
    """

    def list_migrations(self, since: float) -> list[types.Event]:
        """Moves that began or changed after ``since`` (Unix seconds).

        Of every type: live and cold migrations, resizes to another host,
        evacuations; those made by hand are among them.
        """
        found = self._migrations(**{'changes-since': rows.time_of(since)})
        return [rows.event(row) for row in found if rows.is_move(row)]

    def list_unfinished_migrations(self) -> list[types.Event]:
        """Moves under way, however long ago Nova last touched their rows.

        One call per status, since Nova filters by one at a time. Rows that
        a killed nova-compute left behind are among them.
        """
        found = {
            row['uuid']: row
            for status in rows.UNDER_WAY
            for row in self._migrations(status=status)
        }
        return [rows.event(row) for row in found.values() if rows.is_move(row)]

    def live_migrate(self, uuid: str, host: str) -> str:
        """Ask Nova to move a server; its scheduler checks the host (P1).

        Never forced (P2). An error whose ``kwargs['sent']`` is None may
        hide a request that Nova did get.

        :returns: the request id, for the methods below
        :raises NovaClientError: Nova refused at once: HTTP 400 (no such
            host, or one in another cell), 404, 409 (the server's state)
        """
        response = self._wire.send(
            'POST',
            f'/servers/{quoted(uuid)}/action',
            self.microversion,
            {'os-migrateLive': {'host': host, 'block_migration': 'auto'}},
        )
        request_id = response.headers.get('x-compute-request-id')
        if not request_id:
            # It came from something in between that gave up on Nova.
            raise self._wire.failure(
                f'asked to move server {uuid}: the answer was lost (HTTP '
                f'{response.status_code} without a request id)',
                transient=True,
            )
        return str(request_id)

    def get_migration_status(self, uuid: str, key: str) -> MigrationStatus:
        """The migration of a server that came of a request.

        :param key: what :meth:`live_migrate` returned, or better, from
            the second look on, the migration's uuid
        :raises NovaClientError: Nova knows no such migration or request
        """
        if key.startswith('req-'):
            return self._status_of_request(uuid, key)
        for row in self._live_migrations(uuid):
            if row['uuid'] == key:
                return self._with_progress(row)
        raise self._wire.failure(
            f'server {uuid} has no live migration {key}', status=404
        )

    def _status_of_request(self, uuid: str, key: str) -> MigrationStatus:
        action = self._action(uuid, key)
        start = started(action)
        if start is None:
            return MigrationStatus(uuid, 'accepted')
        # The conductor makes the migration after it starts the event, by
        # the same clock, and only one at a time: the first from then on.
        migrations = list(self._live_migrations(uuid))[::-1]
        later = _made_since(start, migrations)
        if later and later[0]['status'] in rows.OVER:
            # Its database may keep whole seconds: one made right before?
            since, others = self._rivals(uuid, key, start)
            later = _made_since(since, migrations)[others:]
        if later:
            return self._with_progress(later[0])
        failed = any(e.get('result') == 'Error' for e in action['events'])
        return MigrationStatus(uuid, 'error' if failed else 'accepted')

    def _with_progress(self, row: rest.Json) -> MigrationStatus:
        status = rows.migration(row)
        if status.status in TELLING:
            status.progress = self._progress(status)
        return status

    def _progress(self, status: MigrationStatus) -> Progress | None:
        """Of one that runs; not worth an error, for its status is known."""
        path = f'/servers/{quoted(status.instance)}/migrations'
        try:
            body = self._wire.get(
                path, self.microversion, shape=schema.Running
            )
        except exceptions.NovaClientError as error:
            # Nova 34 that validates its own answers refuses figures of 0.
            LOG.info('Progress of instance %s: %s', status.instance, error)
            return None
        for running in body['migrations']:
            if running['uuid'] == status.uuid:
                return Progress.of(running)
        return None

    def abort_migration(
        self, uuid: str, migration: MigrationStatus
    ) -> AbortResult:
        """Wish a migration gone; look afterwards how it ended (Q1-Q5)."""
        if migration.id is None:
            return AbortResult(
                AbortOutcome.REFUSED, 'Nova has not made a migration yet'
            )
        path = f'/servers/{quoted(uuid)}/migrations/{migration.id}'
        try:
            self._wire.send('DELETE', path, self.microversion)
        except exceptions.NovaClientError as error:
            outcome = _outcome(error.kwargs['status'], migration)
            if outcome is None:
                raise
            return AbortResult(outcome, str(error.kwargs['reason']))
        return AbortResult(AbortOutcome.ABORTING)

    def _live_migrations(self, uuid: str) -> Iterator[rest.Json]:
        """Those of one server, the newest first."""
        return self._migrations(
            instance_uuid=uuid, migration_type=LIVE_MIGRATION
        )

    def _migrations(self, **filters: str) -> Iterator[rest.Json]:
        """Migrations of any type, the newest first."""
        return self._wire.get_all(
            '/os-migrations',
            'migrations',
            self.microversion,
            filters,
            id_field='uuid',
            shape=schema.Migration,
        )


def _made_since(second: int, migrations: list[rest.Json]) -> list[rest.Json]:
    return [
        row
        for row in migrations
        if math.floor(seconds_of(row['created_at'])) >= second
    ]


def _outcome(
    status: int | None, migration: MigrationStatus
) -> AbortOutcome | None:
    """What an HTTP error says of a wish to abort; None: nothing.

    400 is a state that cannot be aborted, 404 no such server or migration,
    409 a server without the task state of a migration. A nova-compute that
    starts takes that away, and may then find the request for the migration
    in its queue: 409 says nothing of one that has not begun.
    """
    if status == 409 and migration.status == 'accepted':
        return AbortOutcome.REFUSED
    return {
        400: AbortOutcome.REFUSED,
        404: AbortOutcome.OVER,
        409: AbortOutcome.OVER,
    }.get(status or 0)
