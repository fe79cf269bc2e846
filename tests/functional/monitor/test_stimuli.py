# SPDX-License-Identifier: Apache-2.0
"""Is each failure of a real guest one incident, and what users do none?"""

import os

from labkit.real import alone, boot_sectors

from tests.functional.monitor import base
from tests.unit.monitor.hypervisor import until

PANIC, HANG = boot_sectors.PANIC, boot_sectors.HANG
WRITING = boot_sectors.writing()
STIMULI = {
    'panic-destroy': (base.on_key(PANIC), 'panic', 'STOPPED_CRASHED'),
    'panic-preserve': (
        base.on_key(PANIC, on_crash='preserve'),
        'panic',
        'CRASHED_PANICKED',
    ),
    'hang-pause': (
        base.on_key(HANG, watchdog='pause'),
        'hang',
        'SUSPENDED_WATCHDOG',
    ),
    'hang-reset': (base.on_key(HANG, watchdog='reset'), 'hang', 'REBOOT'),
    'hang-poweroff': (
        base.on_key(HANG, watchdog='poweroff'),
        'hang',
        'STOPPED_FAILED',
    ),
    'hang-none': (base.on_key(HANG, watchdog='none'), 'hang', 'WATCHDOG/NONE'),
    'full-stop': (
        base.on_key(WRITING, full_disk='stop'),
        'io_error',
        'SUSPENDED_IOERROR',
    ),
    'full-report': (
        base.on_key(WRITING, full_disk='report'),
        'io_error',
        'IO_ERROR/REPORT',
    ),
}
"""Name to a guest, the kind of its incident, and an event that belongs to
it."""
BY_GUESTS = {
    'reboot': (base.on_key(boot_sectors.RESET), 'REBOOT'),
    'power-off': (base.on_key(boot_sectors.OFF), 'STOPPED_SHUTDOWN'),
}
"""What guests do by themselves, and none of it fails."""
BY_USERS = {
    'reset': ('reset {0}', 'REBOOT'),
    'pause': ('suspend {0}; resume {0}', 'RESUMED_UNPAUSED'),
    'save': ('managedsave {0}; start {0}', 'STARTED_RESTORED'),
    'destroy': ('destroy {0}; start {0}', 'STARTED_BOOTED'),
    'undefine': ('destroy {0}; undefine {0}', 'UNDEFINED_REMOVED'),
}
RESTORED = ('restored', 'spoilt')
"""Guests that come from a file: one is killed then, of the other it is bad."""
METADATA = """
<nova:instance xmlns:nova="http://openstack.org/xmlns/libvirt/nova/1.1">
  <nova:name>web</nova:name><nova:flavor name="m1.small"/>
  <nova:owner><nova:project uuid="9f0c">shop</nova:project></nova:owner>
</nova:instance>"""


class TestStimuli(base.RealTestCase):
    def test_each(self) -> None:
        guests = {name: row[0] for name, row in STIMULI.items()}
        guests |= {name: row[0] for name, row in BY_GUESTS.items()}
        guests |= {name: alone.Guest() for name in BY_USERS}
        guests |= {name: alone.Guest() for name in RESTORED}
        guests |= {'killed': alone.Guest(metadata=METADATA)}
        guests |= {'last': alone.Guest()}
        for name, one in guests.items():
            one.name = name
        self.libvirt.define(*guests.values())
        agent = self.agent(self.hook.url).ready()
        witness = self.witness()
        self.libvirt.virsh(*(f'start {name}' for name in guests))
        for name, (command, _) in BY_USERS.items():
            self.libvirt.virsh(command.format(name))
        self.restore()
        expected = dict.fromkeys(('restored', 'killed', 'last'), 'crash')
        acting = {name: row[1] for name, row in BY_GUESTS.items()}
        for name, (_, kind, event) in STIMULI.items():
            expected[name], acting[name] = kind, event
        for name, event in acting.items():
            base.press(
                self.libvirt,
                name,
                lambda name=name, event=event: self.has(witness, name, event),
            )
        self.libvirt.virsh('destroy full-report')
        for name, (_, event) in BY_USERS.items():
            until(lambda n=name, e=event: self.has(witness, n, e), name)
        self.crashed('killed')
        self.crashed('last')
        until(lambda: not agent.agent._grouping.open, 'groups to be closed')
        if not self.has(witness, 'hang-poweroff', 'WATCHDOG/POWEROFF'):
            # libvirt tells of its end alone, if QEMU was gone too soon.
            expected['hang-poweroff'] = 'crash'
        self.assertEqual(expected, self.kinds())
        self.assertEqual({1}, {*self.told().values()}, self.told())
        [body] = [
            one
            for one in self.hook.bodies
            if one['instance']['name'] == 'killed'
        ]
        self.assertEqual(
            ('web', '9f0c', 'm1.small'),
            tuple(
                body['instance'][key]
                for key in ('display_name', 'project', 'flavor')
            ),
        )
        self.assertEqual(0.0, agent.value('kronos_monitor_gaps_total'))

    def restore(self) -> None:
        """Have guests started from files; one cannot be."""
        self.libvirt.virsh(*(f'managedsave {name}' for name in RESTORED))
        with self.libvirt.saved('spoilt').open('r+b') as file:
            file.truncate(file.seek(0, os.SEEK_END) // 2)
        self.assertRaises(alone.Error, self.libvirt.virsh, 'start spoilt')
        self.libvirt.virsh('start restored')
        self.crashed('restored')

    @staticmethod
    def has(witness: base.Witness, name: str, event: str) -> bool:
        return any(one.endswith(event) for one in witness.seen(name))
