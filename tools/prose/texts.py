# SPDX-License-Identifier: Apache-2.0
"""Texts that operators read: pages, release notes, messages of modules."""

import ast
import pathlib
import re
from collections.abc import Iterator

import yaml
from measures.sources import Module, Sources

from prose import pages, sentences

VALUE = '0'
"""What a value in a message is replaced by."""
LEAST_WORDS = 4
"""Of a string that is taken for a message."""
MOST_WORDS = 30
"""Of a message without a mark; longer ones are lists of names."""
_LANGUAGE = re.compile(r'\b(?:SELECT|INSERT|UPDATE|FROM)\b|[{}=]=|=~|\(\?')
"""What only SQL, PromQL and regular expressions have."""


def read(top: pathlib.Path) -> dict[str, list[str]]:
    """Sentences by path below the top."""
    return {
        str(path.relative_to(top)): [
            sentence
            for text in texts
            for sentence in sentences.split(text)
            if sentences.words(sentence)
        ]
        for path, texts in _files(top)
    }


def documents(top: pathlib.Path) -> list[pathlib.Path]:
    """Pages below doc/source, and those at the top."""
    folder = top / 'doc' / 'source'
    return [*sorted(top.glob('*.rst')), *sorted(folder.rglob('*.rst'))]


def _files(top: pathlib.Path) -> Iterator[tuple[pathlib.Path, list[str]]]:
    for path in documents(top):
        if path.name != 'style.rst':
            # The page on style has sentences as they should not be.
            yield path, pages.paragraphs(path.read_text())
    for path in sorted((top / 'releasenotes' / 'notes').glob('*.yaml')):
        yield path, list(_of_note(path))
    for module in Sources.read(top).modules.values():
        yield module.path, list(messages(module))


def _of_note(path: pathlib.Path) -> Iterator[str]:
    for section in yaml.safe_load(path.read_text()).values():
        for text in [section] if isinstance(section, str) else section:
            yield from pages.paragraphs(text)


def messages(module: Module) -> Iterator[str]:
    """Strings of a module that read like sentences; no docstrings."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(node.value)
        if node in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            skipped.update(ast.walk(node))
            text = ''.join(map(_part, node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if _is_message(text):
            yield pages.plain(
                re.sub(r'%\(?\w*\)?[sdr]\b|\{\w*\}', VALUE, text)
            )


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return VALUE


def _is_message(text: str) -> bool:
    plain_words = re.findall(r'(?<!\S)[A-Za-z][a-z]*[,.;:]?(?!\S)', text)
    is_list = len(plain_words) > MOST_WORDS and not re.search('[.,:;]', text)
    return (
        len(plain_words) >= LEAST_WORDS
        and not is_list
        and not _LANGUAGE.search(text)
    )
