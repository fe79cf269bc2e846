# SPDX-License-Identifier: Apache-2.0
"""The paging of listings: by marker, whoever is deleted meanwhile."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kronos.common import exceptions

MOST_PAGES = 10_000
"""Of one listing; more of them have no end."""
MARKERS = 12
"""So many of the last rows are tried as marker."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Page:
    """A page of a listing."""

    rows: list[Json]
    """Those that no page before it had."""
    is_last: bool


def pages(
    get: Callable[[Json], Any], key: str, query: Json, id_field: str
) -> Iterator[Page]:
    """The pages of a listing, at most :data:`MOST_PAGES` of them.

    A marker that was deleted meanwhile (HTTP 400) is replaced by the row
    before it.

    :param get: asks for one page
    :param key: of the rows in its body
    """
    seen: dict[str, None] = {}
    for _ in range(MOST_PAGES):
        page = _page_after(get, query, list(seen))
        rows = [row for row in page[key] if row[id_field] not in seen]
        seen.update((row[id_field], None) for row in rows)
        # Nova's instance actions have the latter.
        links = page.get(f'{key}_links') or page.get('links') or []
        has_next = any(link.get('rel') == 'next' for link in links)
        yield Page(rows, is_last=not (rows and has_next))


def _page_after(
    get: Callable[[Json], Any], query: Json, seen: list[str]
) -> Any:
    if not seen:
        return get(query)
    for marker in seen[:-MARKERS:-1]:
        try:
            query['marker'] = marker
            return get(query)
        except exceptions.ClientError as error:
            if error.kwargs['status'] != 400:
                raise
            lost = error
    raise lost
