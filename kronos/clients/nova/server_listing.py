# SPDX-License-Identifier: Apache-2.0
"""The listing of servers: all of them, a long one from both ends at once.

Nova gives a page after a marker only, so one page waits for another. But it
sorts: the first pages come in its own order, the last ones in the opposite
one, until they meet. The first page is asked for without either, since only
then does Nova tell of the servers of a cell that is down.
"""

import threading
from collections.abc import Iterable, Mapping

from oslo_log import log as logging

from kronos.clients.nova import rows, schema
from kronos.clients.paging import Json, Page
from kronos.clients.rest import Wire
from kronos.engine import types

LOG = logging.getLogger(__name__)

PATH, KEY = '/servers/detail', 'servers'
BACKWARDS = {
    'sort_key': ['created_at', 'uuid'],
    'sort_dir': ['asc', 'desc'],
}
"""The opposite of the order that Nova has by itself."""
HIDDEN = 'hidden'
SHORT = 2
"""Pages; a longer listing is read from both ends."""


def read(
    wire: Wire, microversion: str, filters: Mapping[str, str]
) -> tuple[list[types.Instance], int]:
    """The servers that have a host, and how many Nova tells no host of.

    They come in Nova's order. No more than two pages are held as Nova wrote
    them. An error at the far end costs time and nothing else.

    :raises NovaClientError: the near end cannot be read
    """
    params = {'all_tenants': '1', **filters}
    pages = wire.pages(PATH, KEY, microversion, params, shape=schema.Server)
    listing = _Listing()
    for number, page in enumerate(pages, 1):
        listing.add(page, 'near')
        if page.is_last:
            break
        if number == SHORT:
            far = wire.pages(
                PATH,
                KEY,
                microversion,
                params | BACKWARDS,
                shape=schema.Server,
            )
            listing.read_on(pages, far)
            break
    return listing.ends['near'] + listing.ends['far'][::-1], listing.hidden


def _translated(row: Json) -> types.Instance | str | None:
    """A server, :data:`HIDDEN` if its cell is down, None without a host."""
    if rows.is_partial(row):
        return HIDDEN
    return rows.instance(row) if row['OS-EXT-SRV-ATTR:host'] else None


class _Listing:
    """What was read from the near end, and from the far one."""

    def __init__(self) -> None:
        self.ends: dict[str, list[types.Instance]] = {'near': [], 'far': []}
        self.hidden = 0
        self._end_of: dict[str, str] = {}
        """By uuid; guarded by the lock."""
        self._lock = threading.Lock()
        self._is_over = threading.Event()

    def add(self, page: Page, end: str) -> bool:
        """Translate a page; whether the other end was there already."""
        translated = [(row['id'], _translated(row)) for row in page.rows]
        with self._lock:
            new = [
                instance
                for uuid, instance in translated
                if self._end_of.setdefault(uuid, end) == end
            ]
            self.hidden += new.count(HIDDEN)
        self.ends[end] += [
            instance
            for instance in new
            if isinstance(instance, types.Instance)
        ]
        return len(new) < len(translated)

    def read_on(self, near: Iterable[Page], far: Iterable[Page]) -> None:
        """Read from both ends until they meet."""
        other = threading.Thread(target=self._follow_far, args=(far,))
        other.start()
        try:
            self._follow(near, 'near')
        finally:
            self._is_over.set()
            other.join()

    def _follow_far(self, pages: Iterable[Page]) -> None:
        try:
            self._follow(pages, 'far')
        except Exception as error:
            # The near end goes on then, and meets what is wrong with a row.
            LOG.debug('Servers are listed in one direction only: %s', error)

    def _follow(self, pages: Iterable[Page], end: str) -> None:
        for page in pages:
            if self.add(page, end) or self._is_over.is_set():
                return
