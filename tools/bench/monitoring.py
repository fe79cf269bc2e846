# SPDX-License-Identifier: Apache-2.0
"""The events that the instance monitor takes, and those it loses.

They are made up, and come as fast as is told for some seconds. Most are what
users do; some are crashes, which are put on disk. The time of the processor
counts, that of the agent alone. The writer works on the same core.
"""

import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator

TOP = pathlib.Path(__file__).resolve().parents[2]
RATE = 20_000
"""Events a second."""
SMALL = 10
"""The other run has so many times less."""
SECONDS = 15
GUESTS = 200
CRASH = 998
"""One event of so many is a crash; even, so that its start follows it."""
TICK = 0.05
PATIENCE = 300.0
TARGET_SHARE = 0.8
"""Of a core, so that it keeps up where nobody else wants the core."""
TARGET_MIB = 100
_COUNT = re.compile(r'^kronos_vm_events_total\{[^}]*\} (\S+)$', re.MULTILINE)
_SENT = re.compile(r'^kronos_vm_events_total\{.*"sent".*\} (\S+)$', re.M)


def report() -> bool:
    """Print what the events take; whether none is lost, and it is prompt."""
    small = _run(RATE // SMALL)
    large = _run(RATE)
    seconds, lag, mib, is_whole, sent = large
    print(
        f'{RATE:,} events/s for {SECONDS} s, {RATE * SECONDS // CRASH:,} '
        f'crashes among them: {"none" if is_whole else "SOME"} lost, '
        f'{sent:.0f} crashes kept, {lag:.2f} s behind at the end, '
        f'{100 * seconds / SECONDS:.0f} % of a core, {mib:.0f} MiB'
    )
    each = seconds / (RATE * SECONDS) * 1e6
    parsing = _parsing()
    print(f'  an event / its line parsed {each / parsing:5.1f} x')
    print(
        f'  {SMALL} x as many events     '
        f'{seconds / small[0]:5.1f} x the time, '
        f'{mib / small[2]:4.2f} x the memory'
    )
    return is_whole and seconds / SECONDS <= TARGET_SHARE and mib <= TARGET_MIB


def _run(rate: int) -> tuple[float, float, float, bool, float]:
    """Seconds, lag, peak MiB, whether all were counted, crashes sent."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        events, ticks = _events(rate)
        path = folder / 'events'
        path.write_text(
            ''.join(
                _line(f'guest-{n}', 'STARTED_BOOTED', 'RUNNING', n + 1)
                for n in range(GUESTS)
            )
        )
        with _agent(folder, path) as (process, port):
            before = _processor(process.pid)
            with path.open('a', buffering=1) as file:
                began = time.monotonic()
                for number, tick in enumerate(ticks):
                    wait = began + number * TICK - time.monotonic()
                    time.sleep(max(wait, 0.0))
                    file.write(tick)
            ended = time.monotonic()
            told = _until(port, events)
            lag = time.monotonic() - ended
            # Nothing more comes of them.
            time.sleep(1.0)
            counted, sent = _counted(port)
            seconds = _processor(process.pid) - before
            mib = _peak(process.pid)
        return seconds, lag, mib, told and counted == events, sent


def _events(rate: int) -> tuple[int, list[str]]:
    """How many there are, and their lines by tick."""
    runs = list(range(1, GUESTS + 1))
    lines, pending = [], ''
    total = rate * SECONDS
    for number in range(total):
        guest = (number // 2) % GUESTS
        name = f'guest-{guest}'
        if pending:
            runs[guest] += GUESTS
            line = _line(pending, 'STARTED_BOOTED', 'RUNNING', runs[guest])
            pending = ''
        elif number % CRASH == 0:
            line = _line(name, 'STOPPED_FAILED', 'SHUTOFF', None, 'CRASHED')
            pending = name
        elif number % 2:
            line = _line(name, 'RESUMED_UNPAUSED', 'RUNNING', runs[guest])
        else:
            line = _line(
                name, 'SUSPENDED_PAUSED', 'PAUSED', runs[guest], 'USER'
            )
        lines.append(line)
    size = int(rate * TICK)
    ticks = [
        ''.join(lines[start : start + size]) for start in range(0, total, size)
    ]
    return total, ticks


def _line(
    instance: str, detail: str, state: str, run: int | None, reason: str = ''
) -> str:
    told = {
        'instance': instance,
        'event': 'LIFECYCLE',
        'detail': detail,
        'state': state,
        'run': run,
        'reason': reason,
    }
    return json.dumps(told) + '\n'


@contextlib.contextmanager
def _agent(
    folder: pathlib.Path, events: pathlib.Path
) -> Iterator[tuple['subprocess.Popen[str]', int]]:
    """An agent with a sink that is away, so that all is kept."""
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    conf = folder / 'kronos.conf'
    conf.write_text(
        '[kronos_monitor]\nhost = node1\nsource = synthetic\n'
        f'events_file = {events}\nstate_file = {folder}/monitor.db\n'
        f'rules_file = {folder}/rules.yaml\n'
        f'metrics_port = {port}\nsinks = hook\n[kronos_monitor_hook]\n'
        'driver = webhook\ninsecure = true\nurl = http://127.0.0.1:9/\n'
    )
    rules = folder / 'rules.yaml'
    rules.write_text('rules: [{name: all, action: send}]')
    log = (folder / 'log').open('w')
    process = subprocess.Popen(
        [
            sys.executable,
            '-m',
            'kronos.cmd.instance_monitor',
            '--config-file',
            str(conf),
        ],
        cwd=TOP,
        env={**os.environ, 'PYTHONPATH': str(TOP)},
        text=True,
        stdout=log,
        stderr=log,
    )
    try:
        end = time.monotonic() + PATIENCE
        while '\nkronos_monitor_libvirt_up 1.0' not in _metrics(port):
            if time.monotonic() > end or process.poll() is not None:
                raise RuntimeError((folder / 'log').read_text()[-2000:])
            time.sleep(0.1)
        yield process, port
    finally:
        process.terminate()
        process.wait()
        log.close()


def _metrics(port: int) -> str:
    url = f'http://127.0.0.1:{port}/metrics'
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return str(answer.read().decode())
    except OSError:
        return ''


def _counted(port: int) -> tuple[int, float]:
    """Events that are counted, and incidents that were sent."""
    text = _metrics(port)
    return (
        int(sum(float(one) for one in _COUNT.findall(text))),
        sum(float(one) for one in _SENT.findall(text)),
    )


def _until(port: int, events: int) -> bool:
    """Wait until all are counted; whether that ever is."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if _counted(port)[0] >= events:
            return True
        time.sleep(TICK)
    return False


def _processor(pid: int) -> float:
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text().split(') ')[1]
    used = fields.split()[11:13]
    return sum(map(int, used)) / os.sysconf('SC_CLK_TCK')


def _peak(pid: int) -> float:
    text = pathlib.Path(f'/proc/{pid}/status').read_text()
    return int(re.findall(r'VmHWM:\s+(\d+) kB', text)[0]) / 1024


def _parsing() -> float:
    """Microseconds in which Python reads one line."""
    line = _line('guest-1', 'RESUMED_UNPAUSED', 'RUNNING', 7)
    began = time.process_time()
    for _ in range(100_000):
        json.loads(line)
    return (time.process_time() - began) * 10


if __name__ == '__main__':
    sys.exit(0 if report() else 1)
