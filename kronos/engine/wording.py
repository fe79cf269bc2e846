# SPDX-License-Identifier: Apache-2.0
"""Numbers, lists and servers as words, the same in every sentence."""

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from kronos.common import shell_commands

_SHORT = 8
"""Characters of a uuid that people compare."""
_LONGEST = 64
"""Characters of a name that its owner chose."""
_CUT = '...'
_UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', re.I)


def some(names: Collection[str], limit: int = 5) -> str:
    """The first names as text: ``a, b and 7 more``."""
    first = ', '.join(list(names)[:limit])
    more = len(names) - limit
    return f'{first} and {more} more' if more > 0 else first


def counted(number: int, what: str) -> str:
    """A number of things as text: ``1 host``, ``2 hosts that are down``."""
    noun, _, rest = what.partition(' ')
    return f'{number} {noun}{"" if number == 1 else "s"} {rest}'.rstrip()


def gibibytes(mebibytes: float) -> str:
    """An amount of memory, in the one unit that people are shown."""
    amount = mebibytes / 1024
    return f'{amount:.1f} GiB' if amount >= 0.95 else f'{amount:.2g} GiB'


class ShortUuids:
    """The beginnings by which uuids differ; other ids stay whole.

    :param uuids: all among which one is looked for
    """

    def __init__(self, uuids: Iterable[str]) -> None:
        distinct = sorted({uuid for uuid in uuids if _UUID.fullmatch(uuid)})
        self._length = _SHORT
        for uuid, following in itertools.pairwise(distinct):
            while uuid[: self._length] == following[: self._length]:
                self._length += 1

    def of(self, uuid: str) -> str:
        return uuid[: self._length] if _UUID.fullmatch(uuid) else uuid

    def named(self, name: str, uuid: str) -> str:
        """The name first, where there is one: ``web-8 (703e281a)``."""
        short = self.of(uuid)
        return short if name in ('', uuid) else f'{name} ({short})'


class Named(Protocol):
    """What has a name."""

    name: str


class ServerNames:
    """The servers of a scope, as people call them.

    Their owners choose the names: they are quoted like a word of a shell, so
    that none can pass for a part of the sentence.

    :param servers: by uuid; a name may be ''
    """

    def __init__(self, servers: Mapping[str, Named]) -> None:
        self._names = {uuid: named(s.name, '') for uuid, s in servers.items()}
        self._number = Counter(self._names.values())

    def of(self, uuid: str) -> str:
        """The name; with the uuid where it is not this one's alone.

        The uuid where there is no name, or one that looks like a uuid.
        """
        name = self._names.get(uuid, '')
        if not name or name in self._names or _UUID.fullmatch(name):
            return uuid
        is_own = self._number[name] == 1 and not name.endswith(_CUT)
        return name if is_own else f'{name} ({uuid})'


def named(name: str, uuid: str) -> str:
    """What has a name that somebody chose: by this, or else by its uuid.

    The name is one word, which is cut where it is too long.
    """
    if not name:
        return uuid
    cut = name[:_LONGEST]
    return shell_commands.word(cut) + (_CUT if cut != name else '')
