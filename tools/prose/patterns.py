# SPDX-License-Identifier: Apache-2.0
"""Patterns of sentences that read like a translation.

``doc/source/contributor/style.rst`` has an example of each, with a better
sentence. A pattern finds what a machine can find, and no more than that: a
sentence without any may still be a bad one.
"""

import re
from collections.abc import Iterator

_AUXILIARY = 'is|are|was|were|has|have|does|do|can|may|must|will'
PATTERNS = {
    name: re.compile(pattern)
    for name, pattern in {
        'clause as a subject': (
            r'^(?:What|Which|Whose|Who|Whoever|Whatever)\b.*\.$'
            r'|^How (?:many|much|long|far|often)\b.*,.*\.$'
            r'|^How (?!to\b|many\b|much\b|long\b|far\b|often\b).*\.$'
        ),
        'inverted order': (
            r'^Of (?!course\b|\d)\w+'
            r'|^(?:Below|Above|Behind|Beside|Among|Between)\b[^,.]{0,50}? '
            r'(?:stands?|lies?|comes?|goes?|(?:is|are) (?:what|the|a|an))\b'
            rf'|^(?:Not|Never|Only|Seldom|So|Nor) (?:{_AUXILIARY})\b'
            r'|\b(?:is|are) (?:said|told) (?:by|in|of|with)\b'
            r'|\bno more(?! than)\b(?=[,.;]|$)'
            r'|\balone counts?\b'
        ),
        'verb of speech or furniture': (
            r'\b(?:stands?(?! (?:for|alone|out)\b)|tells|told|says|said|knows'
            r'|asks|holds(?! the lock\b)|lies|speaks?)\b'
            r'|\bis at it\b'
        ),
        'nobody or nothing': (
            r"\b[Nn]obody(?:'s)?\b"
            rf'|\b[Nn]othing (?:else )?(?:{_AUXILIARY}|[a-z]+s)\b'
            r'|\b(?!as |is |was |changes |does |loads |leaves |places )'
            r'[a-z]+s nothing\b(?! to do\b)'
            r'|^Something (?!is wrong\b)(?:[a-z]+s)\b'
        ),
        'order by "is to"': (
            r'\b(?:is|are|was|were) (?:not )?to (?!the\b|a\b|an\b)[a-z]+\b'
        ),
        'who, what or those without a noun': (
            r'\b(?:and|or|by|for|to|of|than|as|with|at|if) who(?:ever)?\b'
            r'|\b(?:of|for|than|by|with) what (?:is|are|was|has|have|had)\b'
            r'|\b[Ww]hat (?:has|have|goes|comes|went|came)\b(?!.*\?$)'
            r'|(?:^|[,;:] )[Tt]hose of\b|\b[Tt]hose (?:go|come)\b'
            r'|\b(?:is|are) all that\b'
        ),
        'where for if': (
            r'\b[Ww]here (?:that|this|it|there|nothing|neither|none)'
            rf' (?:{_AUXILIARY}|makes|needs)\b'
        ),
        'turn or way': r"\b(?:its|whose|their|host's) turn\b|\bon its way\b",
        'private word or aphorism': (
            r'\bcertificate says\b|\bplateaus?\b(?! moves?\b)|\bcohorts?\b'
            r'|\bstaircases?\b|\bother half\b|\btwins?\b'
            r'|\brests (?:after|for|until)\b'
            r'|\bobjects to\b|\b(?:policy|threshold|it|nobody) objects\b'
            r'|\balike to\b'
            r'|\bcounts? (?:as|for|at)\b|\btaken for\b|\bwaits for no\b'
        ),
    }.items()
}


def in_sentence(sentence: str) -> Iterator[tuple[str, str]]:
    """(pattern, words that match), as often as they are there."""
    for name, pattern in PATTERNS.items():
        for match in pattern.finditer(sentence):
            yield name, match.group()
