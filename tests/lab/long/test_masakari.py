# SPDX-License-Identifier: Apache-2.0
"""Does Masakari recover what the instance monitor tells it of?"""

import contextlib
import time
from collections.abc import Callable
from typing import Any

from labkit import running
from labkit.real import alone, boot_sectors
from labkit.real.topology import INSTANCES

from tests.lab import monitored
from tests.lab.real import SOURCE

SECONDS = 20
"""Within which a server that was killed runs again."""


class TestMasakari(monitored.MonitoredTestCase):
    masakari = True

    def setUp(self) -> None:
        super().setUp()
        self.watch(None)

    def test_killed(self) -> None:
        self.boot_guests({'one': SOURCE})
        before = self.emulator('one')
        at = self.kill('one')
        self.wait(lambda: self.anew('one', before), 'it to run again')
        took = time.time() - at
        self.figures(recovered=f'{took:.1f} s after the kill')
        self.assertLessEqual(took, SECONDS)
        [told] = self.notifications('one')
        self.assertEqual('STOPPED_FAILED', told.payload['vir_domain_event'])
        self.wait(self.finished_with('one'), 'Masakari to be done')

    def test_a_panic(self) -> None:
        """Nova gives no server the device that tells of one."""
        self.boot_guests({'one': SOURCE})
        self.panicking('one')
        before = self.emulator('one')
        domain = self.domain('one')

        def panicked() -> bool:
            with contextlib.suppress(running.LabError):  # it boots still
                self.virsh(SOURCE, 'send-key', domain, 'KEY_ENTER')
            return bool(self.notifications('one'))

        self.wait(panicked, 'Masakari to be told')
        at = time.time()
        self.wait(lambda: self.anew('one', before), 'it to run again')
        self.figures(recovered=f'{time.time() - at:.1f} s after it was told')
        self.wait(self.finished_with('one'), 'Masakari to be done')
        self.wait(lambda: self.answers('one'), 'it to take orders')
        rows = self.cloud.compute.get(
            f'/servers/{self.uuids["one"]}/os-instance-actions'
        ).json()['instanceActions']
        self.assertEqual(
            ['create', 'stop', 'start'], [row['action'] for row in rows][::-1]
        )

    def panicking(self, name: str) -> None:
        """Put a guest that panics into the place of a server's."""
        host, domain = self.hosts[SOURCE], self.domain(name)
        place = host.folder / 'instances' / self.uuids[name]
        code = boot_sectors.ON_KEY + boot_sectors.PANIC
        boot = boot_sectors.sector(code).ljust(65536, b'\0')
        (place / 'panic.boot').write_bytes(boot)
        definition = place / 'panic.xml'
        definition.write_text(
            alone.DOMAIN.format(
                name=domain,
                uuid=self.uuids[name],
                metadata='',
                on_crash='destroy',
                boot=f'{INSTANCES}/{self.uuids[name]}/panic.boot',
                devices='',
            )
        )
        self.virsh(SOURCE, 'destroy', domain)
        self.virsh(SOURCE, 'define', str(definition))
        self.virsh(SOURCE, 'start', domain)

    def notifications(self, name: str) -> list[Any]:
        """What Masakari was told of a server."""
        found = self.lab.connection().instance_ha.notifications()
        uuid = self.uuids[name]
        return [one for one in found if one.payload['instance_uuid'] == uuid]

    def finished_with(self, name: str) -> Callable[[], bool]:
        def done() -> bool:
            states = {one.status for one in self.notifications(name)}
            return states == {'finished'}

        return done

    def figures(self, **values: object) -> None:
        """Tell what was measured."""
        told = ', '.join(f'{key} {one}' for key, one in values.items())
        print(f'{self.id().rpartition(".")[2]}: {told}', flush=True)
