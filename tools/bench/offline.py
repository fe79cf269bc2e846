# SPDX-License-Identifier: Apache-2.0
"""The time that answers about a recording take.

Each is a command of its own, as they are typed: load, plan and page; why
there is no more of a plan; why an instance stays; what a host does.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

from generator import cli, making, recording_format
from generator.wanted import Wanted

TOP = pathlib.Path(__file__).resolve().parents[2]
HOSTS = 1000
SMALL = 10
"""The other cloud is so many times smaller."""
TARGET_SECONDS = 10.0
TARGET_BYTES = 5 * 10**6


def report() -> bool:
    """Print what a large recording takes; whether it is fast enough."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        small, _ = _asked(folder, HOSTS // SMALL)
        large, size = _asked(folder, HOSTS)
    page, *answers = large.values()
    whole = page + max(answers)
    print(f'about a recording of {HOSTS:,} hosts:')
    for what, seconds in large.items():
        print(
            f'  {what:24}{seconds:6.1f} s, {seconds / small[what]:4.1f} x '
            f'that of one {SMALL} times smaller'
        )
    print(
        f'  the page and the slowest answer: {whole:.1f} s; the page has '
        f'{size / 1e6:.2f} MB'
    )
    return whole <= TARGET_SECONDS and size <= TARGET_BYTES


def _asked(folder: pathlib.Path, hosts: int) -> tuple[dict[str, float], int]:
    """Seconds by question, and the bytes of the page."""
    path, page = str(folder / f'{hosts}'), folder / f'{hosts}.html'
    result = making.make(Wanted(hosts))
    recording_format.write(path, result, cli.BEGIN)
    planned = json.loads(_run('replay', path, '--format', 'json')[0])
    [scope] = planned['scopes']
    stays = next(iter(scope['stayed']))
    questions = {
        'plan and page': ('replay', path, '--html', str(page)),
        'why no more of a plan': ('explain', path),
        'why an instance stays': ('explain', path, '--instance', stays),
        'what a host does': (
            'explain',
            path,
            '--host',
            scope['steps'][0]['source'],
        ),
    }
    seconds = {what: _run(*words)[1] for what, words in questions.items()}
    return seconds, page.stat().st_size


def _run(program: str, *words: str) -> tuple[str, float]:
    """What a command prints, and the seconds until its end."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, '-m', f'kronos.cmd.{program}', *words],
        cwd=TOP,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout, time.perf_counter() - began
