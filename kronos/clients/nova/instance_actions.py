# SPDX-License-Identifier: Apache-2.0
"""Nova's instance actions: what became of the requests for a server."""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kronos.clients import rest
from kronos.clients.nova import schema
from kronos.clients.nova.api import Api, quoted
from kronos.clients.schema import seconds_of
from kronos.common import exceptions

LIVE_MIGRATION = 'live-migration'
STOP = 'stop'
START = 'start'
MIGRATE, RESIZE = 'migrate', 'resize'
MOVES = frozenset({LIVE_MIGRATION, MIGRATE, 'evacuate'})
"""To another host, without a resize, which a tenant requests."""
STARTS = frozenset(
    {START, 'reboot', 'restore', 'resume', 'unrescue', 'unshelve'}
)
"""After each of them a server runs."""
CONFIRM = 'confirmResize'
CANCEL = 'live_migration_cancel'
CLOCKS_APART_SECONDS = 300.0
"""By so much at most the clocks of Nova's services may differ."""


@dataclass(frozen=True)
class Stop:
    """A request to stop a server."""

    request_id: str
    user_id: str
    """'': nova-compute itself, which found the guest gone. It acts in a
    context without a user; whoever comes by the API has one."""


class InstanceActions:
    """Requests that Nova's API took, by their ids."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def live_migration_requests(self, uuid: str) -> list[str]:
        """Ids of all requests to live-migrate a server, the newest first.

        A request whose answer was lost is among them once Nova took it.

        :raises NovaClientError: also when there is no such server (404)
        """
        return self.requests(uuid, (LIVE_MIGRATION,))

    def requests(
        self, uuid: str, kinds: Collection[str], user: str = ''
    ) -> list[str]:
        """Ids of all requests of some kinds for a server, the newest first.

        :param kinds: Nova's words for the actions
        :param user: id of the user who asked; '': any
        :raises NovaClientError: also when there is no such server (404)
        """
        return [
            str(row['request_id'])
            for row in self._actions(uuid)
            if row['action'] in kinds
            and (not user or row.get('user_id') == user)
        ]

    def asked_after(self, uuid: str, kinds: Collection[str]) -> set[str]:
        """What was asked of a server since the newest request of some kinds.

        :returns: Nova's words for the actions
        :raises NovaClientError: also when there is no such server (404)
        """
        kinds_since: set[str] = set()
        for row in self._actions(uuid):
            if row['action'] in kinds:
                break
            kinds_since.add(str(row['action']))
        return kinds_since

    def abort_requests(self, uuid: str) -> list[str]:
        """Ids of all requests to abort a live migration of a server.

        Without one that is new, ``cancelled`` is the word of a nova-compute
        that was stopped while the migration was in its queue. Our own
        :meth:`.LiveMigration.abort_migration` is among them, too. Their times
        say nothing: they are of the API's clock, and those of migrations of
        a conductor's.

        :raises NovaClientError: also when there is no such server (404)
        """
        return self.requests(uuid, (CANCEL,))

    def last_stop(self, uuid: str) -> Stop | None:
        """The newest request to stop a server; None if there is none.

        Those of users have the API's clock, those of Nova itself a
        conductor's. Where they are too close for that, a server that was
        not started after its user's stop is off by that one: Nova stops only
        what ran.

        :raises NovaClientError: also when there is no such server (404)
        """
        stops: dict[bool, rest.Json] = {}
        was_started = False
        for row in self._actions(uuid):
            newest = next(iter(stops.values()), None)
            if newest and (len(stops) > 1 or not _is_close(newest, row)):
                break
            if row['action'] == STOP:
                stops.setdefault(bool(row.get('user_id')), row)
            elif row['action'] in STARTS and True not in stops:
                was_started = True
        if not stops:
            return None
        stop = stops.get(not was_started) or next(iter(stops.values()))
        return Stop(str(stop['request_id']), str(stop.get('user_id') or ''))

    def is_moved_by(self, uuid: str, requests: Collection[str]) -> bool:
        """Whether one of some requests has brought a server where it is.

        Somebody else's cold migration or resize that was asked for later
        has not. The order of Nova's list tells, and no time stamp.

        :raises NovaClientError: also when there is no such server (404)
        """
        moves = self.requests(uuid, (MIGRATE, RESIZE))
        return bool(requests) and (not moves or moves[0] in requests)

    def newest_of(
        self, uuid: str, kind: str, among: Collection[str], user: str
    ) -> str:
        """Id of the newest request of some kinds, if it is a user's.

        :param kind: which it has to be
        :param user: id of the user; '': nobody's
        :returns: '' if it is another one
        :raises NovaClientError: also when there is no such server (404)
        """
        newest = self.requests(uuid, among)[:1]
        own = self.requests(uuid, (kind,), user)[:1] if user else []
        return own[0] if own and own == newest else ''

    def moves_since(self, uuid: str, since: float) -> list[float]:
        """When the moves of a server since a time were requested.

        The server may have been deleted; nothing is left of one that Nova
        has forgotten.

        :param since: Unix seconds, as the result is
        :raises NovaClientError: they cannot be listed
        """
        try:
            moments = [
                seconds_of(row.get('start_time'))
                for row in self._actions(uuid)
                if row['action'] in MOVES
            ]
        except exceptions.NovaClientError as error:
            if error.kwargs['status'] != 404:
                raise
            return []
        return [moment for moment in moments if moment >= since]

    def refusal_reason(self, uuid: str, request_id: str) -> str:
        """Why a request failed after Nova had accepted it.

        What began last failed first, and says why; what had asked for it
        only says that nothing was left to try.

        :returns: Nova's words; empty if no part of it failed
        """
        failed = [
            event
            for event in self.action(uuid, request_id)['events']
            if event.get('result') == 'Error'
        ]
        # In whole seconds; within one, Nova lists the newest first.
        failed.sort(key=lambda event: str(event['start_time']), reverse=True)
        said = [
            ' '.join((event.get('details') or '').split()) or event['event']
            for event in failed
        ]
        return '; '.join(dict.fromkeys(said))

    def rivals(
        self, uuid: str, request_id: str, start: int, exempt: Collection[str]
    ) -> tuple[int, int]:
        """Earlier requests that came too close to be told by the clock.

        Each of them has made one migration by the time that the next is
        taken, within a second of its own start.

        :param start: Unix second in which this request was taken
        :param exempt: ids of requests that are none, as their migrations are
            known, too
        :returns: the second in which the first of them was taken, and how
            many there are
        """
        requests = iter(self.live_migration_requests(uuid))
        for request in requests:
            if request == request_id:
                break
        count = 0
        for earlier in requests:
            if earlier in exempt:
                break
            second = started(self.action(uuid, earlier))
            if second is None or second < start - 1:
                break
            start, count = second, count + 1
        return start, count

    def _actions(self, uuid: str) -> Iterator[rest.Json]:
        """All actions of one server, the newest first."""
        return self._api.wire.get_all(
            f'/servers/{quoted(uuid)}/os-instance-actions',
            'instanceActions',
            self._api.microversion,
            id_field='request_id',
            shape=schema.InstanceAction,
        )

    def action(self, uuid: str, request_id: str) -> rest.Json:
        """The action of one request, with its events."""
        path = f'/servers/{quoted(uuid)}/os-instance-actions'
        body = self._api.get(
            f'{path}/{quoted(request_id)}', shape=schema.OneAction
        )
        action: rest.Json = body['instanceAction']
        return action


def started(action: rest.Json) -> int | None:
    """Unix second in which the conductor took a live migration's request."""
    starts = [
        math.floor(seconds_of(event['start_time']))
        for event in action['events']
        if event['event'] == 'conductor_live_migrate_instance'
    ]
    return min(starts, default=None)


def _is_close(newest: rest.Json, earlier: rest.Json) -> bool:
    """Whether the times of two actions do not tell which came first."""
    moments = [seconds_of(row.get('start_time')) for row in (newest, earlier)]
    return all(moments) and moments[0] - moments[1] <= CLOCKS_APART_SECONDS
