# SPDX-License-Identifier: Apache-2.0
"""Paragraphs of reStructuredText: what a page says, without its code."""

import re
from collections.abc import Iterator

READ = frozenset(
    {'attention', 'caution', 'danger', 'figure', 'glossary', 'important'}
    | {'hint', 'list-table', 'note', 'tip', 'warning'}
)
"""Directives with prose in their body; bodies of others are left out."""
CODE = 'CODE'
"""What a literal is replaced by."""
_DIRECTIVE = re.compile(r'\.\. ([\w-]+)::')
_RULE = re.compile(r'[=\-~^"+*#|]{3,}[=\-+| ]*$')
_ITEM = re.compile(r'(?:\* - |[*-] |#\. |\d+\. |:[^:`]+:(?= |$))\s*')
_LITERAL = re.compile(r'``.+?``', re.DOTALL)
_ROLE = re.compile(r'(?::[\w:.-]+:)?`([^`<]*?)\s*(?:<[^`]*>)?`_{0,2}')


def paragraphs(text: str) -> list[str]:
    """Paragraphs, items, headings and cells, in their order."""
    result: list[str] = []
    block: list[str] = []
    column = 0
    for line in [*_without_bodies(text), '']:
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        words = _without_items(stripped)
        rule = is_rule(stripped)
        if not words or rule or words != stripped or indent != column:
            # A term of a list and its definition have different columns.
            result.append('\n'.join(block))
            block = []
        if words and not rule:
            block.append(words)
        column = indent + len(stripped) - len(words)
    return [plain(paragraph) for paragraph in result if paragraph]


def is_rule(line: str) -> bool:
    """Whether a line, without blanks, is below or above a heading."""
    return bool(_RULE.match(line))


def is_item(line: str) -> bool:
    """Whether a line, without blanks, begins an item of a list or a cell."""
    return bool(_ITEM.match(line))


def is_read(line: str) -> bool:
    """Whether a line begins a directive that has prose in its body."""
    directive = _DIRECTIVE.match(line)
    return bool(directive and directive[1] in READ)


def _without_items(line: str) -> str:
    while match := _ITEM.match(line):
        line = line[match.end() :]
    return line


def _without_bodies(text: str) -> Iterator[str]:
    """Lines without comments, targets, literal blocks and code."""
    skipped: int | None = None
    columns: list[int] = []
    for line in text.expandtabs().splitlines():
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        if skipped is not None and (not stripped or indent > skipped):
            yield ''
            continue
        skipped = None
        if re.match(r'=+(?: +=+)+$', stripped):
            columns = [match.start() for match in re.finditer('=+', line)]
            yield ''
        elif columns and stripped:
            yield from _cells(line, columns)
        elif stripped.startswith('.. '):
            columns = []
            if not is_read(stripped):
                skipped = indent
            yield ''
        else:
            columns = []
            if stripped.endswith('::'):
                skipped = indent
                line = line.rstrip()[:-1]
            yield line


def _cells(line: str, columns: list[int]) -> Iterator[str]:
    """Cells of a row, each a paragraph."""
    for start, end in zip(columns, [*columns[1:], None], strict=True):
        yield line[start:end]
        yield ''


def plain(text: str) -> str:
    """Text without its marks; a literal is one word."""
    text = _LITERAL.sub(CODE, text)
    text = _ROLE.sub(r'\1', text)
    return ' '.join(text.replace('**', '').replace('\\', '').split())
