# SPDX-License-Identifier: Apache-2.0
"""Counts of patterns and long sentences, by file and by kind of text."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from prose import patterns, sentences


@dataclass
class Counts:
    """What a file, or all of a kind, has."""

    words: int = 0
    sentences: list[str] = field(default_factory=list)
    matches: list[tuple[str, str, str]] = field(default_factory=list)
    """(pattern, words that match, sentence)"""
    long: list[str] = field(default_factory=list)
    """Sentences that are too long."""

    @classmethod
    def of(cls, texts: list[str]) -> Self:
        """:param texts: sentences"""
        result = cls(sentences=texts)
        for sentence in texts:
            length = len(sentences.words(sentence))
            result.words += length
            if length > sentences.LONG:
                result.long.append(sentence)
            for name, match in patterns.in_sentence(sentence):
                result.matches.append((name, match, sentence))
        return result

    @property
    def per_thousand(self) -> float:
        """Matches for each 1,000 words."""
        return 1000 * len(self.matches) / max(self.words, 1)

    @property
    def ease(self) -> float:
        """Flesch's reading ease."""
        return sentences.reading_ease(self.sentences)


def baseline(by_path: dict[str, list[str]]) -> Iterator[str]:
    """Lines ``path patterns long`` of files that have any, sorted."""
    for path, texts in sorted(by_path.items()):
        counts = Counts.of(texts)
        if counts.matches or counts.long:
            yield f'{path} {len(counts.matches)} {len(counts.long)}'


def kinds(by_path: dict[str, list[str]]) -> dict[str, Counts]:
    """Of all documents, messages and release notes."""
    texts: dict[str, list[str]] = {
        'documents': [],
        'messages': [],
        'release notes': [],
    }
    suffixes = {'rst': 'documents', 'py': 'messages', 'yaml': 'release notes'}
    for path, rows in by_path.items():
        texts[suffixes[path.rpartition('.')[2]]].extend(rows)
    return {kind: Counts.of(rows) for kind, rows in texts.items()}
