# SPDX-License-Identifier: Apache-2.0
"""Horizon as an operator's browser shows it."""

import json
import pathlib
from typing import Any

from tests.functional.pages import chromium, looking, png

WIDTH, HEIGHT = 1200, 800
EDGE = 15
"""Pixels around what a picture is of."""


class Dashboard:
    """One browser that logs in, looks and clicks."""

    def __init__(self, browser: chromium.Browser, address: str) -> None:
        self._browser = browser
        self._address = address
        browser.ask('Emulation.setScriptExecutionDisabled', value=False)
        browser.ask(
            'Emulation.setDeviceMetricsOverride',
            width=WIDTH,
            height=HEIGHT,
            deviceScaleFactor=1,
            mobile=False,
        )

    def log_in(self, user: str, password: str) -> None:
        """Fill in Horizon's form, and wait for the page behind it."""
        self.visit('auth/login/?next=/admin/audits/')
        self.fill_in(username=user, password=password)
        self.click('#loginBtn')

    def show(self, panel: str, uuid: str = '') -> None:
        """Load a page of watcher-dashboard.

        :param panel: ``audits``, ``action_plans`` or ``actions``
        :param uuid: of the one whose details are wanted; '': the list
        """
        self.visit(f'admin/{panel}/' + (f'{uuid}/detail' if uuid else ''))

    def visit(self, path: str) -> None:
        """Load a page of Horizon, with its scripts."""
        self._browser.events.clear()
        self._browser.ask('Page.navigate', url=self._address + path)
        self._browser.wait_for('Page.loadEventFired')

    def fill_in(self, **values: str) -> None:
        """Fill in fields of a form, by their names."""
        for name, value in values.items():
            field = f'document.getElementsByName({json.dumps(name)})[0]'
            self._run(f'{field}.value = {json.dumps(value)}')

    def click(self, selector: str) -> None:
        """Click at something, and wait for the page that follows."""
        self._browser.events.clear()
        self._run(f'document.querySelector({json.dumps(selector)}).click()')
        self._browser.wait_for('Page.loadEventFired')

    def text(self) -> str:
        """All that the page says."""
        return str(self._run('document.body.innerText'))

    def facts(self) -> dict[str, str]:
        """What it says of one thing, by title."""
        return dict(
            self._run(
                '[...document.querySelectorAll("dt")].map(one => '
                '[one.innerText, one.nextElementSibling.innerText.trim()])'
            )
        )

    def rows(self, table: str) -> list[dict[str, str]]:
        """The rows of a table, by the titles of its columns.

        :param table: its id
        """
        found = self._run(
            f'[...document.querySelectorAll("#{table} tr")].map(row => '
            '[...row.querySelectorAll(".normal_column")]'
            '.map(cell => cell.innerText.trim()))'
        )
        titles, *rest = [row for row in found if row]
        return [dict(zip(titles, row, strict=True)) for row in rest]

    def shoot(self, file: pathlib.Path, menu: bool = False) -> None:
        """Take a picture of what the page is about, with its words.

        :param menu: with all that Horizon has around it
        """
        left, top, bottom = self._run(
            '(boxes => [boxes[0].left, boxes[0].top, '
            'Math.max(...boxes.map(one => one.bottom))])'
            '([...document.querySelectorAll("#content_body .page-header, '
            '#content_body dl, #content_body table")]'
            '.map(one => one.getBoundingClientRect()))'
        )
        left, top = (0, 0) if menu else (left - EDGE, top - EDGE)
        height = (HEIGHT * 0.7 if menu else bottom + EDGE) - top
        clip = {'x': left, 'y': top, 'width': WIDTH - left, 'scale': 1}
        self._browser.shoot(str(file), {**clip, 'height': height})
        words = self._run(looking.words(left, top, height))
        file.write_bytes(png.with_words(file.read_bytes(), words))

    def _run(self, script: str) -> Any:
        return self._browser.run(script)
