# SPDX-License-Identifier: Apache-2.0
"""The program of a real guest, and how it gets its orders.

A Linux of one program, busybox, whose console takes commands. It prints a
line each second, so that who reads it sees for how long it stood still.
"""

import io
import os
import pathlib
import select
import stat
import time
from collections.abc import Iterable

MODULES = (
    'virtio_ring',
    'virtio',
    'virtio_pci_legacy_dev',
    'virtio_pci_modern_dev',
    'virtio_pci',
    'virtio_balloon',
    'virtio_blk',
)
"""In the order in which one needs the other."""
COMMAND_LINE = (
    'console=ttyS0 quiet no_timer_check panic=0 '
    'rcupdate.rcu_cpu_stall_suppress=1'
)
"""An emulated guest is starved now and then, which is no reason to panic."""
OPEN_SECONDS = 1.2
"""QEMU looks so often whether the other end of a console was opened."""
INIT = r"""#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs -o size=90% tmp /tmp
for module in @MODULES@; do insmod /lib/$module.ko; done
exec </dev/ttyS0 >/dev/ttyS0 2>&1
stty -echo

now() {  # hundredths of a second
    read -r up rest </proc/uptime
    now=${up%.*}${up#*.}
}

burn() {  # a share of the processor, in percent
    [ "$1" -gt 0 ] || return
    while :; do
        now; start=$now
        while [ $((now - start)) -lt "$1" ]; do now; done
        [ "$1" -ge 100 ] || usleep $(((100 - $1) * 10000))
    done
}

dirty() {  # so many MiB of memory, again and again
    [ "$1" -gt 0 ] || return
    yes 'a page that is not empty' | head -c 1048576 >/tmp/text
    while :; do
        at=0
        while [ $at -lt "$1" ]; do
            dd if=/tmp/text of=/tmp/dirty bs=1M seek=$at conv=notrunc \
                2>/dev/null
            at=$((at + 1))
        done
    done
}

change() {  # a running load for another one
    [ -z "$2" ] || kill "$2" 2>/dev/null
}

for word in $(cat /proc/cmdline); do
    case $word in kronos.cpu=*) first=${word#*=} ;; esac
done
burn "${first:-0}" &
burner=$!
dirtier=
(while :; do read -r up rest </proc/uptime; echo "tick $up"; sleep 1; done) &
echo ready
while read -r command number; do
    case $command in
    cpu) change cpu $burner; burn "$number" & burner=$! ;;
    dirty) change dirty $dirtier; dirty "$number" & dirtier=$! ;;
    disk)
        dd if=/dev/zero of=/dev/vda bs=1M count="$number" conv=fsync ;;
    quit) echo "done quit"; poweroff -f ;;
    crash) echo c >/proc/sysrq-trigger ;;
    *) echo "unknown $command"; continue ;;
    esac
    echo "done $command $number"
done
while :; do sleep 3600; done
"""


def initramfs(busybox: pathlib.Path, modules: Iterable[pathlib.Path]) -> bytes:
    """The guest's whole file system, as the kernel unpacks it."""
    archive = _Archive()
    for folder in ('bin', 'dev', 'lib', 'proc', 'sys', 'tmp'):
        archive.add(folder, stat.S_IFDIR | 0o755)
    archive.add('dev/console', stat.S_IFCHR | 0o600, device=(5, 1))
    archive.add(
        'bin/busybox', stat.S_IFREG | 0o755, content=busybox.read_bytes()
    )
    for module in modules:
        name = f'lib/{module.name}'
        archive.add(name, stat.S_IFREG | 0o644, content=module.read_bytes())
    init = INIT.replace('@MODULES@', ' '.join(MODULES))
    archive.add('init', stat.S_IFREG | 0o755, content=init.encode())
    return archive.closed()


class _Archive:
    """A cpio archive in the format newc, as kernels take it."""

    def __init__(self) -> None:
        self._out = io.BytesIO()
        self._number = 0

    def add(
        self,
        name: str,
        mode: int,
        content: bytes = b'',
        device: tuple[int, int] = (0, 0),
    ) -> None:
        self._number += 1
        path = name.encode() + b'\0'
        fields = [self._number, mode, 0, 0, 1, 0, len(content), 0, 0]
        fields += [*device, len(path), 0]
        self._out.write(
            b'070701' + b''.join(b'%08x' % field for field in fields)
        )
        self._out.write(path)
        self._pad()
        self._out.write(content)
        self._pad()

    def closed(self) -> bytes:
        self.add('TRAILER!!!', 0)
        return self._out.getvalue()

    def _pad(self) -> None:
        self._out.write(b'\0' * (-self._out.tell() % 4))


def bootable(kernel: bytes) -> bytes:
    """The kernel without the mark by which it looks like a boot sector.

    Nova's inspection takes it for a disk with partitions and refuses it at
    the destination of a migration.
    """
    return kernel[:510] + b'\0\0' + kernel[512:]


class Console:
    """The console of a guest that runs on this machine, kept open.

    :param path: of the pseudo terminal that libvirt names
    """

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_NOCTTY)
        time.sleep(OPEN_SECONDS)

    def close(self) -> None:
        os.close(self._file)

    def send(self, command: str) -> None:
        os.write(self._file, command.encode() + b'\n')

    def read(self, seconds: float, until: str = '') -> list[str]:
        """What is printed within some seconds.

        :param until: a line that begins so ends the reading
        """
        end = time.monotonic() + seconds
        text = b''
        while (left := end - time.monotonic()) > 0:
            ready, _, _ = select.select([self._file], [], [], left)
            if not ready:
                break
            text += os.read(self._file, 4096)
            whole = text[: text.rfind(b'\n') + 1].decode(errors='replace')
            lines = [line.strip() for line in whole.splitlines()]
            if until and any(line.startswith(until) for line in lines):
                return lines
        return [
            line.strip() for line in text.decode(errors='replace').split('\n')
        ]

    def ask(self, command: str, seconds: float = 10.0) -> str:
        """Send a command; what the guest says of it, '' if nothing."""
        self.send(command)
        word = command.split()[0]
        lines = self.read(seconds, f'done {word}')
        return next(
            (line for line in lines if line.startswith(f'done {word}')), ''
        )
