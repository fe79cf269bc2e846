# SPDX-License-Identifier: Apache-2.0
"""The site, built of some of its pages as the documents are published."""

import functools
import pathlib
import subprocess
import sys
import tempfile

from tests import places

SOURCE = places.TOP / 'doc' / 'source'
PAGES = ('index', 'concepts', 'operating', 'troubleshooting', 'policies')


@functools.cache
def built() -> tempfile.TemporaryDirectory[str]:
    """A folder with these pages and the one that searches.

    It is made once, and is gone when the tests end.
    """
    folder = tempfile.TemporaryDirectory()
    with tempfile.TemporaryDirectory() as trees:
        subprocess.run(
            [sys.executable, '-m', 'sphinx', '-q', '-b', 'html', '-d', trees]
            + [str(SOURCE), folder.name]
            + [str(SOURCE / f'{name}.rst') for name in PAGES],
            cwd=places.TOP,
            check=True,
            capture_output=True,
        )
    return folder


def page(name: str) -> pathlib.Path:
    """The file of a page."""
    return pathlib.Path(built().name, f'{name}.html')
