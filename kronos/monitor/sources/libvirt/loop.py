# SPDX-License-Identifier: Apache-2.0
"""The event loop of libvirt: one thread, for all connections of a process.

libvirt wants it registered before the first connection is made. It runs as
long as the process: nothing of it can be taken back.
"""

import threading
import time
from collections.abc import Callable

import libvirt
from oslo_log import log as logging

LOG = logging.getLogger(__name__)

PAUSE_SECONDS = 1.0
"""After a fault of the loop itself."""
_BEGINNING = threading.Lock()
_begun: list[threading.Thread] = []


def begin() -> None:
    """Run the loop, unless it runs already."""
    with _BEGINNING:
        if _begun:
            return
        # Else libvirt prints each error, before it is raised here.
        libvirt.registerErrorHandler(lambda *_: None, None)
        libvirt.virEventRegisterDefaultImpl()
        thread = threading.Thread(target=_run, name='libvirt', daemon=True)
        thread.start()
        _begun.append(thread)


def soon(work: Callable[[], None]) -> None:
    """Have the thread of the callbacks do something between two of them."""

    def do(timer: int, _: object) -> None:
        libvirt.virEventRemoveTimeout(timer)
        work()

    libvirt.virEventAddTimeout(0, do, None)


def _run() -> None:
    while True:
        try:
            libvirt.virEventRunDefaultImpl()
        except libvirt.libvirtError as error:
            LOG.error('The event loop of libvirt: %s', error)
            time.sleep(PAUSE_SECONDS)
