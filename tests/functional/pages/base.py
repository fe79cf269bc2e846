# SPDX-License-Identifier: Apache-2.0
"""A browser for the tests of a class, and pages for it to show."""

import functools
import pathlib
from collections.abc import Callable
from typing import Any

import fixtures
from oslotest import base

from kronos.reports.html import page
from tests.functional.pages import plans
from tests.functional.pages.chromium import Browser

TITLE = 'Kronos: even hosts'
WIDTHS = (1280, 400)
SCHEMES = ('light', 'dark')
SHOTS = pathlib.Path(__file__).resolve().parents[3] / '.lab' / 'screenshots'


@functools.cache
def rendered(name: str) -> tuple[dict[str, Any], str]:
    """A document of :mod:`plans` and its page."""
    make: Callable[[], dict[str, Any]] = getattr(plans, name)
    document = make()
    return document, page.render(document, TITLE)


class PageTestCase(base.BaseTestCase):
    browser: Browser

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.browser = cls.enterClassContext(Browser())

    def setUp(self) -> None:
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path

    def show(
        self,
        name: str,
        width: int = 1280,
        scheme: str = 'light',
        media: str = 'screen',
    ) -> dict[str, Any]:
        """Load the page of a document.

        :returns: the document
        """
        document, text = rendered(name)
        self.load(text, width, scheme, media)
        return document

    def load(self, text: str, *how: Any) -> None:
        path = pathlib.Path(self.folder, 'page.html')
        path.write_text(text, encoding='utf-8')
        self.browser.open(str(path), *how)

    def look(self, script: str) -> Any:
        return self.browser.run(script)

    def press(self, key: str, code: int, text: str = '') -> None:
        """Press a key and let it go."""
        for kind in ('keyDown', 'keyUp'):
            more = {'text': text} if text and kind == 'keyDown' else {}
            self.browser.ask(
                'Input.dispatchKeyEvent',
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                **more,
            )
