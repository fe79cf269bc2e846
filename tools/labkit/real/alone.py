# SPDX-License-Identifier: Apache-2.0
"""A libvirt for one test, with guests that fail at will.

Each has namespaces as a real host of the lab has: no file of the system is
touched, and several run side by side. It needs neither the lab nor a network.
"""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from labkit.real import boot_sectors, hosts

LIBVIRTD = """\
listen_tls = 0
listen_tcp = 0
auth_unix_ro = "none"
auth_unix_rw = "none"
unix_sock_dir = "{folder}/sock"
host_uuid = "{uuid}"
"""
QEMU = """\
user = "root"
group = "root"
dynamic_ownership = 0
remember_owner = 0
security_driver = "none"
cgroup_controllers = []
namespaces = []
stdio_handler = "file"
migration_port_min = {first}
migration_port_max = {last}
"""
DOMAIN = """\
<domain type='qemu'>
  <name>{name}</name>
  <uuid>{uuid}</uuid>
  <metadata>{metadata}</metadata>
  <memory unit='MiB'>32</memory>
  <os><type arch='x86_64' machine='pc'>hvm</type><boot dev='hd'/></os>
  <features><acpi/></features>
  <on_crash>{on_crash}</on_crash>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <disk type='file' device='disk'>
      <driver name='qemu' type='raw'/>
      <source file='{boot}'/><target dev='hda' bus='ide'/>
    </disk>
    {devices}
    <controller type='usb' model='none'/>
    <memballoon model='none'/>
    <video><model type='none'/></video>
    <panic model='isa'/>
  </devices>
</domain>
"""
DISK = """\
<disk type='file' device='disk'>
  <driver name='qemu' type='raw' error_policy='{policy}'/>
  <source file='{path}'/><target dev='hdb' bus='ide'/>
</disk>"""
WATCHDOG = "<watchdog model='ib700' action='{action}'/>"
MIGRATION = (
    '--live',
    '--p2p',
    '--persistent',
    '--undefinesource',
    '--unsafe',
    '--migrateuri',
    'tcp://127.0.0.1',
)
"""Nova's flags; both ends have the same disk, which libvirt does not see."""
MIGRATION_PORTS = range(31000, 32680, 40)
"""The first of each range of ports that a libvirt may have for arrivals. Two
with one range may choose the same port at once; below the kernel's own ports
no connection has one of them."""
DISK_BYTES = 8 * 2**20
FULL_KIB = 64
"""What the file system of a guest's second disk has; a file takes it all."""
LONG = 60.0
"""Seconds after which something will never be."""


@dataclass
class Guest:
    """What one is made of; it does what its code says."""

    code: bytes = boot_sectors.IDLE
    name: str = ''
    on_crash: str = 'destroy'
    watchdog: str = ''
    """What becomes of a guest that does not feed it; '': it has none."""
    full_disk: str = ''
    """The error policy of a disk that takes nothing; '': it has none."""
    metadata: str = ''

    def __post_init__(self) -> None:
        self.uuid = str(uuid.uuid4())
        self.name = self.name or f'guest-{self.uuid[:8]}'


class Error(Exception):
    """Something of it does not work."""


