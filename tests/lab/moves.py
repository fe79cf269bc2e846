# SPDX-License-Identifier: Apache-2.0
"""How is a move brought into a certain state, and what became of it?"""

from typing import Any

from tests.lab import base
from tests.lab.base import Wanted

SOURCE, DESTINATION = 'cmp1', 'cmp2'
CLOSED = [host for host in base.ALPHA if host not in (SOURCE, DESTINATION)]
HELD: dict[str, Any] = {'seconds': 1, 'stall_at': 0.5}
"""Runs, and stands still until it is aborted or the rule changes."""
TAKES_OVER = 'compute_post_live_migration_at_destination'
"""Nova's event for a guest that has come to its destination."""


class MovesTestCase(base.LabTestCase):
    """Plans that move servers from cmp1 to cmp2.

    No other host takes any, so it matters little how full each of them is.
    """

    settled = 0.1
    closed = tuple(CLOSED)
    uuids: dict[str, str]

    def boot_here(self, *names: str, **more: Any) -> None:
        """Boot servers on the source."""
        self.boot_at(dict.fromkeys(names, SOURCE), **more)

    def boot_at(self, placed: dict[str, str], **more: Any) -> None:
        """Boot servers; no host of alpha but the destination takes any.

        :param placed: server name to host
        """
        closed = self.cloud.disabled() & set(CLOSED)
        taking = set(placed.values())
        for host in closed & taking:
            self.cloud.set_host(host, True)
        self.uuids = self.boot(
            Wanted(name, host, 0.2, 500, flavor='lab.small', **more)
            for name, host in placed.items()
        )
        for host in set(CLOSED) - (closed - taking):
            self.cloud.set_host(host, False, 'not for this scenario')

    def planned(self, *names: str, **options: Any) -> dict[str, Any]:
        """A plan that moves some servers, else all.

        :param options: of ``[kronos]``; they hold for its moves as well
        """
        self.configure(**options)
        wanted, placed = set(names or self.uuids), self.cloud.placement()
        hosts = ','.join(sorted({placed[name] for name in wanted}))
        audit, plan, actions = self.audited(
            f'aggregates=alpha hosts={hosts}', '', 'kronos_evacuate'
        )
        self.assertEqual(wanted, self.moved(actions), audit)
        for action in actions:
            told = action['input_parameters']
            self.assertEqual(DESTINATION, told['destination_node'])
        return plan

    def started(self, **options: Any) -> dict[str, Any]:
        plan = self.planned(**options)
        self.start(plan)
        return plan

    def rows(self, plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """The plan's actions by the name of the server."""
        return {
            row['input_parameters']['resource_name']: row
            for row in self.actions(plan)
        }

    def telling(self, plan: dict[str, Any], words: str) -> dict[str, Any]:
        """The first action that says so, once it does."""

        def found() -> dict[str, Any] | None:
            for row in self.actions(plan):
                if words in (row['status_message'] or ''):
                    return row
            return None

        return dict(self.wait(found, f'an action to say {words!r}'))

    def status(self, name: str) -> str:
        """What Nova calls the newest migration of a server."""
        rows = self.migrations(instance_uuid=self.uuids[name])
        return str(rows[0]['status']) if rows else ''

    def wait_status(self, name: str, *wanted: str) -> None:
        self.wait(lambda: self.status(name) in wanted, f'to be {wanted}')

    def wait_completed(self, name: str) -> None:
        """Wait until a migration is over, and its source's room is free.

        Nova frees that after it has said that the migration is completed.
        """
        self.wait_status(name, 'completed')
        [newest, *_] = self.migrations(instance_uuid=self.uuids[name])
        self.wait(
            lambda: not self.allocations(newest['uuid']),
            f'the room that {name} left',
        )

    def first(self, status: str) -> tuple[str, str]:
        """Of two servers, the one whose migration is so; and the other."""

        def found() -> str:
            names = [n for n in self.uuids if self.status(n) == status]
            return names[0] if names else ''

        name = self.wait(found, f'one to be {status}')
        [other] = set(self.uuids) - {name}
        return name, other

    def wait_event(self, name: str, event: str) -> None:
        """Wait until Nova is at an event of the newest action on a server."""
        url = f'/servers/{self.uuids[name]}/os-instance-actions'

        def has_come() -> bool:
            get = self.cloud.compute.get
            found = get(url, microversion='2.100').json()['instanceActions']
            request = f'{url}/{found[0]["request_id"]}'
            action = get(request, microversion='2.100').json()
            events = action['instanceAction']['events']
            return event in {one['event'] for one in events}

        self.wait(has_come, event)

    def aborts(self, name: str = '') -> list[int | None]:
        """What Nova has answered to Watcher's requests to abort.

        :param name: the server's; '': of any
        """
        where = f'/servers/{self.uuids[name] if name else ""}'
        return [
            request['status']
            for request in self.cloud.api_requests()
            if request['method'] == 'DELETE' and where in request['path']
        ]

    def orders_for(self, name: str) -> list[dict[str, Any]]:
        """Requests of Watcher to migrate a server that Nova got."""
        where = self.uuids[name]
        return [one for one in self.orders() if where in one['path']]

    def wait_followed(self, *names: str) -> None:
        """Wait until Watcher looks at the migrations of servers once more."""
        before = len(self.cloud.api_requests())

        def seen() -> bool:
            paths = [one['path'] for one in self.cloud.api_requests()[before:]]
            return all(
                any(
                    f'instance_uuid={self.uuids[name]}' in one for one in paths
                )
                for name in names
            )

        self.wait(seen, f'Watcher to follow {names}')

    def by_hand(self, name: str, host: str) -> None:
        """Migrate a server as an operator does; it has begun."""
        self.openstack(
            '--os-compute-api-version 2.30 server migrate --live-migration '
            f'--host {host} {self.uuids[name]}'
        )

    def cancel(self, plan: dict[str, Any]) -> None:
        self.openstack(f'optimize actionplan cancel {plan["uuid"]}')

    def ended(
        self, plan: dict[str, Any], state: str
    ) -> dict[str, dict[str, Any]]:
        """The actions by name, once the plan has ended in that state."""
        found = self.executed(plan)
        rows = self.rows(plan)
        messages = [row['status_message'] for row in rows.values()]
        self.assertEqual(state, found['state'], messages)
        return rows

    def assert_told(
        self, row: dict[str, Any], state: str, *words: str
    ) -> None:
        message = row['status_message'] or ''
        self.assertEqual(state, row['state'], message)
        for one in words:
            self.assertIn(one, message)

    def assert_never_started(self, row: dict[str, Any]) -> None:
        self.assert_told(row, 'CANCELLED')
        uuid = row['input_parameters']['resource_id']
        self.assertEqual([], self.migrations(instance_uuid=uuid))
