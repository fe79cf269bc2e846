# SPDX-License-Identifier: Apache-2.0
"""The gate before the deque: events wait there while domains are listed.

A list takes its time, so what is told meanwhile may be older or newer than
what the list says of that domain. Behind the list it does no harm: where the
list has it already, it is no news.
"""

from collections import deque

from kronos.monitor.domains import Listing
from kronos.monitor.events import Event
from kronos.monitor.sources.base import News


class Gate:
    """It is shut at first.

    :param news: where events go
    """

    def __init__(self, news: deque[News]) -> None:
        self._news = news
        self._waiting: deque[News] = deque()
        self._to = self._waiting

    def append(self, event: Event) -> None:
        """Let an event through, or wait; for callbacks alone."""
        self._to.append(event)

    def shut(self) -> None:
        """Let events wait from now on."""
        self._to = self._waiting

    def open(self, listing: Listing | None) -> None:
        """Let all through; only where callbacks run, so none overtakes.

        :param listing: which goes first; None: there is none
        """
        if listing is not None:
            self._news.append(listing)
        self._news.extend(self._waiting)
        self._waiting.clear()
        self._to = self._news
