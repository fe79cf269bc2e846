# SPDX-License-Identifier: Apache-2.0
"""Fresh processes: a figure is not to depend on what was measured before."""

import json
import os
import pathlib
import re
import resource
import subprocess
import sys
from typing import Any

TOP = pathlib.Path(__file__).resolve().parents[2]
THREADS = 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'


def run(module: str, **wanted: Any) -> Any:
    """What a module answers, in a process of its own with one thread.

    :param module: of this package; its ``answer`` is called
    :param wanted: the arguments, as JSON knows them
    :raises RuntimeError: it failed; the end of what it said
    """
    path = os.pathsep.join([str(TOP), str(TOP / 'tools')])
    one_thread = dict.fromkeys(THREADS, '1')
    done = subprocess.run(
        [sys.executable, '-m', module],
        input=json.dumps(wanted),
        env={**os.environ, **one_thread, 'PYTHONPATH': path},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f'{module} {wanted}: {done.stderr[-2000:]}')
    return json.loads(done.stdout)


def peak_mib() -> float:
    """The most memory that this process had.

    Not by getrusage where there is another way: it counts what the parent
    had when it began this one.
    """
    status = pathlib.Path('/proc/self/status')
    if status.exists():
        result = re.search(r'VmHWM:\s+(\d+) kB', status.read_text())
        if result:
            return int(result.group(1)) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def wanted() -> dict[str, Any]:
    """In such a process: the arguments."""
    result: dict[str, Any] = json.load(sys.stdin)
    return result


def answer(found: Any) -> None:
    """In such a process: what it found."""
    json.dump(found, sys.stdout)
