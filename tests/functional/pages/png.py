# SPDX-License-Identifier: Apache-2.0
"""A PNG with the words that are seen in it."""

import struct
import zlib
from collections.abc import Iterator

MAGIC = b'\x89PNG\r\n\x1a\n'
KEYWORD = b'Words\0\0\0\0\0'
"""Of a chunk ``iTXt`` that is not compressed and names no language."""


def with_words(data: bytes, words: str) -> bytes:
    """The same picture, as small as it can be, and what is read in it."""
    found = list(_chunks(data))
    pixels = zlib.decompress(
        b''.join(body for kind, body in found if kind == b'IDAT')
    )
    head = [one for one in found if one[0] in (b'IHDR', b'PLTE')]
    return MAGIC + b''.join(
        _chunk(kind, body)
        for kind, body in (
            *head,
            (b'iTXt', KEYWORD + words.encode()),
            (b'IDAT', zlib.compress(pixels, 9)),
            (b'IEND', b''),
        )
    )


def words(data: bytes) -> str:
    """What is read in a picture; '': it does not have this."""
    for kind, body in _chunks(data):
        if kind == b'iTXt' and body.startswith(KEYWORD):
            return body[len(KEYWORD) :].decode()
    return ''


def size(data: bytes) -> tuple[int, int]:
    """Width and height in pixels."""
    width, height = struct.unpack('>II', data[16:24])
    return width, height


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(MAGIC)
    while at < len(data):
        (length,) = struct.unpack('>I', data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += 12 + length


def _chunk(kind: bytes, body: bytes) -> bytes:
    check = struct.pack('>I', zlib.crc32(kind + body))
    return struct.pack('>I', len(body)) + kind + body + check
