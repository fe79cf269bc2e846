# SPDX-License-Identifier: Apache-2.0
"""The time that the recording of a cloud takes.

The cloud is at the wire, in a process of its own that answers as Nova,
Placement, Prometheus and Watcher do. The time of the processor counts, that
of the recording process alone: most of the rest is waiting for answers.
"""

import contextlib
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from tests.fakes import large_cloud

TOP = pathlib.Path(__file__).resolve().parents[2]
HOSTS, INSTANCES = 1000, 20000
SMALL = 10
"""The other cloud is so many times smaller."""
TARGET_SECONDS = 60.0


def report() -> bool:
    """Print what a large cloud takes; whether it is fast enough."""
    small, _ = _recorded(HOSTS // SMALL, INSTANCES // SMALL)
    large, seconds = _recorded(HOSTS, INSTANCES)
    other, _ = _recorded(HOSTS, INSTANCES, '--anonymize')
    print(
        f'recording of {HOSTS:,} hosts, {INSTANCES:,} instances: '
        f'{seconds:.1f} s, {large:.1f} s of the processor, '
        f'{large / small:.1f} x that of a cloud {SMALL} times smaller; '
        f'under other names {other / large:.2f} x'
    )
    return seconds <= TARGET_SECONDS


def _recorded(hosts: int, instances: int, *words: str) -> tuple[float, float]:
    """Seconds of the processor, and of the clock, of one recording."""
    with tempfile.TemporaryDirectory() as name, _cloud(hosts, instances) as p:
        folder = pathlib.Path(name)
        policies, conf = folder / 'policies.yaml', folder / 'kronos.conf'
        policies.write_text(json.dumps({'policies': large_cloud.POLICIES}))
        conf.write_text(large_cloud.configuration(p, str(policies)))
        program = [sys.executable, '-m', 'kronos.cmd.record']
        began, before = time.perf_counter(), _used()
        subprocess.run(
            [*program, folder / 'out', '--config-file', conf, *words],
            cwd=TOP,
            check=True,
            capture_output=True,
        )
        return _used() - before, time.perf_counter() - began


def _used() -> float:
    """Seconds of the processor that children used which are no more."""
    result = resource.getrusage(resource.RUSAGE_CHILDREN)
    return result.ru_utime + result.ru_stime


@contextlib.contextmanager
def _cloud(hosts: int, instances: int) -> Iterator[int]:
    """A cloud that listens; its port."""
    with subprocess.Popen(
        [
            sys.executable,
            '-m',
            'tests.fakes.large_cloud',
            str(hosts),
            str(instances),
        ],
        cwd=TOP,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdin and child.stdout
        try:
            yield int(child.stdout.readline())
        finally:
            child.stdin.close()
