# SPDX-License-Identifier: Apache-2.0
"""Is every row of a listing given once, and does a listing end?"""

import itertools
from typing import Any

import fixtures
from oslotest import base

from kronos.clients import paging
from kronos.common import exceptions


def refused(status: int) -> exceptions.ClientError:
    return exceptions.NovaClientError(reason='no', status=status)


class TestPages(base.BaseTestCase):
    """Two rows to a page."""

    def setUp(self) -> None:
        super().setUp()
        self.names = list('abcde')
        self.deleted: dict[str, int] = {}
        self.links = 'rows_links'

    def get(self, query: paging.Json) -> Any:
        marker = query.get('marker')
        if marker in self.deleted:
            raise refused(self.deleted[marker])
        first = self.names.index(marker) + 1 if marker else 0
        found: dict[str, Any] = {
            'rows': [{'id': name} for name in self.names[first : first + 2]]
        }
        if self.names[first + 2 :]:
            found[self.links] = [{'rel': 'next'}]
        return found

    def test_all(self) -> None:
        for links in ('rows_links', 'links'):
            self.links = links
            pages = paging.pages(self.get, 'rows', {}, 'id')
            found = [
                ([row['id'] for row in page.rows], page.is_last)
                for page in itertools.islice(pages, 3)
            ]
            self.assertEqual(
                [(['a', 'b'], False), (['c', 'd'], False), (['e'], True)],
                found,
            )

    def test_a_marker_that_is_deleted(self) -> None:
        """The row before it stands for it; what comes again is left out."""
        pages = paging.pages(self.get, 'rows', {}, 'id')
        next(pages)
        self.deleted = {'b': 400}
        page = next(pages)
        self.assertEqual(['c'], [row['id'] for row in page.rows])
        self.assertFalse(page.is_last)

    def test_it_is_refused(self) -> None:
        for status, deleted in ((403, 'b'), (400, 'ab')):
            self.deleted = {}
            pages = paging.pages(self.get, 'rows', {}, 'id')
            next(pages)
            self.deleted = dict.fromkeys(deleted, status)
            error = self.assertRaises(
                exceptions.NovaClientError, lambda p=pages: next(p)
            )
            self.assertEqual(status, error.kwargs['status'])

    def test_without_end(self) -> None:
        """Who asks for more pages than any listing has gets no more."""
        self.useFixture(fixtures.MockPatchObject(paging, 'MOST_PAGES', 3))
        numbers = itertools.count()

        def get(query: paging.Json) -> Any:
            rows = [{'id': next(numbers)}]
            return {'rows': rows, 'links': [{'rel': 'next'}]}

        result = list(paging.pages(get, 'rows', {}, 'id'))
        self.assertEqual([False] * 3, [page.is_last for page in result])
