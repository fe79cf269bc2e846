# SPDX-License-Identifier: Apache-2.0
"""What does Masakari hear of failures, from our monitor and from its own?

Both watch the same guests of a libvirt of their own, one after the other, and
tell the lab's Masakari. What each does is printed.
"""

import configparser
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from typing import Any

import fixtures
import testscenarios
import testtools.content
from labkit.masakari import services
from labkit.real import alone, boot_sectors, monitors, packages

from tests.functional.monitor.base import on_key
from tests.lab import monitored
from tests.lab.real import SOURCE

OURS, OTHER = 'kronos-instance-monitor', 'masakari-instancemonitor'
SILENT_SECONDS = 20
"""After which nothing more is to come."""
AWAY_SECONDS = 30
MANY = 20
PROBES = 20
FAILING = 'failing'
ONE = {
    'panic, destroyed': on_key(boot_sectors.PANIC, name='panicked'),
    'panic, preserved': on_key(
        boot_sectors.PANIC, name='preserved', on_crash='preserve'
    ),
    'hang, paused by its watchdog': on_key(
        boot_sectors.HANG, name='hung', watchdog='pause'
    ),
    'no space, paused': on_key(
        boot_sectors.writing(), name='full', full_disk='stop'
    ),
    'I/O errors that the guest is told of': on_key(
        boot_sectors.writing(), name=FAILING, full_disk='report'
    ),
}
"""What happens to a guest."""
KILLED = 'killed, one after the other'
SINGLY = 5
ALL = {
    KILLED: SINGLY,
    **dict.fromkeys(ONE, 1),
    f'{MANY} killed at once': MANY,
    'killed while libvirtd was away': 1,
    'killed after libvirtd came back': 1,
    'killed while the monitor was away': 1,
    'killed while the API of Masakari was away': 1,
}
"""What our monitor tells of: so many of each."""


