# SPDX-License-Identifier: Apache-2.0
"""The masking of secrets in texts, whoever wrote them."""

import html
import re
from collections.abc import Iterable, Iterator
from urllib import parse

from oslo_utils import strutils

HIDDEN = '***'
_HEADER = re.compile(
    r'(?P<name>\b(?:authorization|cookie|x-[\w-]{1,40}-(?:token|key)|'
    r'(?:x-)?api[-_]?key|access[-_]token))'
    r'(?P<sign>["\']?\s{0,3}[:=]\s{0,3}["\']?)'
    r'(?:(?:bearer|basic|digest)\s{1,3})?[^\s"\',;]+',
    re.IGNORECASE,
)
"""A header, or a parameter, whose value is a secret."""
_WORDS = re.compile(r'\s+|\S+')
_SCHEME = re.compile(
    r'\b(?P<scheme>(?i:bearer)\s{1,3}|(?i:basic)\s{1,3}'
    # Base64, and no word of a sentence about basic authentication.
    r'(?=[^\s"\',;][^\s"\',;]{0,400}?[A-Z\d=+/]))[^\s"\',;]{8,}'
)
"""Credentials after the name of their scheme."""
_TOKEN = re.compile(
    r'\b(?:gAAAA[\w-]{16,}={0,2}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)'
)
"""A token of Keystone, or a JWT."""


def masked(text: str) -> str:
    """A text without passwords, tokens, keys and users of URLs."""
    if not text:
        return text
    text = str(strutils.mask_password(text, HIDDEN))
    text = _HEADER.sub(rf'\g<name>\g<sign>{HIDDEN}', text)
    text = _SCHEME.sub(rf'\g<scheme>{HIDDEN}', text)
    text = _TOKEN.sub(HIDDEN, text)
    return ''.join(map(_without_user, _WORDS.findall(text)))


SHORTEST = 3
"""Characters of a secret; a shorter one would hide every other word."""
BEGINNING = 8
"""Characters of a longer secret that are hidden without the rest."""
SHORTEST_PIECE = 4
"""Characters of a piece of a URL; a shorter one is no secret by itself."""
_ROUNDS = 3
"""So often an escape may be escaped."""
_ESCAPE = re.compile(
    rb'%(?P<percent>[0-9a-f]{2})'
    rb'|\\(?:u(?P<unicode>[0-9a-f]{4})|x(?P<hex>[0-9a-f]{2})'
    rb'|(?P<plain>[/"\'\\\\]))'
    rb'|&(?P<entity>#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});',
    re.IGNORECASE,
)
"""A character as URLs, JSON or HTML write it."""
_Reading = tuple[bytes, list[int], list[int]]
"""A text as bytes, and where in the text each of them begins and ends."""


class Secrets:
    """Secrets that are known, and that another side may repeat.

    They are found in capitals and small letters alike, with any characters
    escaped as in a URL, JSON or HTML, and also where only the beginning of
    one is repeated.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = {
            value.lower().encode(errors='replace')
            for value in values
            if len(value) >= SHORTEST
        }

    def masked(self, text: str) -> str:
        """A text without them, nor any other secret."""
        return masked(self._without_values(text))

    def _without_values(self, text: str) -> str:
        spans = sorted(
            (starts[first], ends[last])
            for data, starts, ends in _readings(text)
            for value in self._values
            for first, last in _occurrences(value, data.lower())
        )
        parts: list[str] = []
        done = 0
        for start, end in spans:
            if start > done or not parts:
                parts += [text[done:start], HIDDEN]
            done = max(done, end)
        return ''.join([*parts, text[done:]])


def pieces_of_url(url: str) -> list[str]:
    """What may be secret in a URL: all but its scheme, host and port.

    The path and the query as a whole, and the pieces of both: whoever
    repeats them may repeat some.
    """
    parts = parse.urlsplit(url)
    values = [value for _, value in parse.parse_qsl(parts.query)]
    pieces = [*parts.path.split('/'), *values, parts.query, parts.fragment]
    pieces += [parts.username or '', parts.password or '', parts.path]
    return [
        form
        for piece in pieces
        for form in {piece, parse.unquote(piece)}
        if len(form) >= SHORTEST_PIECE
    ]


def _occurrences(value: bytes, data: bytes) -> Iterator[tuple[int, int]]:
    """Indices of the first and the last byte of each."""
    beginning = value[:BEGINNING]
    first = data.find(beginning)
    while first >= 0:
        length = len(beginning)
        while (
            length < len(value)
            and value[length : length + 1]
            == data[first + length : first + length + 1]
        ):
            length += 1
        yield first, first + length - 1
        first = data.find(beginning, first + length)


def _readings(text: str) -> Iterator[_Reading]:
    """The text, and what it is once its escapes are resolved."""
    encoded = [character.encode(errors='replace') for character in text]
    data = b''.join(encoded)
    starts = [place for place, piece in enumerate(encoded) for _ in piece]
    ends = [start + 1 for start in starts]
    yield data, starts, ends
    for _ in range(_ROUNDS):
        if not _ESCAPE.search(data):
            return
        data, starts, ends = _unescaped(data, starts, ends)
        yield data, starts, ends


def _unescaped(data: bytes, starts: list[int], ends: list[int]) -> _Reading:
    pieces: list[bytes] = []
    new_starts: list[int] = []
    new_ends: list[int] = []
    done = 0
    for escape in _ESCAPE.finditer(data):
        first, last = escape.span()
        character = _character(escape)
        pieces += [data[done:first], character]
        new_starts += starts[done:first] + [starts[first]] * len(character)
        new_ends += ends[done:first] + [ends[last - 1]] * len(character)
        done = last
    return (
        b''.join([*pieces, data[done:]]),
        new_starts + starts[done:],
        new_ends + ends[done:],
    )


def _character(escape: re.Match[bytes]) -> bytes:
    """The bytes that an escape stands for."""
    number = escape['percent'] or escape['hex']
    if number:
        return bytes([int(number, 16)])
    if escape['unicode']:
        return chr(int(escape['unicode'], 16)).encode(errors='replace')
    if escape['plain']:
        return escape['plain']
    return html.unescape(escape[0].decode()).encode(errors='replace')


def _without_user(word: str) -> str:
    """A word without the user of a URL in it.

    Up to the last @: a password may hold any character.
    """
    scheme, sign, rest = word.partition('://')
    user, separator, host = rest.rpartition('@')
    return f'{scheme}{sign}{HIDDEN}{separator}{host}' if user else word
