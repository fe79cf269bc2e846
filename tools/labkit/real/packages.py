# SPDX-License-Identifier: Apache-2.0
"""The Debian packages of real hosts, and whether they can be had.

Standard library only.
"""

import fcntl
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence

from labkit import debian, layout
from labkit.telling import BootstrapError, step

INSTALLED = {
    'libvirt-clients': '/usr/bin/virsh',
    'libvirt-daemon-system': '/usr/sbin/libvirtd',
    'prometheus-node-exporter': '/usr/bin/prometheus-node-exporter',
    'python3-libvirt': '/usr/lib/python3/dist-packages/libvirt.py',
    'qemu-system-x86': '/usr/bin/qemu-system-x86_64',
    'qemu-utils': '/usr/bin/qemu-img',
}
"""Package to a file of it."""
KERNEL = 'linux-image-cloud-amd64'
"""It is empty; the kernel is what it depends on."""
UNPACKED = ('busybox-static', 'prometheus-libvirt-exporter')
"""Never installed: a guest or the lab alone needs a file of them."""
EMULATOR = {
    'qemu-system-x86': 'usr/bin/qemu-system-x86_64',
    'qemu-system-data': 'usr/share/qemu',
    'qemu-system-common': 'usr/lib/x86_64-linux-gnu/qemu',
    'seabios': 'usr/share/seabios',
}
"""What real hosts have of a newer QEMU, where the machine's is too old."""
SOUND_QEMU = 10
"""QEMU 7.2 loses some of what an emulated guest writes while it is migrated:
a busy kernel is found broken at the destination. 10.0 does not."""
PLACE = layout.HOME / 'real'
"""Shared by all labs, as the virtual environment is."""
BUSYBOX = PLACE / 'busybox-static' / 'bin' / 'busybox'
LIBVIRT_EXPORTER = (
    PLACE
    / 'prometheus-libvirt-exporter'
    / 'usr'
    / 'bin'
    / 'prometheus-libvirt-exporter'
)
BINDINGS = PLACE / 'python'
"""Debian's libvirt for Python, and nothing else of Debian's."""
DIST_PACKAGES = pathlib.Path('/usr/lib/python3/dist-packages')


def why_not() -> str:
    """Why this machine can have no real hosts; '' if it can."""
    if os.geteuid():
        return 'real hosts need root, for namespaces of their own'
    for program in ('unshare', 'nsenter'):
        if shutil.which(program) is None:
            return f'real hosts need {program} (Debian: util-linux)'
    if platform.machine() != 'x86_64':
        return f'real hosts need x86_64, this machine is {platform.machine()}'
    if subprocess.run(
        ['unshare', '-m', '-u', 'true'], capture_output=True
    ).returncode:
        return 'real hosts need "unshare -m -u", which is forbidden here'
    missing = debian.missing(INSTALLED)
    if missing and shutil.which('apt-get') is None:
        return f'real hosts need {", ".join(missing)} from Debian'
    version = f'cpython-{sys.version_info[0]}{sys.version_info[1]}'
    if not missing and not list(DIST_PACKAGES.glob(f'libvirtmod.{version}*')):
        return (
            'real hosts need the libvirt of Debian for Python '
            f'{sys.version_info[0]}.{sys.version_info[1]}'
        )
    return ''


def missing() -> list[str]:
    """Packages that are not there.

    :raises BootstrapError: says what cannot be had, and why
    """
    if reason := why_not():
        raise BootstrapError(reason)
    return debian.missing(INSTALLED)


def ensure() -> None:
    """Install and unpack whatever is missing.

    :raises BootstrapError: says what cannot be had, and why
    """
    install()
    for name in UNPACKED:
        _unpack(name, name)
    if not (PLACE / 'kernel').exists():
        _unpack(debian.dependency(KERNEL, 'linux-image-'), 'kernel')
    if not _is_sound():
        _unpack_emulator()


def install() -> None:
    """Install what a libvirt and QEMU need, and no more.

    :raises BootstrapError: says what cannot be had, and why
    """
    missing()
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / 'lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        debian.install(debian.missing(INSTALLED), layout.HOME / 'apt.log')
        if reason := why_not():
            raise BootstrapError(reason)
        _bind()


def _unpack(package: str, name: str, options: Sequence[str] = ()) -> None:
    target = PLACE / name
    if target.exists():
        return
    with step(f'unpacking {package} from Debian'):
        debian.unpack(package, target, options)


def _is_sound() -> bool:
    """Whether the machine's own QEMU can be trusted with a migration."""
    told = subprocess.run(
        [INSTALLED['qemu-system-x86'], '--version'],
        capture_output=True,
        text=True,
    ).stdout
    result = re.search(r'version (\d+)', told)
    return result is not None and int(result[1]) >= SOUND_QEMU


def _unpack_emulator() -> None:
    missing = [name for name in EMULATOR if not (PLACE / name).exists()]
    if not missing:
        return
    with step("looking into Debian's backports"):
        options = debian.backports(PLACE / 'apt')
    for name in missing:
        _unpack(name, name, options)


def mounts() -> list[tuple[pathlib.Path, pathlib.Path]]:
    """What a host sees at the place of what the machine has."""
    return [
        (PLACE / name / path, pathlib.Path('/') / path)
        for name, path in EMULATOR.items()
        if (PLACE / name).exists()
    ]


def _bind() -> None:
    """Lead the lab's Python to Debian's libvirt, by links."""
    BINDINGS.mkdir(exist_ok=True)
    version = f'cpython-{sys.version_info[0]}{sys.version_info[1]}'
    for file in DIST_PACKAGES.glob('libvirt*'):
        if file.suffix == '.py' or version in file.name:
            link = BINDINGS / file.name
            if not link.exists():
                link.unlink(missing_ok=True)
                link.symlink_to(file)


def kernel() -> pathlib.Path:
    """The kernel of the guests."""
    return next((PLACE / 'kernel' / 'boot').glob('vmlinuz-*'))


def modules(names: tuple[str, ...]) -> list[pathlib.Path]:
    """Modules of that kernel, in that order."""
    root = PLACE / 'kernel' / 'lib' / 'modules'
    return [next(root.rglob(f'{name}.ko')) for name in names]
