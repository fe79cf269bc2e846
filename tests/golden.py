# SPDX-License-Identifier: Apache-2.0
"""Golden files: whole outputs of programs, beside the tests that hold them.

With ``REWRITE_GOLDEN=1`` in its environment a test writes them anew;
``git diff`` then shows what has changed.
"""

import difflib
import html.parser
import inspect
import os
import pathlib
from collections.abc import Mapping

from oslotest import base

REWRITE = 'REWRITE_GOLDEN'


class _Words(html.parser.HTMLParser):
    """The text of a page, each element of it in a line."""

    HIDDEN = ('script', 'style', 'svg', 'title')

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in self.HIDDEN

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in self.HIDDEN

    def handle_data(self, data: str) -> None:
        if not self._hidden and (words := ' '.join(data.split())):
            self.lines.append(words)


def words_of(page: str) -> str:
    """What a page shows, without its form."""
    parser = _Words()
    parser.feed(page)
    return '\n'.join(parser.lines) + '\n'


class GoldenTestCase(base.BaseTestCase):
    """Compares texts with files in the folder golden/MODULE of the test."""

    def assert_golden(
        self, name: str, text: str, hidden: Mapping[str, str] | None = None
    ) -> None:
        """Fail with a diff where a text is not that of its file.

        :param name: of the file
        :param hidden: what differs in each run, and what stands for it
        """
        for part, word in (hidden or {}).items():
            text = text.replace(part, word)
        module = pathlib.Path(inspect.getfile(type(self)))
        path = module.parent / 'golden' / module.stem / name
        if os.environ.get(REWRITE):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        before = path.read_text() if path.exists() else ''
        difference = difflib.unified_diff(
            before.splitlines(),
            text.splitlines(),
            str(path),
            'what is printed now',
            lineterm='',
        )
        if before != text:
            self.fail('\n'.join([*difference, f'{REWRITE}=1 rewrites it']))
