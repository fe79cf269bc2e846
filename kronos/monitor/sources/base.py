# SPDX-License-Identifier: Apache-2.0
"""A source: where events come from; nothing beyond it knows its hypervisor.

A source appends what it has to tell to a deque, and the agent takes it from
there. A callback of a hypervisor's library does nothing else: no lock, no log,
no call, no file. One that takes its time holds up the hypervisor itself.
"""

import abc
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kronos.monitor.domains import Away, Domain, Gone, Listing
from kronos.monitor.events import Event

News = Event | Domain | Gone | Listing | Away
"""What is told: an event; a domain that was started or defined, described, or
that it is gone; all domains, after every connecting; that the hypervisor is
away."""


@dataclass(frozen=True)
class Options:
    """What sources are told; each takes what is its own."""

    events_file: str = ''
    """Of the synthetic one."""
    libvirt_uri: str = ''
    storm_rate: float = 200.0
    """I/O errors per second above which they are listened to now and then."""
    storm_seconds: float = 20.0
    """Between two such moments."""
    of_package: Mapping[str, Any] = field(default_factory=dict)
    """By name, of a source of another package."""


class Source(abc.ABC):
    """One hypervisor.

    It reconnects by itself, for ever. After each connecting it subscribes to
    events first and lists the domains then, and appends both in that order.

    :param news: what it appends to
    """

    OPTS: ClassVar[Sequence[Any]] = ()
    """Options of oslo.config that a source of another package has in the group
    ``[kronos_monitor]``; ``options.of_package`` has their values."""
    HYPERVISOR: ClassVar[str]
    """As messages name it."""

    def __init__(
        self, news: deque[News], options: Options | None = None
    ) -> None:
        self.news = news
        self.options = options or Options()

    @abc.abstractmethod
    def start(self) -> None:
        """Begin, in threads of its own; it raises nothing."""

    @abc.abstractmethod
    def stop(self) -> None:
        """End its threads."""

    @abc.abstractmethod
    def look(self, instance: str) -> Domain | None:
        """A domain as it is now; None: it is not there, or not just now.

        It may take some seconds, and is not called where events are taken.

        :raises OSError: the hypervisor is away
        """

    @abc.abstractmethod
    def want(self, instance: str) -> None:
        """Have a domain looked at, without waiting; the answer is news.

        While the hypervisor is away there is none.
        """

    @abc.abstractmethod
    def check(self) -> str:
        """What keeps it from telling events; '': nothing."""
