# SPDX-License-Identifier: Apache-2.0
"""Terms of the glossary, and first uses of them that are no link.

A use is a noun in running text. Headings, code, messages in quotes and
tables whose columns have a fixed width are none.
"""

import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from prose import pages, texts

GLOSSARY = pathlib.Path('doc', 'source', 'concepts.rst')
WITHOUT = frozenset({'concepts.rst', 'style.rst'})
"""The glossary, and the page whose sentences are examples."""
ALSO_VERBS = frozenset({'gain', 'plan', 'replay', 'search', 'swap', 'trust'})
"""A word of these is a noun only after one of _BEFORE_NOUN."""
OTHER_NOUNS = {'recording': r'\s+rule', 'policy': r'\s+file\s+of'}
"""What follows a word that is no term: recording rules are Prometheus'."""
OTHER_MEANINGS = {
    'benchmarks.rst': {'goal'},
    'deploying.rst': {'policy'},
    'lab.rst': {'action', 'phase'},
    'monitoring.rst': {'action', 'mode', 'policy'},
    'notifications.rst': {'policy'},
    'report.rst': {'search'},
}
"""Words that only look like a term there: of Masakari, say, or RabbitMQ."""
_BEFORE_NOUN = '|'.join(
    rf'(?<=\b{word}\s)'
    for word in ('the', 'a', 'an', 'each', 'every', 'this', 'its', 'no')
    + ('one', 'any', 'of')
)
_ENTRIES = re.compile(r'^\.\. glossary::\n((?:(?: .*)?\n)+)', re.MULTILINE)
_MASKED = re.compile(
    r'``.+?``|:(?!term:)[\w.:-]+:`[^`]+`|(?<![:\w`])`[^`]+`_{1,2}'
    r'|(?<![\w"])"[^"]+"(?!\w)|\*{1,2}[^*\s][^*]*\*{1,2}',
    re.DOTALL,
)
_FIELD = re.compile(r' *:[\w-]+:(?= |$)')


@dataclass(frozen=True)
class Use:
    """The first use of a term on a page."""

    term: str
    start: int
    end: int


def glossary(text: str) -> list[str]:
    """Terms, longest first.

    :param text: of the page with the glossary
    """
    terms = re.findall(
        r'^   (\S.*)$', '\n'.join(_ENTRIES.findall(text)), re.MULTILINE
    )
    # TLS has certificates, too, and more often.
    terms = [term for term in terms if term != 'certificate']
    return sorted(terms, key=lambda term: (-len(term), term))


def unlinked(top: pathlib.Path) -> Iterator[tuple[str, Use]]:
    """(page, first use) of each term that is first used without a link."""
    page = top / GLOSSARY
    terms = glossary(page.read_text()) if page.exists() else []
    for path in texts.documents(top):
        if path.parent != top and path.name not in WITHOUT:
            name = str(path.relative_to(top))
            others = OTHER_MEANINGS.get(path.name, set())
            for use in first_uses(path.read_text(), terms):
                if use.term not in others:
                    yield name, use


def first_uses(text: str, terms: list[str]) -> Iterator[Use]:
    """Uses before any link to the same term.

    :param text: of a page
    :param terms: longest first
    """
    masked = prose(text)
    for term in terms:
        link = re.search(
            rf':term:`(?:[^`<]*<)?{term}>?`', masked.replace('\n', ' ')
        )
        plain = re.sub(
            ':term:`[^`]*`', lambda match: '~' * len(match[0]), masked
        )
        use = _noun(term).search(plain)
        if use and (not link or use.start() < link.start()):
            yield Use(term, use.start(), use.end())
        # A shorter term may be a part of this one.
        masked = _noun(term).sub(
            lambda match: re.sub(r'\S', '~', match[0]), masked
        )


def _noun(term: str) -> re.Pattern[str]:
    """Singular and plural, in one line or two."""
    stem, plural = (term[:-1], '(?:y|ies)') if term[-1] == 'y' else (term, '')
    words = re.escape(stem).replace(r'\ ', r's?\s+') + (plural or '(?:e?s)?')
    before = f'(?:{_BEFORE_NOUN})' if term in ALSO_VERBS else ''
    after = f'(?!{OTHER_NOUNS[term]})' if term in OTHER_NOUNS else ''
    return re.compile(
        rf'(?<![\w`<-]){before}(?:{words})(?![\w`>-]){after}', re.IGNORECASE
    )


def prose(text: str) -> str:
    """Text of a page, all that is not running text masked by blanks."""
    lines = text.split('\n')
    shown = []
    skipped: int | None = None
    in_table = False
    for index, line in enumerate(lines):
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        following = lines[index + 1].strip() if index + 1 < len(lines) else ''
        is_inside = skipped is not None and (not stripped or indent > skipped)
        if not is_inside:
            skipped = None
        if re.match(r'=+(?: +=+)+$', stripped):
            in_table = True
        elif not stripped:
            in_table = False
        is_shown = not (
            is_inside
            or in_table
            or pages.is_rule(stripped)
            or pages.is_rule(following)
            or _is_defined(lines, index)
        )
        if stripped.startswith('.. ') and not is_inside:
            skipped = None if pages.is_read(stripped) else indent
            is_shown = False
        elif _FIELD.match(line) and not is_inside:
            skipped = indent
            is_shown = False
        elif stripped.endswith('::') and not is_inside:
            skipped = indent
        shown.append(line if is_shown else ' ' * len(line))
    return _MASKED.sub(
        lambda match: re.sub(r'[^\n]', '~', match[0]), '\n'.join(shown)
    )


def _is_defined(lines: list[str], index: int) -> bool:
    """Whether a line is a word of a list that has a definition below."""
    line, after = [*lines, ''][index : index + 2]
    return (
        bool(line.strip() and after.strip())
        and len(after) - len(after.lstrip()) > len(line) - len(line.lstrip())
        and not pages.is_item(line.strip())
    )
