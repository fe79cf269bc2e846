# SPDX-License-Identifier: Apache-2.0
"""Does an outage of libvirt hide nothing, and does --check tell of one?"""

import signal
import subprocess
import sys

from labkit.real import alone

from tests import places
from tests.functional.monitor import base


class TestOutages(base.RealTestCase):
    def test_killed_meanwhile(self) -> None:
        """What failed is told, and once; who was destroyed before is not."""
        names = ['early', 'killed', 'destroyed', 'stays']
        self.libvirt.boot(*(alone.Guest(name=name) for name in names))
        outdated = self.agent(self.hook.url).ready().agent._outdated
        self.crashed('early')
        self.libvirt.virsh('destroy destroyed')
        self.libvirt.stop()
        self.libvirt.kill(['killed'])
        # Of a process that is still ending, libvirt cannot say why it ends.
        base.until(lambda: not self.libvirt.pids(['killed']), 'its end')
        self.libvirt.start()
        base.until(lambda: 'killed' in self.told(), 'killed to be told')
        # Of a guest that libvirt has not looked at yet it says no reason.
        base.until(lambda: not outdated.instances, 'the states')
        self.crashed('stays')
        self.assertEqual({'early': 1, 'killed': 1, 'stays': 1}, self.told())
        self.assertEqual(
            [('early', False), ('killed', True), ('stays', False)],
            [
                (one['instance']['name'], one['inferred'])
                for one in self.hook.bodies
            ],
        )
        self.assertEqual(0, self.check().returncode)
        self.libvirt.stop()
        done = self.check()
        self.assertEqual(1, done.returncode)
        self.assertIn('libvirtd or virtqemud must run', done.stdout)

    def test_before_libvirt_has_looked(self) -> None:
        """It lists a guest as running, and sends no event of what it sees."""
        names = ['frozen', 'killed', 'stays']
        self.libvirt.boot(*(alone.Guest(name=name) for name in names))
        outdated = self.agent(self.hook.url).ready().agent._outdated
        self.libvirt.stop()
        # libvirt waits for the answer of each.
        self.libvirt.kill(['frozen', 'killed'], signal.SIGSTOP)
        self.libvirt.start()
        frozen, killed = (self.libvirt.uuids[name] for name in names[:2])
        base.until(lambda: outdated.instances == {frozen, killed}, 'the list')
        self.libvirt.kill(['killed'])
        end = f'off for an unknown reason: {killed}'
        base.until(lambda: end in self.log.output, 'its end')
        self.assertEqual({frozen}, outdated.instances)
        self.libvirt.kill(['frozen'], signal.SIGCONT)
        base.until(lambda: not outdated.instances, 'an answer')
        for name in ('frozen', 'stays'):
            self.crashed(name)
        self.assertEqual({'frozen': 1, 'stays': 1}, self.told())

    def check(self) -> 'subprocess.CompletedProcess[str]':
        return subprocess.run(
            [
                sys.executable,
                '-m',
                'kronos.cmd.instance_monitor',
                '--check',
                '--config-file',
                self.conf(self.hook.url),
            ],
            cwd=places.TOP,
            env=self.environ(),
            capture_output=True,
            text=True,
        )
