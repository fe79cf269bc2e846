# SPDX-License-Identifier: Apache-2.0
"""The pictures in the documents: made, and compared with those that are kept.

``python -m tests.functional.pages.pictures`` makes all of them anew. Those of
Horizon are made by ``tests/lab/long/test_horizon.py``.
"""

import base64
import fcntl
import functools
import html
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kronos.simulate import loop
from kronos.simulate.columns import Kind
from kronos.simulate.outcome import page, results
from tests import places
from tests.builders import loads, simulations
from tests.functional.pages import looking, png
from tests.functional.pages.chromium import Browser

FOLDER = places.TOP / 'doc' / 'source' / 'images'
COMMAND = 'python -m tests.functional.pages.pictures'
EDGE = 12
"""Pixels around what a picture is of."""
REPLAY = (
    'import sys; from kronos.cmd import scripts; sys.exit(scripts.replay())'
)
COLUMNS = 100
"""Of the terminal."""
TYPED = 'kronos-replay examples/uneven --max-migrations 5'
TERMINAL = """<!DOCTYPE html><meta charset="utf-8"><style>
body { margin: 0; padding: 20px; background: #15191d; color: #dde2e7; }
pre { margin: 0; font: 13px/1.45 monospace; white-space: pre-wrap; }
i { color: #9aa5b1; font-style: normal; }
</style>"""
DIFFERENT = """(async () => {
  const pixels = async text => {
    const image = new Image();
    image.src = 'data:image/png;base64,' + text;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.width / 4;
    canvas.height = image.height / 4;
    const drawn = canvas.getContext('2d');
    drawn.drawImage(image, 0, 0, canvas.width, canvas.height);
    return drawn.getImageData(0, 0, canvas.width, canvas.height).data;
  };
  const [one, other] = [await pixels(ONE), await pixels(OTHER)];
  let different = 0;
  for (let i = 0; i < one.length; i += 4)
    if ([0, 1, 2].some(at => Math.abs(one[i + at] - other[i + at]) > 48))
      different += 4;
  return different / one.length;
})()"""


@dataclass
class Picture:
    """A part of a page, in one scheme of colours."""

    name: str
    make: Callable[[], str]
    """The page."""
    first: str
    """Selector of CSS of what is at the top of the picture."""
    last: str
    """The same of what is at its end."""
    width: int
    scheme: str = 'light'

    @property
    def path(self) -> pathlib.Path:
        return FOLDER / f'{self.name}.png'

    def shot(self, browser: Browser) -> bytes:
        """The picture as it is now, with its words."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, 'page.html')
            file.write_text(self.make(), encoding='utf-8')
            browser.open(str(file), self.width, self.scheme)
            top, bottom = browser.run(
                f'[document.querySelector({json.dumps(self.first)})'
                '.getBoundingClientRect().top,'
                f'document.querySelector({json.dumps(self.last)})'
                '.getBoundingClientRect().bottom]'
            )
            clip = {
                'x': 0,
                'y': int(top) - EDGE,
                'width': self.width,
                'height': int(bottom - top) + 2 * EDGE,
                'scale': 1,
            }
            shot = pathlib.Path(folder, 'shot.png')
            browser.shoot(str(shot), clip)
            seen = browser.run(looking.words(0, clip['y'], clip['height']))
            return png.with_words(shot.read_bytes(), seen)


@functools.cache
def report() -> str:
    """The page of a report, as kronos-replay writes it."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, 'report.html')
        subprocess.run(
            [sys.executable, '-c', REPLAY, 'examples/uneven']
            + ['--html', str(file)],
            check=True,
            capture_output=True,
        )
        return file.read_text(encoding='utf-8')


def terminal() -> str:
    """What kronos-replay prints on a terminal."""
    ours, theirs = pty.openpty()
    size = struct.pack('HHHH', 50, COLUMNS, 0, 0)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
    with subprocess.Popen(
        [sys.executable, '-c', REPLAY, *TYPED.split()[1:]],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env={**os.environ, 'TERM': 'xterm', 'COLUMNS': str(COLUMNS)},
    ):
        os.close(theirs)
        text = _all_of(ours).decode().replace('\r\n', '\n')
    bold = re.sub(r'\x1b\[1m(.*?)\x1b\[0m', r'<b>\1</b>', html.escape(text))
    plain = re.sub(r'\x1b\[[\d;]*m', '', bold).rstrip()
    return f'{TERMINAL}<pre><i>$</i> {TYPED}\n{plain}</pre>'


def _all_of(descriptor: int) -> bytes:
    found = b''
    with open(descriptor, 'rb', buffering=0) as file:
        try:
            while data := file.read(65536):
                found += data
        except OSError:
            # Of a terminal that its only program has closed.
            pass
    return found


@functools.cache
def simulation() -> str:
    """The page of a simulation with two columns, and what they improve."""
    load = loads.load(
        simulations.noisy(288, 24) * 0.5,
        np.arange(24) % 3,
        [4.0] * 4,
        [loads.policy(weight=0.5)],
    )
    outcome = []
    for name, kind in (
        ('plain rule', Kind.PLAIN_RULE),
        ('as recorded', Kind.ENGINE),
        # Below the picture; the others have its line.
        ('nothing moved', Kind.NOTHING),
    ):
        column = simulations.column(load, kind)
        column.name = name
        outcome.append(loop.run(load, column))
    document = {
        'sentence': results.sentence(outcome),
        'command': 'kronos-simulate calm',
        'load': {
            'path': 'calm',
            'start': loads.START,
            'days': load.days,
            'step': 300,
            'hosts': 4,
            'servers': 24,
            'limits': [],
        },
    }
    return page.render(document, outcome, 'Kronos: calm')


SCHEMES = ('light', 'dark')
EVERY = [
    *(
        Picture(
            f'report-{scheme}',
            report,
            'section.scope h2',
            '.card',
            1000,
            scheme,
        )
        for scheme in SCHEMES
    ),
    Picture('terminal', terminal, 'pre', 'pre', 840),
    *(
        Picture(
            f'simulation-{scheme}', simulation, '.key', '.time', 1000, scheme
        )
        for scheme in SCHEMES
    ),
]


def different(browser: Browser, one: bytes, other: bytes) -> float:
    """Ratio of two pictures of one size that is not alike."""
    script = DIFFERENT
    for name, data in (('ONE', one), ('OTHER', other)):
        text = base64.b64encode(data).decode()
        script = script.replace(f'({name})', f'("{text}")')
    browser.ask('Emulation.setScriptExecutionDisabled', value=False)
    return float(browser.run(script))


def main() -> None:
    """Make all pictures anew."""
    with Browser() as browser:
        for picture in EVERY:
            picture.path.write_bytes(picture.shot(browser))
            print(picture.path.name, picture.path.stat().st_size)


if __name__ == '__main__':
    main()
