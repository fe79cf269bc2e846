# SPDX-License-Identifier: Apache-2.0
"""Debian packages on a machine that they do not disturb.

Standard library only.
"""

import contextlib
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence

from labkit import apt
from labkit.telling import BootstrapError, step

POLICY = pathlib.Path('/usr/sbin/policy-rc.d')
SAVED_POLICY = POLICY.with_name('policy-rc.d.before-kronos-lab')
ABSENT_POLICY = POLICY.with_name('policy-rc.d.absent-before-kronos-lab')

KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg'

DEBIAN = {
    'mariadb-server-core': '/usr/sbin/mariadbd',
    'mariadb-client-core': '/usr/bin/my_print_defaults',
    'rabbitmq-server': '/usr/lib/rabbitmq/bin/rabbitmq-server',
    'prometheus': '/usr/bin/prometheus',
}
"""Package to a file of it. MariaDB's core packages bring no service."""

BROWSERS = ('chromium-headless-shell', 'chromium', 'chromium-browser')
"""Any of them shows pages to the tests; the first is the smallest."""
FONTS = {
    'fonts-dejavu-core': '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf'
}
"""Without any a browser draws empty boxes."""
LINTERS = {
    'mandoc': '/usr/bin/mandoc',
    'shellcheck': '/usr/bin/shellcheck',
    'systemd': '/usr/bin/systemd-analyze',
}

PACKAGERS = {
    'mmdebstrap': '/usr/bin/mmdebstrap',
    'resource-agents': '/usr/sbin/ocf-tester',
    'libxml2-utils': '/usr/bin/xmllint',
}
"""What the tests make packages and look at resource agents with."""


def missing_servers() -> list[str]:
    """Packages of the lab's servers that are not there."""
    return missing(DEBIAN)


def missing(packages: Mapping[str, str]) -> list[str]:
    """Those that are not there.

    :param packages: name to a file of it
    """
    return [name for name, file in packages.items() if not _there(file)]


def missing_browser() -> list[str]:
    """Packages of a browser without a screen that are not there."""
    missing = [] if any(map(shutil.which, BROWSERS)) else [BROWSERS[0]]
    return missing + [
        name for name, file in FONTS.items() if not os.path.exists(file)
    ]


def missing_linters() -> list[str]:
    """Packages of linters that are not there."""
    return missing(LINTERS)


def missing_packagers() -> list[str]:
    """Packages of the tools for packages that are not there."""
    return missing(PACKAGERS)


def mirror() -> str:
    """Address of the mirror that this machine installs Debian from.

    :raises BootstrapError: apt-get knows none
    """
    return _origin()[1]


def _there(file: str) -> bool:
    return os.path.exists(file) or bool(shutil.which(os.path.basename(file)))


def check(names: list[str]) -> None:
    """Whether packages can be installed, where there are any.

    :raises BootstrapError: says why not, and what to do
    """
    if not names or (os.geteuid() == 0 and shutil.which('apt-get')):
        return
    command = (
        f'apt-get -o DPkg::Lock::Timeout={apt.LOCK_SECONDS} install '
        f'--no-install-recommends {" ".join(names)}'
    )
    why = 'this is not root' if os.geteuid() else 'there is no apt-get'
    raise BootstrapError(
        f'These Debian packages are missing: {", ".join(names)}. '
        f'They cannot be installed from here ({why}). '
        f'Install them as root and try again: {command}'
    )


def install(names: list[str], log: pathlib.Path) -> None:
    """Install packages; no service is started, now or at the next boot.

    :param log: what apt-get says is appended to it
    :raises BootstrapError: it may not, or it failed
    """
    if not names:
        return
    check(names)
    # Before the policy is there: what somebody else upgrades may be started.
    apt.wait(time.monotonic() + apt.LOCK_SECONDS)
    before = _installed()
    what = f'installing {", ".join(names)} from Debian'
    with step(what), _no_service_starts():
        apt.run(log, 'update', check=False)
        apt.run(log, 'install', '-y', '--no-install-recommends', *names)
        _keep_disabled(_installed() - before)


