# SPDX-License-Identifier: Apache-2.0
"""The Nova client that live-migrates: it asks, follows and aborts.

Raw calls with explicit microversions: openstacksdk's own call pins live
migration at 2.30 and drops its request id.
"""

import math
from collections.abc import Collection, Iterator

from oslo_log import log as logging

from kronos.clients import rest
from kronos.clients.nova import rows, schema
from kronos.clients.nova.api import Api, quoted
from kronos.clients.nova.instance_actions import InstanceActions, started
from kronos.clients.nova.progress import Progress
from kronos.clients.nova.rows import AbortOutcome, AbortResult, MigrationStatus
from kronos.clients.schema import seconds_of
from kronos.common import exceptions

LOG = logging.getLogger(__name__)

_NOT_FORCED = frozenset({400, 403, 404, 409})
"""What Nova answers to a wish that it does not grant."""
LIVE_MIGRATION = 'live-migration'
EVACUATION = 'evacuation'
TELLING = frozenset({'running', 'post-migrating'})
"""Statuses of a migration of which Nova may tell the progress."""


class LiveMigration:
    """Live migrations: they are asked for, followed and aborted here alone.

    Every method raises :class:`~kronos.common.exceptions.NovaClientError`
    whose ``kwargs`` are those of :class:`~kronos.clients.rest.Wire`.

    :param api: of a :class:`.NovaClient`
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self.actions = InstanceActions(api)

    def live_migrate(self, uuid: str, host: str) -> str:
        """Ask Nova to move a server; its scheduler checks the host.

        Never forced. An error whose ``kwargs['sent']`` is None may
        hide a request that Nova did get.

        :returns: the request id, for the methods below
        :raises NovaClientError: Nova refused at once: HTTP 400 (no such
            host, or one in another cell), 404, 409 (the server's state)
        """
        how = {'host': host, 'block_migration': 'auto'}
        return self._api.begin_move(uuid, {'os-migrateLive': how})

    def get_migration_status(
        self, uuid: str, key: str, earlier: Collection[str] = ()
    ) -> MigrationStatus:
        """The migration of a server that came of a request.

        :param key: what :meth:`live_migrate` returned, or better, from
            the second look on, the migration's uuid
        :param earlier: uuids of migrations and ids of requests that were
            there before: the conductor that took one of them may have a
            clock that is ahead
        :raises NovaClientError: Nova knows no such migration or request
        """
        if key.startswith('req-'):
            return self._status_of_request(uuid, key, earlier)
        for row in self._live_migrations(uuid):
            if row['uuid'] == key:
                return self._with_progress(row)
        raise self._api.wire.failure(
            f'server {uuid} has no live migration {key}', status=404
        )

    def _status_of_request(
        self, uuid: str, key: str, earlier: Collection[str]
    ) -> MigrationStatus:
        action = self.actions.action(uuid, key)
        start = started(action)
        if start is None:
            return MigrationStatus(uuid, 'accepted')
        # The conductor makes the migration after it starts the event, by
        # the same clock, and only one at a time: the first from then on.
        candidates = [
            row
            for row in self._live_migrations(uuid)
            if row['uuid'] not in earlier
        ][::-1]
        later = _made_since(start, candidates)
        if later and later[0]['status'] in rows.OVER:
            # Its database may keep whole seconds: one made right before?
            since, others = self.actions.rivals(uuid, key, start, earlier)
            later = _made_since(since, candidates)[others:]
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
            body = self._api.get(path, shape=schema.Running)
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
        """Ask Nova to abort a migration; look afterwards how it ended."""
        if migration.id is None:
            return AbortResult(
                AbortOutcome.REFUSED, 'Nova has not created a migration yet'
            )
        path = f'/servers/{quoted(uuid)}/migrations/{migration.id}'
        try:
            self._api.wire.send('DELETE', path, self._api.microversion)
        except exceptions.NovaClientError as error:
            outcome = _outcome(error.kwargs['status'], migration)
            if outcome is None:
                raise
            return AbortResult(outcome, str(error.kwargs['reason']))
        return AbortResult(AbortOutcome.ABORTING)

    def force_complete(self, uuid: str, migration: MigrationStatus) -> str:
        """Ask Nova to bring a migration to its end, whatever is written.

        Nova goes over to post-copy where the source's nova-compute permits
        that (the migration is then ``running (post-copy)``); else it pauses
        the guest until all of its memory is sent.

        :returns: why Nova refuses; '' if it does not
        """
        path = f'/servers/{quoted(uuid)}/migrations/{migration.id}/action'
        try:
            self._api.wire.send(
                'POST', path, self._api.microversion, {'force_complete': None}
            )
        except exceptions.NovaClientError as error:
            if error.kwargs['status'] not in _NOT_FORCED:
                raise
            return str(error.kwargs['reason'])
        return ''

    def set_active(self, uuid: str) -> None:
        """Set the row of a server to ACTIVE, without a task."""
        self._api.act(uuid, {'os-resetState': {'state': 'active'}})

    def migrations(self, uuid: str) -> list[str]:
        """Uuids of all migrations of a server, of any type."""
        listing = self._api.migrations(instance_uuid=uuid)
        return [str(row['uuid']) for row in listing]

    def evacuations(self, uuid: str) -> list[MigrationStatus]:
        """All evacuations of a server, the newest first."""
        listing = self._api.migrations(
            instance_uuid=uuid, migration_type=EVACUATION
        )
        return [
            rows.migration(row)
            for row in listing
            if row.get('migration_type') == EVACUATION
        ]

    def _live_migrations(self, uuid: str) -> Iterator[rest.Json]:
        """Those of one server, the newest first."""
        return self._api.migrations(
            instance_uuid=uuid, migration_type=LIVE_MIGRATION
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
    """What an HTTP error says of a request to abort; None: nothing.

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
