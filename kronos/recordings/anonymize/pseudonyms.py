# SPDX-License-Identifier: Apache-2.0
"""The pseudonyms: one for each name, the same wherever it stands.

Planning breaks ties by names and uuids, so the new ones sort as the old ones
did. A label value of Prometheus keeps its form (``host.domain:port``, an
address), so that it finds its host, or does not, as before.
"""

from collections.abc import Collection, Iterable

from kronos.engine.scoring import labels

WIDTH = 3
"""Digits of a number, at least."""


class Numbered:
    """New names that are a word and a number, in the order of the old ones.

    :param pattern: a format for the number
    """

    def __init__(self, names: Iterable[str], pattern: str) -> None:
        self.table = _numbered(sorted(set(names) - {''}), pattern)

    def __call__(self, name: str) -> str:
        """The new name; '' stays.

        :raises KeyError: it is not one of the names
        """
        return self.table[name] if name else ''


class Hosts:
    """New names of hosts, and of label values that may mean one.

    :param names: of Nova's hosts; these keep their order
    :param others: of nodes, label values, and what else may be a host
    """

    def __init__(self, names: Collection[str], others: Iterable[str]) -> None:
        self._own = [
            _by_case(
                labels.without_port(name).partition('.')[part]
                for name in names
            )
            for part in (0, 2)
        ]
        bare = {self._spelled(name) for name in {*names, *others}}
        whole = sorted(name for name in bare if _is_address(name))
        named = sorted(name for name in bare if name and not _is_address(name))
        first: dict[str, str] = {}
        for name in sorted(map(labels.without_port, names)):
            first.setdefault(name.partition('.')[0], name)
        shorts = sorted(
            {name.partition('.')[0] for name in named},
            key=lambda short: (first.get(short, short), short),
        )
        domains = sorted({name.partition('.')[2] for name in named} - {''})
        self.shorts = _numbered(shorts, 'host-{}')
        self.domains = _numbered(domains, 'domain-{}')
        self.addresses = _addresses(whole)

    def __call__(self, name: str) -> str:
        """The new name, in the form of the old one.

        :raises KeyError: it is not one of the names
        """
        bare = labels.without_port(name)
        if not bare:
            return name
        return name.replace(bare, self._bare(self._spelled(name)), 1)

    def _spelled(self, name: str) -> str:
        """Without its port, its parts in the case of Nova's names."""
        bare = labels.without_port(name)
        if _is_address(bare):
            return bare.lower()
        short, dot, domain = bare.partition('.')
        shorts, domains = self._own
        return f'{_like(shorts, short)}{dot}{_like(domains, domain)}'

    def _bare(self, bare: str) -> str:
        if _is_address(bare):
            return self.addresses[bare]
        short, dot, domain = bare.partition('.')
        return f'{self.shorts[short]}{dot}{self.domains.get(domain, "")}'


def _by_case(words: Iterable[str]) -> dict[str, list[str]]:
    """The spellings of each word, by the word in small letters."""
    spellings: dict[str, list[str]] = {}
    for word in sorted(set(words)):
        spellings.setdefault(word.lower(), []).append(word)
    return spellings


def _like(by_case: dict[str, list[str]], word: str) -> str:
    """The word as it is spelled elsewhere, if that is known."""
    spellings = by_case.get(word.lower(), [])
    return word if word in spellings or not spellings else spellings[0]


def _is_address(bare: str) -> bool:
    """As :func:`.labels.short_name` sees it: it stays whole."""
    return ':' in bare or bare.replace('.', '').isdigit()


def _addresses(names: list[str]) -> dict[str, str]:
    """Addresses of the same family; of none that is in use anywhere."""
    addresses = {}
    for number, name in enumerate(names, 1):
        high, low = divmod(number, 256)
        if ':' in name:
            addresses[name] = f'2001:db8::{high:04x}:{low:04x}'
        else:
            second = f'{18 + high // 256:02}'
            addresses[name] = f'198.{second}.{high % 256:03}.{low:03}'
    return addresses


def _numbered(names: list[str], pattern: str) -> dict[str, str]:
    width = max(WIDTH, len(str(len(names))))
    return {
        name: pattern.format(f'{number:0{width}}')
        for number, name in enumerate(names, 1)
    }


def uuids(names: Iterable[str]) -> Numbered:
    """New uuids, in the order of the old ones."""
    numbered = Numbered([], '{}')
    for number, name in enumerate(sorted(set(names) - {''}), 1):
        numbered.table[name] = f'00000000-0000-4000-8000-{number:012}'
    return numbered
