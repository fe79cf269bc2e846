# SPDX-License-Identifier: Apache-2.0
"""Debian packages of the cluster, unpacked beside the lab.

None is installed: a server or a library of theirs would change the machine.
Standard library only.
"""

import fcntl
import os
import pathlib
import tempfile

from labkit import apt, layout
from labkit.telling import BootstrapError, step

PLACE = layout.HOME / 'ha'
"""Shared by all labs, as the virtual environment is."""
PACKAGES = (
    'galera-4',
    'haproxy',
    'libfaketime',
    'liblua5.3-0',
    'libopentracing-c-wrapper0',
    'libopentracing1',
    'libpopt0',
    'libunwind8',
    'libxxhash0',
    'mariadb-client',
    'mariadb-server',
    'rsync',
    'strace',
)
"""The scripts by which a node gets all data are in mariadb-server."""
PROVIDER = PLACE / 'galera-4/usr/lib/galera/libgalera_smm.so'
STRACE = PLACE / 'strace/usr/bin/strace'
PROXY = PLACE / 'haproxy/usr/sbin/haproxy'
SCRIPT = 'usr/bin/wsrep_sst_rsync'
AS_ROOT = 'uid = root\ngid = root\n'


def ensure() -> None:
    """Unpack what is not there yet.

    :raises BootstrapError: a package could not be fetched
    """
    PLACE.mkdir(parents=True, exist_ok=True)
    with (layout.HOME / 'ha.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = [n for n in PACKAGES if not (PLACE / n).exists()]
        if not missing:
            return
        with step(f'unpacking {", ".join(missing)} from Debian'):
            _fetch(missing)


def _fetch(missing: list[str]) -> None:
    """Fetch packages at once, and unpack each whole or not at all."""
    with tempfile.TemporaryDirectory(dir=PLACE) as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)  # else the user of apt may not write there
        apt.done(apt.command('download', *missing), folder)
        for package in missing:
            [file] = folder.glob(f'{package}_*.deb')
            apt.done(['dpkg-deb', '-x', str(file), package], folder)
            if package == 'mariadb-server':
                _keep_root(folder / package / SCRIPT)
            (folder / package).rename(PLACE / package)


def _keep_root(script: pathlib.Path) -> None:
    """Have rsync's daemon stay root: as nobody it may write nothing."""
    begin, key, rest = script.read_text().partition('read only = no\n')
    if not key:
        raise BootstrapError(f'{script.name} has no configuration of rsync')
    if os.geteuid() == 0:
        script.write_text(begin + AS_ROOT + key + rest)


def environ() -> dict[str, str]:
    """What a process needs to find programs and libraries of theirs."""
    folders = [PLACE / name for name in PACKAGES]
    programs = [str(folder / 'usr/bin') for folder in folders]
    libraries = [
        str(place)
        for folder in folders
        for place in sorted((folder / 'usr/lib').glob('*-linux-gnu'))
    ]
    return {
        'PATH': ':'.join([*programs, os.environ.get('PATH', os.defpath)]),
        'LD_LIBRARY_PATH': ':'.join(libraries),
    }
