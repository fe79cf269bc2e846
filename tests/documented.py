# SPDX-License-Identifier: Apache-2.0
"""The commands that the README and the documentation show."""

import pathlib
import re
from collections.abc import Iterator

TOP = pathlib.Path(__file__).resolve().parent.parent
_BLOCK = re.compile(
    r'^\.\. code-block:: console\n\n((?:[ ]{3,}.*\n|\n)+)', re.MULTILINE
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
