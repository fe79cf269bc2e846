# SPDX-License-Identifier: Apache-2.0
"""The reader: what an audit reads of a cloud beside what every audit does.

An extension has one derived from :class:`Reader`. It keeps what it read in
the inventory, under the name of its extension, and the extension cuts out of
that what the snapshot of a scope keeps.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kronos.clients.nova.client import NovaClient
from kronos.engine.settings import Settings
from kronos.engine.types import Host
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.queries import QuerySource


@dataclass(frozen=True)
class Look:
    """One look at a cloud, after all that every audit reads by itself."""

    gathered: CloudInventory
    hosts: Mapping[str, Sequence[Host]]
    """By scope."""
    nova: NovaClient
    prometheus: QuerySource
    """It is asked each query once."""
    settings: Settings
    report: Callable[[str], None]
    """Takes a line of text as each part has been read."""


class Reader:
    """It reads nothing more."""

    def recall(self) -> None:
        """Read what happened before the look, so that nothing slips through.

        :raises KronosException: it is not known, and has to be
        """

    def read(self, look: Look) -> None:
        """Read on, and add to ``look.gathered``.

        :raises ConfigurationError: the audit asks for what does not exist
        :raises NovaClientError: a listing failed
        """


@dataclass(frozen=True)
class Readers(Reader):
    """Several of them, one after the other."""

    readers: Sequence[Reader]

    def recall(self) -> None:
        for reader in self.readers:
            reader.recall()

    def read(self, look: Look) -> None:
        for reader in self.readers:
            reader.read(look)
