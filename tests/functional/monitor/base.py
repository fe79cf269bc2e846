# SPDX-License-Identifier: Apache-2.0
"""What do tests with a real libvirt share? One of their own, and an agent."""

import os
import pathlib
import sys
import tempfile
from collections import Counter, deque
from typing import Any

from labkit.real import alone, boot_sectors, packages
from labkit.telling import BootstrapError

from kronos.monitor.domains import Away, Listing
from kronos.monitor.events import Event
from kronos.monitor.sources import registry
from kronos.monitor.sources.base import News, Options
from tests.unit.monitor import agents
from tests.unit.monitor.hypervisor import until

KEY_SECONDS = 0.5
"""Between two keys: a guest that boots takes none."""


class RealTestCase(agents.AgentTestCase):
    """Has a libvirt without guests; skipped where none can run."""

    def setUp(self) -> None:
        super().setUp()
        try:
            packages.install()
        except BootstrapError as error:
            self.skipTest(str(error))
        if str(packages.BINDINGS) not in sys.path:
            sys.path.append(str(packages.BINDINGS))
        # The path of a socket has room for some hundred characters.
        place = tempfile.TemporaryDirectory(prefix='kronos-')
        self.addCleanup(place.cleanup)
        self.libvirt = alone.Libvirt(pathlib.Path(place.name))
        self.addCleanup(self.libvirt.close)
        self.libvirt.start()
        self.hook = self.receiver()

    def source(self) -> list[str]:
        return [f'libvirt_uri = {self.libvirt.uri}']

    def environ(self) -> dict[str, str]:
        return {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}

    def witness(self) -> 'Witness':
        """Another one who listens."""
        made = Witness(self.libvirt.uri)
        self.addCleanup(made.source.stop)
        return made

    def crashed(self, name: str) -> None:
        """Kill a guest, and wait until it is told: so is all before it."""
        self.libvirt.kill([name])
        until(lambda: name in self.told(), f'{name} to be told')

    def told(self) -> 'Counter[str]':
        """How often each guest was, by its name."""
        return Counter(one['instance']['name'] for one in self.hook.bodies)

    def kinds(self) -> dict[str, str]:
        """Of what was told last, by the name of the guest."""
        return {
            one['instance']['name']: one['kind'] for one in self.hook.bodies
        }

    def ready(self) -> None:
        """Wait until an agent in a process of its own watches."""
        log = self.folder / 'log'
        until(lambda: 'The agent watches' in log.read_text(), 'the agent')


class Witness:
    """Sees the events of a libvirt as they come."""

    def __init__(self, uri: str) -> None:
        self._news: deque[News] = deque()
        self.source = registry.make(
            'libvirt', self._news, Options(libvirt_uri=uri)
        )
        self.source.start()
        until(self.listens, 'the witness to listen')

    def listens(self) -> bool:
        """Whether it is connected: it sees what happens from now on."""
        states = [n for n in [*self._news] if isinstance(n, (Away, Listing))]
        return bool(states) and isinstance(states[-1], Listing)

    def seen(self, name: str) -> list[str]:
        """The events of a guest so far, as EVENT or EVENT/DETAIL."""
        return [
            f'{one.event}/{one.detail}' if one.detail else one.event
            for one in [*self._news]
            if isinstance(one, Event) and one.name == name
        ]


def press(
    libvirt: alone.Libvirt, name: str, is_done: Any, what: str = ''
) -> None:
    """Press a key of a guest until it has done what it is to do."""
    last = 0.0

    def done() -> Any:
        nonlocal last
        if found := is_done():
            return found
        now = alone.time.monotonic()
        if now - last > KEY_SECONDS:
            last = now
            libvirt.press(name)
        return None

    until(done, what or f'{name} to act')


def on_key(code: bytes, **more: Any) -> alone.Guest:
    """A guest that does something when a key is pressed."""
    return alone.Guest(boot_sectors.ON_KEY + code, **more)
