# SPDX-License-Identifier: Apache-2.0
"""The selectors of a query: which series of a metric it may ask for.

They are read from its text. What an expression makes of the series, such as
``unless``, is not looked at.
"""

import re
from collections.abc import Iterator, Mapping

NAME = '__name__'
_STRING = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`[^`]*`'
_SELECTOR = re.compile(
    rf'{_STRING}|#[^\n]*'
    rf'|(?P<name>[a-zA-Z_:][\w:]*)?\s*'
    rf'\{{(?P<body>(?:{_STRING}|[^"\'`}}])*)\}}'
    r'|(?P<alone>[a-zA-Z_:][\w:]*)'
)
"""Also what only looks like one: a string, a comment, a name of a label."""
_MATCHER = re.compile(
    rf'(?:(?P<label>[\w.:]+|{_STRING})\s*(?P<how>=~|!~|!=|=)\s*)?'
    rf'(?P<value>{_STRING})'
)


_GROUPING = re.compile(
    r'\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^()]*\)',
    re.IGNORECASE,
)
_WORD = re.compile(r'(?<![\w.:])([a-zA-Z_:][\w:]*)(?![\w:]|\s*\()')
_KEYWORDS = frozenset(
    (
        *('and', 'or', 'unless', 'atan2', 'bool', 'offset', 'by', 'without'),
        *('on', 'ignoring', 'group_left', 'group_right', 'start', 'end'),
        *('inf', 'nan'),
    )
)


def names(query: str) -> list[str]:
    """The metrics that a query names, in its order, each once."""
    bare = re.sub(rf'{_STRING}|#[^\n]*', '', query)
    bare = re.sub(r'\{[^{}]*\}|\[[^\[\]]*\]', ' ', bare)
    words = _WORD.findall(_GROUPING.sub(' ', bare))
    return list(
        dict.fromkeys(word for word in words if word.lower() not in _KEYWORDS)
    )


def asks(query: str, series: Mapping[str, str]) -> bool:
    """Whether a query has a selector that a series fits.

    :param series: its labels as far as they are known, with its name as
        :data:`NAME`
    """
    return any(
        all(
            _fits(series[label], how, value)
            for label, how, value in matchers
            if label in series
        )
        for matchers in _selectors(query)
    )


def _selectors(query: str) -> Iterator[list[tuple[str, str, str]]]:
    """The matchers of each, as label, operator and value."""
    for selector in _SELECTOR.finditer(query):
        name = selector['name'] or selector['alone']
        body = selector['body']
        if name is None and body is None:
            continue
        matchers = [(NAME, '=', name)] if name else []
        for matcher in _MATCHER.finditer(body or ''):
            label = _text(matcher['label'] or NAME)
            value = _text(matcher['value'])
            matchers.append((label, matcher['how'] or '=', value))
        yield matchers


def _text(word: str) -> str:
    """A word without its quotes."""
    if word[0] not in '"\'`':
        return word
    inner = word[1:-1]
    return inner if word[0] == '`' else re.sub(r'\\(.)', r'\1', inner)


def _fits(value: str, how: str, pattern: str) -> bool:
    if how in ('=', '!='):
        return (value == pattern) is (how == '=')
    try:
        matches = re.fullmatch(pattern, value) is not None
    except re.error:
        return True  # Prometheus' patterns differ from Python's in little
    return matches is (how == '=~')
