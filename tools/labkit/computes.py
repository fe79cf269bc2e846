# SPDX-License-Identifier: Apache-2.0
"""Many nova-computes in little memory.

Nova is imported once; each compute is a fork that shares those pages, with
a session, a log and a record of its own, so that it can be stopped, killed
and started alone. Host names to start are read from a pipe, one a line.
"""

import gc
import os
import pathlib
import signal
import sys
from typing import NoReturn

from nova.cmd import compute
from nova.compute import manager  # noqa: F401  (imported for the forks)

from labkit import labdriver, layout, process

PIPE = layout.RUN / 'computes.pipe'


def main() -> None:
    # Nova looks for drivers in nova.virt only.
    sys.modules['nova.virt.labdriver'] = labdriver
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # forks leave no zombies
    PIPE.unlink(missing_ok=True)
    os.mkfifo(PIPE, 0o600)
    gc.collect()
    gc.freeze()
    # Open for writing too: else reading ends with the first writer.
    pipe = os.open(PIPE, os.O_RDWR)
    waiting = b''
    while True:
        waiting += os.read(pipe, 4096)
        *lines, waiting = waiting.split(b'\n')
        for line in lines:
            _fork(line.decode(), pipe)


def _fork(host: str, pipe: int) -> None:
    name = f'compute-{host}'
    pid = os.fork()
    if pid:
        return
    os.close(pipe)
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    process.write_record(name, os.getpid())
    _become(host, layout.LOG / f'{name}.log')


def _become(host: str, log: pathlib.Path) -> NoReturn:
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    etc = layout.ETC
    sys.argv = [
        'nova-compute',
        f'--config-file={etc}/nova-common.conf',
        f'--config-file={etc}/computes/{host}.conf',
    ]
    try:
        code = compute.main()
    except BaseException as error:
        code = 0 if getattr(error, 'code', 1) in (0, None) else 1
        if code:
            sys.excepthook(*sys.exc_info())
    # Not sys.exit: the parent's exit handlers are not ours.
    sys.stderr.flush()
    os._exit(int(code or 0))


if __name__ == '__main__':
    main()
