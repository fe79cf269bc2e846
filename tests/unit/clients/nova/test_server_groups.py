# SPDX-License-Identifier: Apache-2.0
"""Are all server groups listed, and those of one server found, at the wire?"""

from typing import Any
from urllib import parse

from tests.fakes.keystone import NOVA
from tests.unit.clients.nova import test_client
from tests.unit.clients.nova.test_client import GROUPS, group, server


class TestGroups(test_client.NovaTestCase):
    """Nova caps a page and gives no links."""

    def setUp(self) -> None:
        super().setUp()
        self.rows = [group(f'g{number}') for number in range(2500)]
        self.after_page: Any = lambda: None
        self.wire.get(GROUPS, json=self.page)

    def page(self, request: Any, context: Any) -> Any:
        query = parse.parse_qs(parse.urlsplit(request.url).query)
        self.assertEqual(['True'], query['all_projects'])
        offset, limit = int(query['offset'][0]), int(query['limit'][0])
        rows = self.rows[offset : offset + min(limit, 1000)]
        self.after_page()
        return {'server_groups': rows}

    def listing(self) -> list[str]:
        return [g.uuid for g in self.nova.list_server_groups()]

    def test_beyond_a_page(self) -> None:
        self.assertEqual([row['id'] for row in self.rows], self.listing())

    def test_none(self) -> None:
        self.rows = []
        self.assertEqual([], self.listing())

    def test_one(self) -> None:
        self.rows = self.rows[:1]
        self.assertEqual(['g0'], self.listing())

    def test_a_whole_page(self) -> None:
        self.rows = self.rows[:1000]
        self.assertEqual(1000, len(self.listing()))

    def test_a_group_that_is_deleted_meanwhile(self) -> None:
        def delete_one() -> None:
            del self.rows[3]
            self.after_page = lambda: None

        self.after_page = delete_one
        listing = self.listing()
        self.assertEqual([row['id'] for row in self.rows], listing)
        self.assertEqual(2499, len(listing))

    def test_groups_that_never_hold_still(self) -> None:
        def delete_one() -> None:
            del self.rows[3]

        self.after_page = delete_one
        error = self.fails(self.nova.list_server_groups)
        self.assertIn('kept changing', str(error))
        self.assertTrue(error.kwargs['transient'])

    def test_forms_of_the_policy(self) -> None:
        new = group(
            'new', rules={'max_server_per_host': 3}, members=['a', 'b']
        )
        old = group('old', policies=['soft-affinity'], metadata={})
        del old['policy'], old['rules']
        none = group('none', policies=[])
        del none['policy']
        self.rows = [new, old, none]
        found = {g.uuid: g for g in self.nova.list_server_groups()}
        self.assertEqual('anti-affinity', found['new'].policy)
        self.assertEqual(3, found['new'].max_server_per_host)
        self.assertEqual(['a', 'b'], found['new'].members)
        self.assertEqual('soft-affinity', found['old'].policy)
        self.assertEqual(1, found['old'].max_server_per_host)
        self.assertEqual('', found['none'].policy)


class TestGroupsOfOne(test_client.NovaTestCase):
    """Looked at again just before a move."""

    def server(self, **more: Any) -> None:
        self.wire.get(
            f'{NOVA}/servers/vm', json={'server': server('vm', **more)}
        )

    def found(self) -> list[str]:
        return [group.uuid for group in self.nova.get_groups_of('vm')]

    def test_its_groups(self) -> None:
        self.server(server_groups=['g1', 'g2'])
        self.wire.get(
            f'{GROUPS}/g1',
            json={'server_group': group('g1', members=['vm', 'other'])},
        )
        # It was deleted meanwhile.
        self.wire.get(f'{GROUPS}/g2', status_code=404)
        (found,) = self.nova.get_groups_of('vm')
        self.assertEqual(
            ('g1', 'anti-affinity', ['vm', 'other']),
            (found.uuid, found.policy, found.members),
        )
        self.assertEqual([], self.keystone.requests('/os-server-groups'))

    def test_none(self) -> None:
        self.server(server_groups=[])
        self.assertEqual([], self.found())

    def test_a_group_that_is_not_told(self) -> None:
        self.server(server_groups=['g1'])
        self.wire.get(f'{GROUPS}/g1', status_code=403)
        error = self.fails(self.nova.get_groups_of, 'vm')
        self.assertEqual(403, error.kwargs['status'])

    def test_no_such_server(self) -> None:
        self.wire.get(f'{NOVA}/servers/vm', status_code=404)
        error = self.fails(self.nova.get_groups_of, 'vm')
        self.assertEqual(404, error.kwargs['status'])

    def test_an_older_nova(self) -> None:
        """Before 2.71 a server does not tell."""
        self.server()
        rows = [group('g1', members=['a']), group('g2', members=['b', 'vm'])]

        def page(request: Any, context: Any) -> Any:
            return {'server_groups': rows[int(request.qs['offset'][0]) :]}

        self.wire.get(GROUPS, json=page)
        self.assertEqual(['g2'], self.found())
