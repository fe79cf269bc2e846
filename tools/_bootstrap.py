# SPDX-License-Identifier: Apache-2.0
"""How does a bare machine get what the lab, the tests and linters need?

Standard library only: this runs before anything is installed.
"""

import ast
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

TOOLS = pathlib.Path(__file__).resolve().parent
ROOT = TOOLS.parent
LAB = ROOT / '.lab'
VENV = LAB / 'venv'
REQUIREMENTS = TOOLS / 'requirements.txt'
CONSTRAINTS = TOOLS / 'constraints.txt'
STAMP = 'kronos-stamp.json'
POLICY = pathlib.Path('/usr/sbin/policy-rc.d')
SAVED_POLICY = POLICY.with_name('policy-rc.d.before-kronos-lab')
ABSENT_POLICY = POLICY.with_name('policy-rc.d.absent-before-kronos-lab')

DEBIAN = {
    'mariadb-server-core': '/usr/sbin/mariadbd',
    'mariadb-client-core': '/usr/bin/my_print_defaults',
    'rabbitmq-server': '/usr/lib/rabbitmq/bin/rabbitmq-server',
    'prometheus': '/usr/bin/prometheus',
}
"""Package to a file of it. MariaDB's core packages bring no service."""


class BootstrapError(Exception):
    """Something is missing that cannot be installed; the text says what."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """Say what is done and how long it took."""
    say(f'{what} ...')
    begin = time.monotonic()
    yield
    say(f'{what}: {time.monotonic() - begin:.1f} s')


def ensure(packages: bool = True) -> pathlib.Path:
    """Install whatever is missing; quick when nothing is.

    :param packages: whether the servers from Debian are needed too
    :returns: path of the virtual environment
    :raises BootstrapError: what is missing may not or could not be installed
    """
    LAB.mkdir(exist_ok=True)
    with (LAB / 'bootstrap.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if sys.version_info < (3, 11):  # noqa: UP036
            raise BootstrapError(
                'Python 3.11 or later is needed; this is '
                f'{sys.executable}, {sys.version.split()[0]}.'
            )
        _debian(_missing_packages(packages))
        return ensure_venv(sys.executable, VENV.name)


def _missing_packages(servers: bool) -> list[str]:
    wanted = DEBIAN if servers else {}
    missing = [name for name, file in wanted.items() if not _there(file)]
    if not (VENV / 'bin/python').exists() and not _can_make_venv():
        version = '.'.join(map(str, sys.version_info[:2]))
        missing.append(f'python{version}-venv')
    return missing


def _there(file: str) -> bool:
    return os.path.exists(file) or bool(shutil.which(os.path.basename(file)))


def _can_make_venv() -> bool:
    probe = [sys.executable, '-c', 'import venv, ensurepip']
    return subprocess.run(probe, capture_output=True).returncode == 0


def _debian(names: list[str]) -> None:
    if not names:
        return
    command = f'apt-get install --no-install-recommends {" ".join(names)}'
    if os.geteuid() != 0 or not shutil.which('apt-get'):
        why = 'this is not root' if os.geteuid() else 'there is no apt-get'
        raise BootstrapError(
            f'These Debian packages are missing: {", ".join(names)}. '
            f'They cannot be installed from here ({why}). '
            f'Install them as root and try again: {command}'
        )
    before = _installed()
    what = f'installing {", ".join(names)} from Debian'
    with step(what), _no_service_starts():
        _apt('update', check=False)
        _apt('install', '-y', '--no-install-recommends', *names)
        _keep_disabled(_installed() - before)


def _apt(*arguments: str, check: bool = True) -> None:
    environ = dict(
        os.environ, DEBIAN_FRONTEND='noninteractive', LC_ALL='C.UTF-8'
    )
    log = LAB / 'apt.log'
    with log.open('ab') as output:
        code = _unbroken(
            subprocess.Popen(
                ['apt-get', '-q', *arguments],
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        )
    if check and code:
        tail = log.read_text(errors='replace').splitlines()[-8:]
        raise BootstrapError(
            f'apt-get {arguments[0]} failed; all of it is in {log}. '
            'The end:\n  ' + '\n  '.join(tail)
        )


def _unbroken(apt: 'subprocess.Popen[bytes]') -> int:
    """Wait for apt-get, also when interrupted: dpkg must end its step."""
    try:
        return apt.wait()
    except KeyboardInterrupt:
        say('interrupted; waiting for apt-get to end its step')
        apt.send_signal(signal.SIGINT)
        apt.wait()
        raise


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
        for number in (signal.SIGTERM, signal.SIGHUP)
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


def ensure_venv(python: str, name: str) -> pathlib.Path:
    """A virtual environment like the lab's, of another Python.

    :param python: path of the interpreter
    :param name: of its folder, below the lab's
    """
    venv = LAB / name
    wanted = {
        'requirements': _digest(REQUIREMENTS, CONSTRAINTS),
        'project': _digest(ROOT / 'pyproject.toml', ROOT / 'setup.cfg'),
        'root': str(ROOT),
    }
    have = _stamp(venv)
    if have == wanted:
        return venv
    (venv / STAMP).unlink(missing_ok=True)
    if have.get('requirements') != wanted['requirements']:
        _make_venv(python, venv)
        with step(f'installing Python packages into {venv}'):
            _uv(venv, '-r', str(REQUIREMENTS), '-c', str(CONSTRAINTS))
    with step('installing Kronos itself, editable'):
        _uv(venv, '-c', str(CONSTRAINTS), '-e', str(ROOT))
    (venv / STAMP).write_text(json.dumps(wanted))
    return venv


def _digest(*files: pathlib.Path) -> str:
    content = b'\0'.join(file.read_bytes() for file in files)
    return hashlib.sha256(content).hexdigest()


def _stamp(venv: pathlib.Path) -> dict[str, str]:
    """What the environment holds; empty if it is unusable."""
    try:
        if not (venv / 'bin/python').exists():  # its interpreter is gone
            return {}
        return dict(json.loads((venv / STAMP).read_text()))
    except (OSError, ValueError):
        return {}


def _make_venv(python: str, venv: pathlib.Path) -> None:
    with step(f'making the virtual environment {venv}'):
        _run([python, '-m', 'venv', '--clear', str(venv)])
        pip = [str(venv / 'bin/python'), '-m', 'pip', 'install', '-q']
        _run([*pip, '-c', str(CONSTRAINTS), 'uv'])


def _uv(venv: pathlib.Path, *what: str) -> None:
    python = str(venv / 'bin/python')
    environ = {**_uv_settings(python), **os.environ}
    if not _git_knows():
        environ.setdefault('PBR_VERSION', '0.0.1.dev0')
    _run(
        [
            str(venv / 'bin/uv'),
            'pip',
            'install',
            '-q',
            '--python',
            python,
            '--build-constraints',
            str(CONSTRAINTS),
            *what,
        ],
        environ,
    )


def _git_knows() -> bool:
    """Whether git can tell the version: installed, and a clone of ours."""
    git = shutil.which('git')
    return (
        bool(git)
        and not subprocess.run(
            [git, '-C', str(ROOT), 'rev-parse', 'HEAD'], capture_output=True
        ).returncode
    )


def _uv_settings(python: str) -> dict[str, str]:
    """pip's configuration of this machine as uv's: uv does not read it."""
    names = {
        'index-url': 'UV_DEFAULT_INDEX',
        'extra-index-url': 'UV_INDEX',
        'find-links': 'UV_FIND_LINKS',
        'trusted-host': 'UV_INSECURE_HOST',
        'timeout': 'UV_HTTP_TIMEOUT',
        'default-timeout': 'UV_HTTP_TIMEOUT',
        'cert': 'SSL_CERT_FILE',
        'proxy': 'HTTPS_PROXY',
    }
    listing = subprocess.run(
        [python, '-m', 'pip', 'config', 'list'],
        capture_output=True,
        text=True,
    ).stdout
    settings: dict[str, str] = {}
    for line in listing.splitlines():
        key, equals, value = line.partition('=')
        name = names.get(key.rpartition('.')[2])
        if equals and name:
            text = ' '.join(str(ast.literal_eval(value)).split())
            comma = name == 'UV_FIND_LINKS'
            settings[name] = text.replace(' ', ',') if comma else text
    if 'UV_INDEX' in settings:  # like pip: the best of all indexes
        settings['UV_INDEX_STRATEGY'] = 'unsafe-best-match'
    return settings


def _run(command: list[str], environ: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, env=environ, capture_output=True, text=True)
    if done.returncode:
        tail = (done.stdout + done.stderr).strip().splitlines()[-20:]
        raise BootstrapError(
            f'{" ".join(command)} failed:\n  ' + '\n  '.join(tail)
        )


def main(packages: bool = True) -> pathlib.Path:
    """:func:`ensure` for a command: a message and exit 2 if it cannot."""
    try:
        return ensure(packages)
    except BootstrapError as error:
        say(str(error))
        sys.exit(2)


if __name__ == '__main__':
    main(packages='--no-packages' not in sys.argv)