class TestCompared(
    testscenarios.TestWithScenarios, monitored.MonitoredTestCase
):
    masakari = True
    scenarios = (('ours', {'program': OURS}), ('other', {'program': OTHER}))
    program: str

    def setUp(self) -> None:
        super().setUp()
        place = tempfile.TemporaryDirectory(prefix='kronos-')
        self.addCleanup(place.cleanup)
        self.libvirt = alone.Libvirt(pathlib.Path(place.name))
        self.addCleanup(self.libvirt.close)
        self.libvirt.start()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.addCleanup(self.keep_log)
        self.agent: subprocess.Popen[bytes] | None = None
        self.addCleanup(self.end)
        self.found: dict[str, int] = {}
        self.took: dict[str, float] = {}

    def test_what_it_tells(self) -> None:
        probes = [f'probe-{number}' for number in range(PROBES)]
        many = [f'many-{number}' for number in range(MANY)]
        singly = [f'single-{number}' for number in range(SINGLY)]
        others = ['away', 'back', 'alone', 'late']
        self.libvirt.boot(
            *(
                alone.Guest(name=name)
                for name in [*probes, *many, *singly, *others]
            )
        )
        self.begin(probes)
        self.kill_one_by_one(singly)
        for what, guest in ONE.items():
            self.libvirt.boot(guest)
            self.note(what, [guest.name], self.happens(guest))
        # It would go on to write, and one monitor tells of each error.
        self.libvirt.virsh(f'destroy {FAILING}')
        at = min(self.libvirt.kill(many).values())
        self.note(f'{MANY} killed at once', many, at)
        self.libvirt.stop()
        at = min(self.libvirt.kill(['away']).values())
        threading.Event().wait(AWAY_SECONDS)
        self.libvirt.start()
        self.note('killed while libvirtd was away', ['away'], at)
        at = min(self.libvirt.kill(['back']).values())
        self.note('killed after libvirtd came back', ['back'], at)
        self.end()
        at = min(self.libvirt.kill(['alone']).values())
        # libvirtd tells of it a moment later: nobody is to hear that.
        self.wait(lambda: self.is_off('alone'), 'libvirtd to see it')
        self.begin(probes)
        self.note('killed while the monitor was away', ['alone'], at)
        self.lab.stop('masakari-api')
        at = min(self.libvirt.kill(['late']).values())
        threading.Event().wait(AWAY_SECONDS)
        self.lab.start('masakari-api')
        self.note('killed while the API of Masakari was away', ['late'], at)
        for what, number in ALL.items():
            took = f', {self.took[what]:.1f} s' if what in self.took else ''
            told = f'{self.found[what]} of {number}{took}'
            print(f'{self.program}: {what}: {told}', flush=True)
        wanted = ALL if self.program == OURS else {KILLED: SINGLY}
        for what, number in wanted.items():
            self.assertEqual(number, self.found[what], what)

    def kill_one_by_one(self, names: list[str]) -> None:
        """libvirtd itself takes its time to see it, now more, now less."""
        took = []
        for name in names:
            at = min(self.libvirt.kill([name]).values())
            self.note(KILLED, [name], at)
            took.append(self.took.pop(KILLED, math.inf))
        self.found[KILLED] = sum(map(math.isfinite, took))
        self.took[KILLED] = max(took)
        print(f'{self.program}: {sorted(took)}', flush=True)

    def happens(self, guest: alone.Guest) -> float:
        """Let a guest fail; about when it does, in Unix seconds."""
        # A guest that boots takes no key.
        threading.Event().wait(3)
        self.assertTrue(self.libvirt.press(guest.name))
        return time.time()

    def note(self, what: str, names: list[str], at: float) -> None:
        """Note how many of them Masakari hears of, and how late."""
        uuids = {self.libvirt.uuids[name] for name in names}
        end = time.time() + SILENT_SECONDS
        told: set[str] = set()
        while time.time() < end and told != uuids:
            threading.Event().wait(0.1)
            told = uuids & self.told()
            if told == uuids:
                self.took[what] = time.time() - at
        self.found[what] = len(told)

    def told(self) -> set[str]:
        """The guests that Masakari has heard of."""
        rows = self.lab.connection().instance_ha.notifications(limit=1000)
        return {one.payload['instance_uuid'] for one in rows}

    def begin(self, probes: list[str]) -> None:
        """Start the monitor, and wait until it is seen to listen."""
        self.agent = self.started()

        def heard() -> bool:
            killed = self.libvirt.kill([probes.pop()])
            threading.Event().wait(3)
            return bool(
                {self.libvirt.uuids[name] for name in killed} & self.told()
            )

        self.wait(heard, 'the monitor to listen')

    def is_off(self, guest: str) -> bool:
        return self.libvirt.virsh(f'domstate {guest}').strip() == 'shut off'

    def keep_log(self) -> None:
        log = self.folder / 'log'
        if log.exists():
            text = testtools.content.text_content(log.read_text())
            self.addDetail('monitor', text)

    def end(self) -> None:
        if self.agent is not None:
            self.agent.kill()
            self.agent.wait()
            self.agent = None

    def started(self) -> 'subprocess.Popen[bytes]':
        bindings = str(packages.BINDINGS)
        if self.program == OURS:
            words = [sys.executable, '-m', 'kronos.cmd.instance_monitor']
            file, path = self.ours(), [bindings]
        else:
            words = [services.program(OTHER)]
            file, path = self.other(), [str(services.PLACE), bindings]
        return subprocess.Popen(
            [*words, '--config-file', file],
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(path)},
            stdout=(self.folder / 'log').open('ab'),
            stderr=subprocess.STDOUT,
        )

    def ours(self) -> str:
        own = {
            'host': SOURCE,
            'source': 'libvirt',
            'libvirt_uri': self.libvirt.uri,
            'state_file': str(self.folder / 'monitor.db'),
            'metrics_port': '0',
            'sinks': 'masakari',
        }
        return self.written(
            {
                'kronos_monitor': own,
                'kronos_monitor_masakari': {
                    **monitors.cloud(),
                    'retry_max_seconds': '10',
                },
            }
        )

    def other(self) -> str:
        told = monitors.cloud()
        told.pop('insecure')
        return self.written(
            {
                'DEFAULT': {'hostname': SOURCE},
                'api': {**told, 'region': told.pop('region_name')},
                'libvirt': {'connection_uri': self.libvirt.uri},
            }
        )

    def written(self, groups: Mapping[str, Mapping[str, Any]]) -> str:
        file = self.folder / 'monitor.conf'
        parser = configparser.ConfigParser(interpolation=None)
        parser.read_dict(groups)
        with file.open('w') as output:
            parser.write(output)
        return str(file)
