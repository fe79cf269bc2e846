# SPDX-License-Identifier: Apache-2.0
"""The command that prints how the source tree measures.

Run it as ``python tools/measures``, in the Python that Kronos is installed
in. ``--forbidden`` prints the files that tests/fixtures/forbidden_names.txt
lists, as they are now; ``--only`` prints one part.
"""

import argparse
import pathlib
import sys
from collections.abc import Iterator, Sequence

TOP = pathlib.Path(__file__).resolve().parents[2]
if not __package__:
    # The folder of this file is first, and its modules would have none.
    sys.path[:1] = [str(TOP), str(TOP / 'tools')]

from measures import imports, lines, names, walks  # noqa: E402
from measures.sources import Sources  # noqa: E402


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :param arguments: of the command line
    :returns: exit status
    """
    parser = argparse.ArgumentParser(
        prog='python tools/measures', description=__doc__
    )
    parser.add_argument('--only', choices=PARTS, help='one part')
    parser.add_argument(
        '--forbidden', action='store_true', help='the list of files'
    )
    options = parser.parse_args(arguments)
    sources = Sources.read(TOP)
    if options.forbidden:
        print('\n'.join(names.files_with_forbidden(sources)))
        return 0
    for part, rows in PARTS.items():
        if options.only in (None, part):
            for label, value in rows(sources):
                print(f'{label:<56}{value:>12}')
    return 0


def _walks(sources: Sources) -> Iterator[tuple[str, str]]:
    for name, files in walks.files(walks.WALKS, sources).items():
        yield f'files: {name}', str(len(files))


def _imports(sources: Sources) -> Iterator[tuple[str, str]]:
    graph = imports.graph(sources)
    chains = imports.graph(sources, for_types=False)
    for package in ('kronos', 'kronos.engine'):
        depth = imports.depth(chains, package)
        yield f'import depth: {package}', str(depth)
    for feature in imports.FEATURES:
        arrows = imports.arrows_into(graph, feature)
        ends = len({source for source, _ in arrows})
        yield (
            f'arrows from the trunk into {feature}',
            f'{len(arrows)} ({ends} files)',
        )


def _names(sources: Sources) -> Iterator[tuple[str, str]]:
    ambiguous = names.classes_of_several_modules(sources)
    yield 'class names of several modules', str(len(ambiguous))
    for folder, share in names.shares(sources).items():
        yield f'forbidden names: {folder}', str(share)


def _lines(sources: Sources) -> Iterator[tuple[str, str]]:
    yield 'lines: kronos', str(lines.product(sources))
    yield 'lines: documents', str(lines.documents(TOP))


PARTS = {
    'walks': _walks,
    'imports': _imports,
    'names': _names,
    'lines': _lines,
}
"""By the name of a part."""

if __name__ == '__main__':
    sys.exit(main())
