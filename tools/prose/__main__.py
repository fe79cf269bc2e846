# SPDX-License-Identifier: Apache-2.0
"""The command that measures the prose of documents and messages.

Run it as ``python tools/prose``: it prints, of documents, messages and release
notes, how often patterns of a translation occur, how many sentences are too
long, and how easily all of it reads. With paths it prints each match of these
files, and terms that a page first uses without a link. ``--baseline`` prints
tests/fixtures/prose.txt as it is now. ``--facts`` compares the documents of an
earlier tree with these, and ends with 1 if one of its facts is lost.
"""

import argparse
import pathlib
import sys
from collections import Counter
from collections.abc import Sequence

TOP = pathlib.Path(__file__).resolve().parents[2]
if not __package__:
    # The folder of this file is first, and its modules would have none.
    sys.path[:1] = [str(TOP), str(TOP / 'tools')]

from prose import facts, patterns, terms, texts  # noqa: E402
from prose.counts import Counts, baseline, kinds  # noqa: E402


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :param arguments: of the command line
    :returns: exit status
    """
    parser = argparse.ArgumentParser(
        prog='python tools/prose', description=__doc__
    )
    parser.add_argument(
        'paths', nargs='*', help='files or folders, below the top'
    )
    parser.add_argument('--baseline', action='store_true', help='the list')
    parser.add_argument(
        '--facts',
        metavar='OLD_TREE',
        type=pathlib.Path,
        help='top of an earlier tree',
    )
    parser.add_argument(
        '--top', type=pathlib.Path, default=TOP, help='of another tree'
    )
    options = parser.parse_args(arguments)
    if options.facts:
        rows = facts.lost(options.facts, options.top)
        for page, kind, fact in rows:
            print(f'{page}: {kind}: {fact}')
        return int(bool(rows))
    by_path = texts.read(options.top)
    if options.baseline:
        print('\n'.join(baseline(by_path)))
    elif options.paths:
        prefixes = tuple(options.paths)
        _print_matches(by_path, prefixes)
        for page, use in terms.unlinked(options.top):
            if page.startswith(prefixes):
                print(f'{page}: first use without :term: {use.term}')
    else:
        _print_counts(by_path)
    return 0


def _print_matches(
    by_path: dict[str, list[str]], prefixes: tuple[str, ...]
) -> None:
    for path, rows in by_path.items():
        if not path.startswith(prefixes):
            continue
        counts = Counts.of(rows)
        for name, match, sentence in counts.matches:
            print(f'{path}: {name}: "{match}": {sentence}')
        for sentence in counts.long:
            print(f'{path}: long: {sentence}')


def _print_counts(by_path: dict[str, list[str]]) -> None:
    print(
        f'{"":<32}{"words":>9}{"patterns":>10}{"per 1,000":>11}'
        f'{"too long":>10}{"ease":>7}'
    )
    total = kinds(by_path)
    for kind, counts in total.items():
        _print_row(kind, counts)
    for path, rows in by_path.items():
        if path.endswith('.rst'):
            _print_row(path.removeprefix('doc/source/'), Counts.of(rows))
    for kind, counts in total.items():
        counter = Counter(name for name, _, _ in counts.matches)
        for name in patterns.PATTERNS:
            print(f'{kind}: {name:<40}{counter[name]:>8}')


def _print_row(label: str, counts: Counts) -> None:
    print(
        f'{label:<32}{counts.words:>9,}{len(counts.matches):>10}'
        f'{counts.per_thousand:>11.1f}{len(counts.long):>10}'
        f'{counts.ease:>7.0f}'
    )


if __name__ == '__main__':
    sys.exit(main())
