# SPDX-License-Identifier: Apache-2.0
"""Nova's server groups: all of them, and those of one server.

Raw calls: openstacksdk's own listing truncates the groups.
"""

from kronos.clients import rest
from kronos.clients.nova import rows, schema
from kronos.clients.nova.api import Api, quoted
from kronos.engine import types

_PAGE = 1000
_TRIES = 5


class ServerGroups:
    """The part of Nova's client that reads the groups of every project."""

    api: Api

    def get_groups_of(self, uuid: str) -> list[types.ServerGroup]:
        """The groups that a server is a member of, as they are now.

        :raises NovaClientError: also when there is no such server (404)
        """
        body = self.api.get(f'/servers/{quoted(uuid)}', shape=schema.OneServer)
        names = body['server'].get('server_groups')
        if names is None:
            # Nova before 2.71, which is that of Stein.
            return [g for g in self.list_server_groups() if uuid in g.members]
        groups = [self._group(name) for name in names]
        return [group for group in groups if group is not None]

    def _group(self, uuid: str) -> types.ServerGroup | None:
        """One group; None if there is none (any more)."""
        path = f'/os-server-groups/{quoted(uuid)}'
        body = self.api.find(path, shape=schema.OneGroup)
        return body and rows.group(body['server_group'])

    def list_server_groups(self) -> list[types.ServerGroup]:
        """The groups of all projects.

        Pages overlap by one row: another row in its place means that a
        group was deleted meanwhile, and the listing starts anew.

        :raises NovaClientError: also when the groups will not hold still
        """
        for _ in range(_TRIES):
            listing = self._groups_once()
            if listing is not None:
                return [rows.group(row) for row in listing.values()]
        raise self.api.wire.failure(
            'the server groups kept changing while they were listed',
            transient=True,
        )

    def _groups_once(self) -> dict[str, rest.Json] | None:
        groups: dict[str, rest.Json] = {}
        page = self._group_page(0)
        # A server that gives one row at a time leaves none to overlap.
        overlap = 1 if len(page) > 1 else 0
        while page:
            before = len(groups)
            groups.update((row['id'], row) for row in page)
            if len(groups) == before:
                # It gives the same rows whatever it is asked for.
                return None
            last = page[-1]['id']
            page = self._group_page(len(groups) - overlap)
            if overlap and (not page or page[0]['id'] != last):
                return None
            page = page[overlap:]
        return groups

    def _group_page(self, offset: int) -> list[rest.Json]:
        body = self.api.get(
            '/os-server-groups',
            {'all_projects': 'True', 'limit': _PAGE, 'offset': offset},
            shape=schema.ServerGroupPage,
        )
        page: list[rest.Json] = body['server_groups']
        return page
