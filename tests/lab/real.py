# SPDX-License-Identifier: Apache-2.0
"""What do the scenarios with real hypervisors and guests share?"""

import subprocess
from typing import Any, ClassVar

from testtools import content

from tests.lab import base

from labkit import layout, running, services  # isort: skip
from labkit.real import guest_control, hosts, packages, ticks  # isort: skip
from labkit.real import topology  # isort: skip

SOURCE, DESTINATION = 'ra', 'rb'
SLOW_MIB = 4
"""Per second: the memory of a guest takes about ten seconds."""
WRITES, TOO_SLOW_MIB = 'dirty 30', 5
"""What a guest does, and a speed at which its memory cannot be sent, even
where other work leaves it half of its processor."""
DISK_FLAVOR, DISK_MIB = 'real.disk', 16
"""Its disk takes about a minute."""
SMALL_MIB = 32
"""Of a disk, which its guest fills."""
OWN_SHARE = 0.8
"""Of a host's load, that its guests are seen to make."""


class RealTestCase(base.LabTestCase):
    """Two hosts with libvirt and QEMU, and guests that take orders.

    Skipped where they cannot be had.
    """

    number: ClassVar[int] = 2
    """Of real hosts."""
    monitored: ClassVar[bool] = False
    """Whether instance monitors watch their guests."""
    options: ClassVar[dict[str, Any]] = {
        'hypervisor_types': 'QEMU',
        'migration_poll_interval': 1,
    }
    uuids: dict[str, str]

    def setUp(self) -> None:
        if reason := packages.why_not():
            self.skipTest(reason)
        packages.ensure()
        if len(base.lab().real_hosts()) > self.number:
            base.lab().down()
        base.lab().up(self.number)
        super().setUp()
        self.hosts = self.lab.real_hosts()
        if not self.monitored:
            self.stop_monitors()
        self.policies = self.sample('policies-debian-libvirt-exporter.yaml')
        self.configure()
        self.listening: dict[str, ticks.Ticks] = {}
        self.addCleanup(self.tell_consoles)

    def stop_monitors(self) -> None:
        """End those of other scenarios: Masakari would recover its guests."""
        known = self.lab.names()
        for host in self.hosts.values():
            if host.monitor in known:
                self.lab.stop(host.monitor)

    def tell_consoles(self) -> None:
        """What the guests said last, to be seen where a scenario fails."""
        for name, uuid in getattr(self, 'uuids', {}).items():
            for host in self.hosts.values():
                file = host.folder / 'instances' / uuid / 'console.log'
                if file.exists():
                    text = file.read_text(errors='replace')[-2000:]
                    self.tell(f'{name} on {host.name}', text)

    def tell(self, name: str, text: object) -> None:
        """Keep something with the result, for whoever reads it."""
        self.addDetail(name, content.text_content(f'{text}'))

    def boot_guests(
        self, placed: dict[str, str], flavor: str = topology.FLAVOR
    ) -> None:
        """Boot guests; they are heard from the first line on.

        :param placed: server name to host
        """
        made = self.cloud.boot_all(
            base.Wanted(name, host, flavor=flavor, image='real-guest')
            for name, host in placed.items()
        )
        self.uuids = {server['name']: server['id'] for server in made}
        real = list(self.hosts.values())
        for name, uuid in self.uuids.items():
            self.listening[name] = ticks.Ticks(real, uuid)
            self.addCleanup(self.listening[name].end)
        self.wait(
            lambda: all(one.heard for one in self.listening.values()),
            'all guests to be heard',
        )

    def order(self, name: str, text: str) -> str:
        """Tell a guest what to do; what it answers."""
        return guest_control.order(self.lab, name, text)

    def speed(self, name: str, mib: int) -> None:
        """Let a guest migrate from where it is with so many MiB/s."""
        guest_control.limit(self.lab, name, mib)

    def wait_for_load(self, host: str, least: float) -> None:
        """Wait until Prometheus shows a host busy, and whose work that is."""

        def seen() -> bool:
            busy = self.measured()['cpu'].get(host, 0.0)
            here = [
                self.uuids[name]
                for name, at in self.cloud.placement().items()
                if at == host
            ]
            cores, memory = (self.profiles(query) for query in queries)
            known = sum(cores.get(uuid, 0.0) for uuid in here)
            return (
                least <= busy
                and known >= OWN_SHARE * busy * topology.CORES
                and set(here) <= set(memory)
            )

        text = base.yaml.safe_load(self.policies.read_text())
        queries = [one['vm_profile_query'] for one in text['policies']]
        self.wait(seen, f'{host} to be seen busy')

    def profiles(self, query: str) -> dict[str, float]:
        """What each server uses, by its uuid."""
        return {
            series['metric']['uuid']: float(series['value'][1])
            for series in self.cloud.promql(query)
        }

    def evacuation(self, host: str = SOURCE) -> dict[str, Any]:
        """A plan that empties a host."""
        _, plan, _ = self.audited(
            f'aggregates=real hosts={host}', '', 'kronos_evacuate'
        )
        return plan

    def rows(self, plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """The plan's actions by the name of the server."""
        return {
            row['input_parameters']['resource_name']: row
            for row in self.actions(plan)
        }

    def migration(self, name: str) -> dict[str, Any]:
        """Nova's newest migration of a server; {}: it has none."""
        rows = self.migrations(instance_uuid=self.uuids[name])
        return rows[0] if rows else {}

    def figures(self, name: str) -> dict[str, Any]:
        """How far Nova says that a migration is; {}: none runs."""
        rows = self.cloud.compute.get(
            f'/servers/{self.uuids[name]}/migrations', microversion='2.80'
        ).json()['migrations']
        return dict(rows[0]) if rows else {}

    def wait_pass(self, name: str, number: int) -> None:
        """Wait until a pass over a guest's memory is under way."""
        seen, last = 0, 0

        def come() -> bool:
            nonlocal seen, last
            left = self.figures(name).get('memory_remaining_bytes') or 0
            if left > last:
                seen += 1
            last = left or last
            return seen >= number

        self.wait(come, f'pass {number}')

    def assert_alive(self, *names: str) -> None:
        """Each guest answers, and its own clock has never gone back."""
        for name in names:
            heard = self.listening[name].heard
            before = len(heard)
            self.assertIn('done cpu', self.order(name, 'cpu 1'))
            self.wait(lambda at=before, of=heard: len(of) > at, name)
            uptimes = [one.uptime for one in heard]
            self.assertEqual(sorted(uptimes), uptimes, name)

    def standstill(self, name: str) -> float:
        """Seconds for which a guest stood still while it moved."""
        return ticks.standstill(self.listening[name].heard)

    def put_right(self, name: str, text: str) -> None:
        """Do what an action says that has left a server in ERROR.

        :param text: its status message
        """
        uuid = self.uuids[name]
        self.assertIn('in ERROR', text)
        if f'heal_allocations --instance {uuid}' in self.logged():
            self.manage('heal_allocations', '--instance', uuid, '--force')
        left = self.migration(name)['uuid']
        if self.allocations(left):
            self.assertIn(f'allocation delete {left}', self.logged())
            self.cloud.connection.placement.delete(f'/allocations/{left}')
        self.openstack(f'server set --state active --auto-approve {uuid}')

    def logged(self) -> str:
        """What the applier says; a status message has the start of it."""
        return (layout.LOG / 'watcher-applier.log').read_text()

    def assert_audited(self) -> None:
        """Nova finds no allocation that nobody holds."""
        self.manage('audit')

    def manage(self, *words: str) -> None:
        """Run nova-manage for Placement."""
        done = subprocess.run(
            [
                layout.program('nova-manage'),
                *services.nova_files(),
                'placement',
                *words,
            ],
            capture_output=True,
            text=True,
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def permit(self, means: str) -> None:
        """Let Nova end migrations by ``post_copy`` or ``auto_converge``."""
        self.addCleanup(self.write_computes, '')
        self.write_computes(means)

    def write_computes(self, permitted: str) -> None:
        for host in self.hosts.values():
            hosts.write_compute(host, permitted)
            self.lab.stop(host.compute)
        for host in self.hosts.values():
            self.lab.start(host.compute)

    def kill_libvirtd(self, host: str) -> None:
        self.addCleanup(self.lab.start, f'libvirtd-{host}')
        self.lab.stop(f'libvirtd-{host}', kill=True)

    def virsh(self, host: str, *words: str) -> str:
        return hosts.virsh(self.hosts[host], *words)

    def domain(self, name: str) -> str:
        """libvirt's name of a server's guest."""
        return str(self.server(name)['OS-EXT-SRV-ATTR:instance_name'])

    def disk_flavor(self) -> str:
        """Its disk has a GiB; QEMU sends what was never written, too."""
        if DISK_FLAVOR not in self.cloud.flavors():
            self.cloud.compute.create_flavor(
                name=DISK_FLAVOR, vcpus=1, ram=topology.MEMORY_MB, disk=1
            )
        return DISK_FLAVOR

    def small_disks(self, *names: str) -> None:
        """Let the files of guests be on disks of few MiB.

        A guest that writes more is paused.
        """
        for name in names:
            self.virsh(self.at(name), 'destroy', self.domain(name))
        self.wait(
            lambda: {self.status(name) for name in names} == {'SHUTOFF'},
            'Nova to see that',
        )
        for name in names:
            self._small_disk(self.at(name), self.folder(name))
            self.openstack(f'server start {self.uuids[name]}')
        for name in names:
            self.wait(lambda who=name: self.answers(who), 'it to run again')

    def _small_disk(self, host: str, folder: str) -> None:
        self.inside(host, '/usr/bin/mv', folder, f'{folder}.away')
        self.inside(host, '/usr/bin/mkdir', folder)
        self.inside(
            host,
            *('/usr/bin/mount', '-t', 'tmpfs', '-o', f'size={SMALL_MIB}m'),
            *('tmpfs', folder),
        )
        self.addCleanup(self.inside, host, '/usr/bin/umount', '-l', folder)
        self.inside(
            host,
            *('/usr/bin/cp', '-a', '--sparse=always'),
            *(f'{folder}.away/.', folder),
        )
        self.inside(host, '/usr/bin/rm', '-r', f'{folder}.away')

    def fill(self, name: str) -> None:
        """Have a guest write more than its small disk has room for."""
        # It stands still in the middle of that, so it says nothing.
        self.assertRaises(
            running.LabError, self.order, name, f'disk {2 * SMALL_MIB}'
        )
        host = self.at(name)
        self.assertIn(
            'no space', self.virsh(host, 'domblkerror', self.domain(name))
        )

    def folder(self, name: str) -> str:
        """Of a server's files, on its host."""
        return f'{topology.INSTANCES}/{self.uuids[name]}'

    def answers(self, name: str) -> bool:
        """Whether a guest takes orders."""
        try:
            return bool(self.order(name, 'cpu 1'))
        except running.LabError:
            return False

    def at(self, name: str) -> str:
        """The host of a server."""
        return str(self.server(name)['OS-EXT-SRV-ATTR:host'])

    def status(self, name: str) -> str:
        return str(self.server(name)['status'])

    def server(self, name: str) -> dict[str, Any]:
        return dict(self.cloud.servers()[self.uuids[name]])

    def inside(self, host: str, *words: str) -> None:
        """Run something on a host."""
        done = subprocess.run(
            hosts.inside(self.hosts[host], *words),
            capture_output=True,
            text=True,
        )
        self.assertEqual(0, done.returncode, done.stderr)

    def log_of(self, host: str) -> str:
        """What its nova-compute has said."""
        return (layout.LOG / f'compute-{host}.log').read_text()


class OneGuestTestCase(RealTestCase):
    """A plan whose only move is slow; something happens on the way."""

    options: ClassVar[dict[str, Any]] = {
        **RealTestCase.options,
        'recover_rows': True,
    }

    def begun(self, **options: Any) -> dict[str, Any]:
        """The plan, while its guest's memory is sent."""
        return self._begun('memory', topology.FLAVOR, options)

    def begun_with_disk(self, **options: Any) -> dict[str, Any]:
        """The plan, while its guest's disk is copied."""
        return self._begun('disk', self.disk_flavor(), options)

    def _begun(
        self, part: str, flavor: str, options: dict[str, Any]
    ) -> dict[str, Any]:
        self.configure(**options)
        self.boot_guests({'one': SOURCE}, flavor)
        self.order('one', 'cpu 30')
        plan = self.evacuation()
        self.speed('one', DISK_MIB if part == 'disk' else SLOW_MIB)
        self.start(plan)
        self.wait(
            lambda: self.figures('one').get(f'{part}_processed_bytes'),
            f'{part} to be sent',
        )
        return plan

    def told(self, plan: dict[str, Any]) -> str:
        """What the action says, once its plan has failed."""
        self.assertEqual('FAILED', self.executed(plan)['state'])
        text = str(self.rows(plan)['one']['status_message'])
        self.tell('told', text)
        return text

    def assert_stayed(self) -> None:
        """It is where it was, alive, and Placement agrees."""
        self.assert_at_rest({'one': SOURCE})
        self.assert_alive('one')
        self.assert_audited()
