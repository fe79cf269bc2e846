# SPDX-License-Identifier: Apache-2.0
"""Are all servers listed, and each once, whoever comes first?"""

from typing import Any

from kronos.clients.nova import server_listing
from tests.unit.clients.nova.test_client import SERVERS, NovaTestCase, server


class TestRead(NovaTestCase):
    """Three servers to a page; the last one first where that is asked for."""

    ignores_order = False

    def setUp(self) -> None:
        super().setUp()
        self.rows = [server(f's{number:02}') for number in range(20)]
        self.wire.get(SERVERS, json=self.page)

    def page(self, request: Any, context: Any) -> Any:
        rows, marker = list(self.rows), request.qs.get('marker')
        if 'sort_key' in request.qs and not self.ignores_order:
            rows.reverse()
        if marker:
            rows = rows[[row['id'] for row in rows].index(marker[0]) + 1 :]
        answer: dict[str, Any] = {'servers': rows[:3]}
        if rows[3:]:
            answer['servers_links'] = [{'rel': 'next', 'href': 'http://x'}]
        return answer

    def listing(self) -> list[str]:
        found, self.hidden = server_listing.read(
            self.nova.api.wire, self.nova.microversion, {}
        )
        return [instance.uuid for instance in found]

    def asked(self) -> list[Any]:
        """The queries, without those of the far end."""
        requests = self.keystone.requests('/servers/detail')
        return [
            request.qs for request in requests if 'sort_key' not in request.qs
        ]

    def far(self) -> list[Any]:
        requests = self.keystone.requests('/servers/detail')
        return [request.qs for request in requests if 'sort_key' in request.qs]

    def all_of_them(self) -> None:
        self.assertEqual([row['id'] for row in self.rows], self.listing())

    def test_both_ends(self) -> None:
        """In Nova's order; no page is asked for that is not needed."""
        self.all_of_them()
        self.assertEqual({'all_tenants': ['1']}, self.asked()[0])
        self.assertEqual(['created_at', 'uuid'], self.far()[0]['sort_key'])
        self.assertEqual(['asc', 'desc'], self.far()[0]['sort_dir'])
        # Of 7 pages; where they meet each end may ask for one in vain.
        self.assertLessEqual(len(self.asked()) + len(self.far()), 9)

    def test_a_short_listing(self) -> None:
        for number in (0, 1, 3, 6):
            self.rows = [server(f's{one}') for one in range(number)]
            self.all_of_them()
        self.assertEqual([], self.far())

    def test_each_length(self) -> None:
        for number in range(7, 16):
            self.rows = [server(f's{one:02}') for one in range(number)]
            self.all_of_them()

    def test_an_order_that_is_not_kept(self) -> None:
        self.ignores_order = True
        self.all_of_them()
        self.assertEqual(1, len(self.far()))

    def test_the_far_end_is_refused(self) -> None:
        plain = self.page

        def page(request: Any, context: Any) -> Any:
            if 'sort_key' in request.qs:
                context.status_code = 400
                return {'badRequest': {'message': 'no sort_key'}}
            return plain(request, context)

        self.wire.get(SERVERS, json=page)
        self.all_of_them()
        self.assertEqual(7, len(self.asked()))

    def test_the_near_end_is_refused(self) -> None:
        plain = self.page

        def page(request: Any, context: Any) -> Any:
            if request.qs.get('marker') == ['s05']:
                context.status_code = 403
                return {'forbidden': {'message': 'no'}}
            return plain(request, context)

        self.wire.get(SERVERS, json=page)
        self.assertIn('403', str(self.fails(self.listing)))

    def test_a_row_that_is_no_server(self) -> None:
        """It is told, whichever end meets it first."""
        for number in (8, 19):
            self.rows[number] = {'id': f's{number:02}'}
            self.rows[number]['flavor'] = 7
            self.assertIn('flavor', str(self.fails(self.listing)))
            self.rows[number] = server(f's{number:02}')

    def test_without_a_host(self) -> None:
        """One whose cell is down is counted, one that has none is left out."""
        self.rows[0] = {'id': 's00', 'status': 'UNKNOWN'}
        self.rows[19] = server('s19', **{'OS-EXT-SRV-ATTR:host': None})
        expected = [row['id'] for row in self.rows[1:19]]
        self.assertEqual(expected, self.listing())
        self.assertEqual(1, self.hidden)