class Libvirt:
    """A libvirt and its guests.

    :param folder: all of it is there; its path is short
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self._socket = folder / 'sock' / 'libvirt-sock'
        self._daemon: subprocess.Popen[bytes] | None = None
        self._holder: subprocess.Popen[bytes] | None = None
        self._reservation, self._port = _reserved_ports()
        self.uuids: dict[str, str] = {}
        """Of the guests, by name."""

    @property
    def uri(self) -> str:
        """To read."""
        return f'qemu+unix:///system?socket={self._socket}-ro'

    @property
    def pid(self) -> int:
        """Of its daemon."""
        assert self._daemon is not None
        return self._daemon.pid

    def start(self) -> None:
        """Start it, and whatever of it does not run."""
        if self._holder is None:
            self._hold()
        if self._daemon is not None:
            return
        self._daemon = self._begin(
            self.folder / 'libvirtd.log',
            *self._inside(),
            '/usr/sbin/libvirtd',
            '-f',
            '/etc/libvirt/libvirtd.conf',
            '-p',
            '/run/libvirt/libvirtd.pid',
        )
        wait(lambda: not self._asked('list').returncode, 'libvirtd')

    @contextlib.contextmanager
    def hanging(self) -> Iterator[None]:
        """Let its daemon stand still."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def stop(self, number: int = signal.SIGKILL) -> None:
        """End its daemon; the guests live on."""
        daemon, self._daemon = self._daemon, None
        if daemon is not None:
            daemon.send_signal(number)
            daemon.wait()

    def close(self) -> None:
        """End all of it, the guests first."""
        self.stop()
        self.kill(self.uuids)
        wait(lambda: not self.pids(self.uuids), 'guests to end')
        if self._holder is not None:
            self._holder.kill()
            self._holder.wait()
        self._reservation.close()

    def define(self, *guests: Guest) -> None:
        """Let it know of guests."""
        commands = []
        for guest in guests:
            self.uuids[guest.name] = guest.uuid
            path = self.folder / f'{guest.name}.xml'
            path.write_text(self._definition(guest))
            commands.append(f'define {path}')
        self.virsh(*commands)

    def boot(self, *guests: Guest) -> None:
        """The same, and start them."""
        self.define(*guests)
        self.virsh(*(f'start {guest.name}' for guest in guests))

    def virsh(self, *commands: str) -> str:
        """Have it do something, one after the other.

        :raises Error: it does not
        """
        done = self._asked('; '.join(commands))
        if done.returncode:
            raise Error(f'virsh {commands[:3]}: {done.stderr.strip()}')
        return done.stdout

    def migrate(
        self, name: str, target: 'Libvirt', *options: str
    ) -> 'subprocess.Popen[str]':
        """Begin to migrate a guest, as Nova has it done."""
        target.uuids[name] = self.uuids[name]
        return subprocess.Popen(
            [
                'virsh',
                '-q',
                '-c',
                f'qemu+unix:///system?socket={self._socket}',
                'migrate',
                name,
                f'qemu+unix:///system?socket={target._socket}',
                *MIGRATION,
                *options,
            ],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def state(self, name: str) -> str:
        """Of a guest and why, as virsh words it; '': it has none."""
        return self._asked(f'domstate --reason {name}').stdout.strip()

    def is_dirtying(self, name: str) -> bool:
        """Whether a guest with that code has begun to."""
        look = f'xp /1hx {boot_sectors.DIRTIED:#x}'
        done = self._asked(f"qemu-monitor-command {name} --hmp '{look}'")
        return done.stdout.partition(': ')[2].strip() not in ('', '0x0000')

    def saved(self, name: str) -> pathlib.Path:
        """The file from which a guest is to be started."""
        return self.folder / 'varlib' / 'qemu' / 'save' / f'{name}.save'

    def press(self, name: str) -> bool:
        """Press a key of a guest; whether it was there to take it."""
        return not self._asked(f'send-key {name} KEY_ENTER').returncode

    def pids(self, names: Iterable[str]) -> dict[str, int]:
        """Process of each of some guests that has one, libvirtd or not."""
        found = {}
        assert self._holder is not None
        run = pathlib.Path(f'/proc/{self._holder.pid}/root/run/libvirt/qemu')
        for name in names:
            with contextlib.suppress(OSError, ValueError):
                pid = int((run / f'{name}.pid').read_text())
                words = pathlib.Path(f'/proc/{pid}/cmdline').read_bytes()
                if self.uuids[name].encode() in words:
                    found[name] = pid
        return found

    def kill(
        self, names: Iterable[str], number: int = signal.SIGKILL
    ) -> dict[str, float]:
        """Signal the processes of guests, as fast as can be.

        :returns: when, in Unix seconds, by name
        """
        times = {}
        for name, pid in self.pids(names).items():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
                times[name] = time.time()
        return times

    def resident_mb(self) -> float:
        """Memory of its daemon."""
        return resident_mb(self.pid)

    def _hold(self) -> None:
        for name in ('etc', 'varlib', 'cache', 'log', 'instances', 'sock'):
            (self.folder / name).mkdir()
        values = {'folder': self.folder, 'uuid': uuid.uuid4()}
        etc = self.folder / 'etc'
        (etc / 'libvirtd.conf').write_text(LIBVIRTD.format(**values))
        last = self._port + MIGRATION_PORTS.step - 2
        qemu = QEMU.format(first=self._port, last=last)
        (etc / 'qemu.conf').write_text(qemu)
        names = self.folder / 'hosts'
        names.write_text('127.0.0.1 localhost\n')
        self._holder = self._begin(
            self.folder / 'holder.log',
            'unshare',
            '-m',
            '-u',
            'sh',
            str(hosts.HOLDER),
            'alone',
            str(self.folder),
            str(self.folder / 'instances'),
            str(names),
        )
        wait((self.folder / 'ready').exists, 'the namespaces')

    def _inside(self) -> list[str]:
        assert self._holder is not None
        return ['nsenter', '-m', '-u', '-t', str(self._holder.pid), '--']

    @staticmethod
    def _begin(log: pathlib.Path, *command: str) -> 'subprocess.Popen[bytes]':
        with log.open('ab') as output:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def _asked(self, text: str) -> 'subprocess.CompletedProcess[str]':
        uri = f'qemu+unix:///system?socket={self._socket}'
        return subprocess.run(
            ['virsh', '-q', '-c', uri, text], capture_output=True, text=True
        )

    def _definition(self, guest: Guest) -> str:
        boot = self.folder / 'instances' / f'{guest.name}.boot'
        boot.write_bytes(boot_sectors.sector(guest.code).ljust(65536, b'\0'))
        devices = []
        if guest.watchdog:
            devices.append(WATCHDOG.format(action=guest.watchdog))
        if guest.full_disk:
            path = self._full_disk(guest.name)
            devices.append(DISK.format(policy=guest.full_disk, path=path))
        return DOMAIN.format(
            name=guest.name,
            uuid=guest.uuid,
            metadata=guest.metadata,
            on_crash=guest.on_crash,
            boot=boot,
            devices='\n'.join(devices),
        )

    def _full_disk(self, name: str) -> pathlib.Path:
        """A disk to which nothing can be written; it is full elsewhere."""
        place = self.folder / 'instances' / f'{name}.full'
        place.mkdir()
        script = (
            f'mount -t tmpfs -o size={FULL_KIB}k tmpfs {place} && '
            f'truncate -s {DISK_BYTES} {place}/disk && '
            f'! head -c {FULL_KIB * 2048} /dev/zero 2>/dev/null '
            f'>{place}/rest'
        )
        done = subprocess.run(
            [*self._inside(), 'sh', '-c', script],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise Error(f'{place}: {done.stderr.strip()}')
        return place / 'disk'


def resident_mb(pid: int) -> float:
    """MiB of memory that a process has to itself or shares."""
    text = pathlib.Path(f'/proc/{pid}/status').read_text()
    [line] = [one for one in text.splitlines() if one.startswith('VmRSS')]
    return int(line.split()[1]) / 1024


def _reserved_ports() -> tuple[socket.socket, int]:
    """What reserves a range of ports until it is closed, and the first one.

    :raises Error: none is free
    """
    for port in MIGRATION_PORTS:
        reservation = socket.socket()
        try:
            reservation.bind(('127.0.0.1', port))
        except OSError:
            reservation.close()
        else:
            return reservation, port + 1
    raise Error('no range of ports is free for arrivals')


def wait(condition: Callable[[], Any], what: str) -> Any:
    """Wait for something.

    :raises Error: it does not come
    """
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.02)
    raise Error(f'{what}: not within {LONG:g} s')
