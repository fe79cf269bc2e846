# SPDX-License-Identifier: Apache-2.0
"""The commands and files that the README and the documentation show."""

import pathlib
import re
import textwrap
from collections.abc import Iterator

TOP = pathlib.Path(__file__).resolve().parent.parent
_BLOCK = re.compile(
    r'^\.\. code-block:: console\n\n((?:[ ]{3,}.*\n|\n)+)', re.MULTILINE
)
_SAMPLE = (
    r'^\.\. code-block:: {}\n {{3}}:caption: (\S+)\n\n((?: {{3}}.*\n|\n)+)'
)


def files() -> list[pathlib.Path]:
    """README, CONTRIBUTING and every page of the documentation."""
    return [*TOP.glob('*.rst'), *sorted(TOP.glob('doc/source/*.rst'))]


def commands() -> Iterator[tuple[str, str]]:
    """(file, command) of every line behind a ``$`` prompt.

    A line that ends in a backslash goes on in the next one.
    """
    for path in files():
        for block in _BLOCK.findall(path.read_text() + '\n'):
            text = re.sub(r'\\\n\s*', '', block)
            for line in text.splitlines():
                prompt, _, command = line.strip().partition(' ')
                if prompt == '$':
                    yield path.name, command


def samples() -> dict[str, str]:
    """Name and text of every YAML file that is shown with its name."""
    return _shown('yaml')


def scripts() -> dict[str, str]:
    """The same of the scripts in Python."""
    return _shown('python')


def _shown(language: str) -> dict[str, str]:
    sample = re.compile(_SAMPLE.format(language), re.MULTILINE)
    return {
        name: textwrap.dedent(text)
        for path in files()
        for name, text in sample.findall(path.read_text() + '\n')
    }
