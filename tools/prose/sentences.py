# SPDX-License-Identifier: Apache-2.0
"""Sentences: where they end, how long they are, how easily they read."""

import re

LONG = 40
"""Words that a sentence may have."""
_END = re.compile(
    r'(?<=[.?!])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)["\')]*\s+(?=["\'(*]*[A-Z])'
)
_WORD = re.compile(r"[A-Za-z][\w'-]*|\d[\d.,]*")
_VOWELS = re.compile(r'[aeiouy]+')


def split(paragraph: str) -> list[str]:
    """The sentences of a paragraph; a semicolon or colon ends none."""
    text = ' '.join(paragraph.split())
    return [sentence for sentence in _END.split(text) if sentence]


def words(text: str) -> list[str]:
    """Words and numbers; a name with a hyphen is one."""
    return _WORD.findall(text)


def syllables(word: str) -> int:
    """How many, by groups of vowels; a final silent e is none."""
    lower = word.lower()
    count = len(_VOWELS.findall(lower))
    if lower.endswith('e') and not lower.endswith(('le', 'ee')):
        count -= 1
    return max(count, 1)


def reading_ease(texts: list[str]) -> float:
    """Flesch's reading ease of sentences; higher is easier.

    R. Flesch, A new readability yardstick, Journal of Applied Psychology
    32(3), 1948.
    """
    counted = [word for text in texts for word in words(text)]
    if not counted:
        return 100.0
    return (
        206.835
        - 1.015 * len(counted) / len(texts)
        - 84.6 * sum(map(syllables, counted)) / len(counted)
    )
