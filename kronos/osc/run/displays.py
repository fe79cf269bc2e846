# SPDX-License-Identifier: Apache-2.0
"""The displays of a run: a bar on a terminal, lines elsewhere.

What a text contains was made plain before: no display interprets markup.
"""

from typing import TYPE_CHECKING, Protocol, TextIO

from kronos.osc.run.views import View

if TYPE_CHECKING:
    from rich.live import Live

WIDTH = 40
"""Characters of a bar."""


class Display(Protocol):
    """Where looks at an audit or a plan are shown."""

    def show(self, view: View) -> None:
        """Take the place of the last look."""

    def close(self) -> None:
        """Leave the terminal as it was; :meth:`show` begins anew."""


class LineDisplay:
    """A line for each look at which something has happened."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._text = ''

    def show(self, view: View) -> None:
        if view.text != self._text:
            self._text = view.text
            self._stream.write(f'{view.line}\n')
            self._stream.flush()

    def close(self) -> None:
        self._text = ''


class TerminalDisplay:
    """A line, a bar and what is under way, drawn again at each look."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live: Live | None = None

    def show(self, view: View) -> None:
        from rich import console, progress_bar, text

        parts: list[console.RenderableType] = [text.Text(view.line)]
        if view.total:
            bar = progress_bar.ProgressBar(view.total, view.done, WIDTH)
            parts.append(bar)
        parts += [text.Text(f'  {line}') for line in view.lines]
        self._started().update(console.Group(*parts), refresh=True)

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _started(self) -> 'Live':
        if self._live is None:
            from rich import console, live

            terminal = console.Console(
                file=self._stream, markup=False, highlight=False, emoji=False
            )
            self._live = live.Live(
                console=terminal,
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        return self._live
