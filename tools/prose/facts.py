# SPDX-License-Identifier: Apache-2.0
"""Facts of documents, and those that a later tree of them has not.

A fact is lost when no page of the later tree has it, on whatever page it was
before. A number is a weak fact, since another place may have it by chance.
"""

import pathlib
import re
from collections.abc import Iterator

from prose import texts

KINDS = {
    'anchor': re.compile(r'^ *(\.\. _[\w.-]+:)\s*$', re.MULTILINE),
    'directive': re.compile(
        r'^ *(\.\. (?!code-block)[\w-]+:: *\S.*)$', re.MULTILINE
    ),
    'literal': re.compile(r'``(.+?)``', re.DOTALL),
    'quoted': re.compile(r'(?<![\w"])"([^"\n]+(?:\n[^"\n]+)?)"(?![\w"])'),
    'row': re.compile(r'^ *\* - (.+)$', re.MULTILINE),
    'number': re.compile(r'(?<![\w.,-])(\d+(?:[.,]\d+)+|\d{2,}|\d+ %)(?!\w)'),
}
"""What each finds; its first group is the fact. Options and codes are
literals."""
_CONSOLE = re.compile(
    r'^( *)\.\. code-block:: (?:console|shell|bash)\n((?:\1 +.*\n|\s*\n)+)',
    re.MULTILINE,
)
_MESSAGES = re.compile(r'^\.\. says::\n\n((?: +.*\n)+)', re.MULTILINE)
_TABLE = re.compile(r'^ *=+(?: +=+)+ *$')


def lost(
    before: pathlib.Path, after: pathlib.Path
) -> list[tuple[str, str, str]]:
    """(page, kind, fact) of what only the earlier tree has, each fact once.

    :param before: top of the earlier tree
    :param after: top of the later tree
    """
    later = '\n'.join(path.read_text() for path in texts.documents(after))
    later = _normal(re.sub(r'\\\n\s*', '', later))
    seen: set[tuple[str, str]] = set()
    result = []
    for path in texts.documents(before):
        name = str(path.relative_to(before))
        for kind, fact in facts(path.read_text() + '\n'):
            if (kind, fact) not in seen and not _is_in(fact, later):
                result.append((name, kind, fact))
            seen.add((kind, fact))
    return result


def facts(text: str) -> Iterator[tuple[str, str]]:
    """(kind, fact) of a page, blanks and line breaks alike."""
    for kind, pattern in KINDS.items():
        for match in pattern.finditer(text):
            yield kind, _normal(match[1])
    for command in _commands(text):
        yield 'command', command
    for match in _MESSAGES.finditer(text):
        for line in match[1].splitlines():
            yield 'message', _normal(line)
    for cell in _first_cells(text):
        yield 'row', cell


def _commands(text: str) -> Iterator[str]:
    """Commands of console blocks; all lines, if none has a prompt."""
    for match in _CONSOLE.finditer(text):
        lines = re.sub(r'\\\n\s*', '', match[2]).splitlines()
        lines = [line.strip() for line in lines if line.strip()]
        prompted = [line[2:] for line in lines if line.startswith('$ ')]
        for line in prompted or lines:
            yield _normal(line)


def _first_cells(text: str) -> Iterator[str]:
    """First cells of simple tables, without rows that go on."""
    width = 0
    for line in text.splitlines():
        if _TABLE.match(line):
            width = re.search(r'=+', line).end()  # type: ignore[union-attr]
        elif not line.strip():
            width = 0
        elif width and (cell := line[:width].strip()):
            yield _normal(cell)


def _normal(text: str) -> str:
    """Text with single blanks, a term without its link."""
    text = ' '.join(text.split())
    return re.sub(r':term:`([^`<]+?)(?: <[^`]*>)?`', r'\1', text)


def _is_in(fact: str, text: str) -> bool:
    start = text.find(fact)
    while start >= 0:
        around = text[start - 1 : start] + text[start + len(fact) :][:1]
        if not re.search(r'\w', _edges(fact, around, start)):
            return True
        start = text.find(fact, start + 1)
    return False


def _edges(fact: str, around: str, start: int) -> str:
    """What is beside a fact where the fact itself ends with a letter."""
    left = around[:1] if start and fact[0].isalnum() else ''
    right = around[-1:] if fact[-1].isalnum() else ''
    return left + right