def dependency(package: str, prefix: str) -> str:
    """The package that another one depends on.

    :param prefix: of its name
    :raises BootstrapError: there is none
    """
    listing = subprocess.run(
        ['apt-cache', 'depends', package], capture_output=True, text=True
    ).stdout
    for line in listing.splitlines():
        kind, _, name = line.strip().partition(': ')
        if kind == 'Depends' and name.startswith(prefix):
            return name
    raise BootstrapError(f'apt-cache knows no {prefix}* for {package}')


def backports(place: pathlib.Path) -> list[str]:
    """Options by which apt-get knows Debian's backports, and nothing else.

    The machine's own lists of packages stay as they are.

    :param place: a folder for the lists, made anew
    :raises BootstrapError: there are no backports for this machine
    """
    codename, mirror = _origin()
    shutil.rmtree(place, True)
    (place / 'lists').mkdir(parents=True)
    source = place / 'backports.list'
    source.write_text(
        f'deb [signed-by={KEYS}] {mirror} {codename}-backports main\n'
    )
    options = [
        f'-oDir::Etc::sourcelist={source}',
        '-oDir::Etc::sourceparts=/dev/null',
        f'-oDir::State::lists={place / "lists"}',
        '-oDir::Cache::pkgcache=',
        '-oDir::Cache::srcpkgcache=',
    ]
    apt.done(apt.command(*options, 'update'), place)
    return options


def _origin() -> tuple[str, str]:
    """Codename and mirror of the Debian that this machine runs."""
    codename = platform.freedesktop_os_release().get('VERSION_CODENAME', '')
    shown = '$(CODENAME) $(LABEL) $(REPO_URI)'
    listing = subprocess.run(
        ['apt-get', 'indextargets', '--format', shown],
        capture_output=True,
        text=True,
    ).stdout
    for line in listing.splitlines():
        known, label, mirror = line.split(maxsplit=2)
        if (known, label) == (codename, 'Debian'):
            return codename, mirror
    raise BootstrapError(f'apt-get knows no mirror of Debian {codename}')


def unpack(
    package: str, target: pathlib.Path, options: Sequence[str] = ()
) -> None:
    """Fetch a package and unpack it; it is not installed.

    :param target: a folder that is made, whole or not at all
    :param options: of apt-get, such as :func:`backports`
    :raises BootstrapError: it could not be fetched
    """
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)  # else the user of apt may not write there
        apt.done(apt.command(*options, 'download', package), folder)
        [file] = folder.glob('*.deb')
        apt.done(['dpkg-deb', '-x', str(file), 'content'], folder)
        (folder / 'content').rename(target)


def _installed() -> set[str]:
    listing = subprocess.run(
        ['dpkg-query', '-W', '-f', '${db:Status-Abbrev} ${Package}\n'],
        capture_output=True,
        text=True,
    ).stdout
    return {line[4:] for line in listing.splitlines() if line[:2] == 'ii'}


def _keep_disabled(names: set[str]) -> None:
    """Keep what is new from being started at the next boot either."""
    if not names or not shutil.which('systemctl'):
        return
    files = subprocess.run(
        ['dpkg-query', '-L', *sorted(names)], capture_output=True, text=True
    ).stdout.splitlines()
    units = [
        os.path.basename(file)
        for file in files
        if '/systemd/system/' in file
        and file.endswith(('.service', '.socket', '.timer'))
        and '@' not in file
    ]
    if units:
        subprocess.run(
            ['systemctl', 'disable', '--quiet', *units], capture_output=True
        )


@contextlib.contextmanager
def _no_service_starts() -> Iterator[None]:
    """A policy-rc.d of our own while packages are installed.

    The one that was there is moved aside and moved back, so that owner,
    mode and times stay; a run that was killed is put right by the next.
    """
    _restore_policy()
    handlers = {
        number: signal.signal(number, _interrupt)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        if os.path.lexists(POLICY):
            POLICY.rename(SAVED_POLICY)
        else:
            ABSENT_POLICY.touch()
        POLICY.write_text('#!/bin/sh\nexit 101\n')
        POLICY.chmod(0o755)
        yield
    finally:
        _restore_policy()
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _restore_policy() -> None:
    if os.path.lexists(SAVED_POLICY):
        SAVED_POLICY.rename(POLICY)
    elif ABSENT_POLICY.exists():
        POLICY.unlink(missing_ok=True)
        ABSENT_POLICY.unlink()
