# SPDX-License-Identifier: Apache-2.0
"""Lines of the product and of its documents."""

import pathlib

from measures.sources import Sources


def product(sources: Sources) -> int:
    """Of all modules of ``kronos``, with comments and empty ones."""
    return sum(module.text.count('\n') for module in sources.modules.values())


def documents(top: pathlib.Path) -> int:
    """Of the pages below doc/source, and of those at the top."""
    pages = [*(top / 'doc' / 'source').rglob('*.rst'), *top.glob('*.rst')]
    return sum(page.read_text().count('\n') for page in pages)
