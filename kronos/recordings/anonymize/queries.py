# SPDX-License-Identifier: Apache-2.0
"""The queries of a recording that names nobody.

Its form stays: what PromQL itself defines, numbers, and the names of metrics
and labels of well-known exporters. All else gets another name, and comments
go.
"""

import re
from collections.abc import Callable

from kronos.recordings.anonymize import vocabulary

_TOKEN = re.compile(
    r'(?P<space>\s+|\#[^\n]*)'
    r'|(?P<text>"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`[^`]*`)'
    r'|(?P<number>(?<![\w.])(?:(?:\d+(?:ms|[smhdwy]))+|0[xX][0-9a-fA-F]+'
    r'|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.]))'
    r'|(?P<word>[A-Za-z_][\w:]*)'
    r'|(?P<sign>[-+*/%^=!<>~(){}\[\],@:])'
    r'|(?P<other>.)',
    re.ASCII | re.DOTALL,
)
_WORD = re.compile(r'[A-Za-z_]+')
_BETWEEN = re.compile(r'(?:\$[1-9]|\[0-9\]|\[\^:\]|[-.*+?^$()|:/\\])*')
"""What is between the words of a literal: signs of regular expressions."""
_CLASSES = frozenset('dws')
"""As in ``\\d``."""
NOTHING = 'vector(0) > 1'
"""A query without an answer."""


class Queries:
    """New texts of queries, and new names of their labels.

    :param new_name: the new name of a text that is a name, '' if it is none
    """

    def __init__(self, new_name: Callable[[str], str]) -> None:
        self._known = new_name
        self._texts: dict[str, str] = {}
        self._words: dict[str, str] = {}
        self._queries: dict[str, str] = {}
        self._given: set[str] = set()

    def query(self, was: str) -> str:
        """Another text for another query, and the same for the same."""
        if was not in self._queries:
            text = self._rewritten(was)
            while text in self._given:
                text = f'{text} or {NOTHING}'
            self._queries[was] = text
            self._given.add(text)
        return self._queries[was]

    def word(self, was: str) -> str:
        """The new name of a metric or a label; '' stays."""
        if not was or was in vocabulary.IDENTIFIERS:
            return was
        return self._words.setdefault(was, f'name_{len(self._words) + 1:03}')

    def _rewritten(self, query: str) -> str:
        parts = [*map(self._part, _TOKEN.finditer(query))]
        return ' '.join(''.join(parts).split()) or NOTHING

    def _part(self, token: re.Match[str]) -> str:
        kind, text = token.lastgroup, token[0]
        if kind in ('number', 'sign'):
            return text
        if kind == 'word':
            if text.lower() in vocabulary.PROMQL:
                return text
            return self.word(text)
        if kind == 'text':
            return f'{text[0]}{self._literal(text[1:-1])}{text[0]}'
        return ' ' if kind == 'space' else '_'

    def _literal(self, text: str) -> str:
        if new := self._known(text):
            return new
        words = _WORD.findall(text)
        if _BETWEEN.fullmatch(_WORD.sub('', text)) and all(
            word in vocabulary.LITERALS or word in _CLASSES for word in words
        ):
            return text
        return self._texts.setdefault(text, f'text-{len(self._texts) + 1:03}')
