# SPDX-License-Identifier: Apache-2.0
"""The installer of all that the lab, the tests and linters need.

Standard library only: this runs before anything is installed.
"""

import ast
import concurrent.futures
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Sequence

from labkit import cohorts, debian
from labkit.horizon import services as horizon_services
from labkit.masakari import services as masakari_services
from labkit.real import packages as real_packages
from labkit.telling import BootstrapError, say, step

TOOLS = pathlib.Path(__file__).resolve().parent
ROOT = TOOLS.parent
LAB = ROOT / '.lab'
VENV = LAB / 'venv'
REQUIREMENTS = TOOLS / 'requirements.txt'
CONSTRAINTS = TOOLS / 'constraints.txt'
STAMP = 'kronos-stamp.json'


def ensure(
    packages: bool = True,
    browser: bool = False,
    real: bool = False,
    masakari: bool = False,
    linters: bool = False,
    packagers: bool = False,
    horizon: bool = False,
    cohort: cohorts.Cohort | None = None,
) -> pathlib.Path:
    """Install whatever is missing; quick when nothing is.

    :param packages: whether the servers from Debian are needed too
    :param browser: whether a browser from Debian is needed too
    :param real: whether what real hosts need is needed too
    :param masakari: whether Masakari is needed too
    :param linters: whether linters from Debian are needed too
    :param packagers: whether what makes system packages is needed too
    :param horizon: whether Horizon is needed too
    :param cohort: whose environment is needed too
    :returns: path of the virtual environment: the cohort's, if there is one
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
        missing = _missing_packages(packages)
        if browser:
            missing += debian.missing_browser()
        if linters:
            missing += debian.missing_linters()
        if packagers:
            missing += debian.missing_packagers()
        if real:
            missing += real_packages.missing()
        venv = _install(missing)
        if real:
            real_packages.ensure()
        if masakari:
            packages = masakari_services.PACKAGES
            _ensure_beside(venv, 'Masakari', masakari_services.PLACE, packages)
        if horizon:
            _ensure_horizon(venv)
        if cohort and cohort.name:
            venv = ensure_cohort(sys.executable, cohort)
        return venv


def _install(packages: list[str]) -> pathlib.Path:
    """Debian packages and, meanwhile, the virtual environment."""
    debian.check(packages)
    if any(name.endswith('-venv') for name in packages):
        debian.install(packages, LAB / 'apt.log')
        packages = []
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        made = pool.submit(ensure_venv, sys.executable, VENV.name)
        # In this thread: signals, for which dpkg waits, come to no other.
        debian.install(packages, LAB / 'apt.log')
        return made.result()


def _missing_packages(servers: bool) -> list[str]:
    missing = debian.missing_servers() if servers else []
    if not (VENV / 'bin/python').exists() and not _can_make_venv():
        version = '.'.join(map(str, sys.version_info[:2]))
        missing.append(f'python{version}-venv')
    return missing


def _can_make_venv() -> bool:
    probe = [sys.executable, '-c', 'import venv, ensurepip']
    return subprocess.run(probe, capture_output=True).returncode == 0


def ensure_venv(python: str, name: str) -> pathlib.Path:
    """A virtual environment like the lab's, of another Python.

    :param python: path of the interpreter
    :param name: of its folder, below the lab's
    """
    return _ensure_venv(python, name, REQUIREMENTS, CONSTRAINTS)


def ensure_cohort(python: str, cohort: cohorts.Cohort) -> pathlib.Path:
    """The virtual environment of a cohort; the lab's is there."""
    return _ensure_venv(
        python, cohort.environment, cohorts.REQUIREMENTS, cohort.constraints
    )


def _ensure_venv(
    python: str,
    name: str,
    requirements: pathlib.Path,
    constraints: pathlib.Path,
) -> pathlib.Path:
    venv = LAB / name
    wanted = {
        'requirements': _digest(
            requirements, cohorts.REQUIREMENTS, constraints
        ),
        'project': _digest(ROOT / 'pyproject.toml', ROOT / 'setup.cfg'),
        'root': str(ROOT),
    }
    have = _stamp(venv)
    if have == wanted:
        return venv
    (venv / STAMP).unlink(missing_ok=True)
    versions = ('-c', constraints, '--build-constraints', constraints)
    if have.get('requirements') != wanted['requirements']:
        _make_venv(python, venv)
        with step(f'installing Python packages into {venv}'):
            _uv(venv, *versions, '-r', requirements)
    with step(f'installing Kronos itself into {venv}, editable'):
        _uv(venv, *versions, '-e', ROOT)
    (venv / STAMP).write_text(json.dumps(wanted))
    return venv


def _ensure_horizon(venv: pathlib.Path) -> None:
    lines = horizon_services.PACKAGES.read_text().splitlines()
    packages = [line for line in lines if not line.startswith('#')]
    _ensure_beside(venv, 'Horizon', horizon_services.PLACE, packages)
    horizon_services.enable_pages()


def _ensure_beside(
    venv: pathlib.Path,
    name: str,
    place: pathlib.Path,
    packages: Sequence[str],
) -> None:
    """Beside the virtual environment, which has what they stand on."""
    stamp = place / STAMP
    wanted = ' '.join(packages)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    shutil.rmtree(place, ignore_errors=True)
    versions = ('--build-constraints', CONSTRAINTS)
    with step(f'installing {name}'):
        _uv(venv, *versions, '--no-deps', '--target', place, *packages)
    stamp.write_text(wanted)


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
        if venv != VENV:
            make = ['venv', '-q', '--clear', '--python', python]
            _run([str(VENV / 'bin/uv'), *make, str(venv)])
            return
        _run([python, '-m', 'venv', '--clear', str(venv)])
        pip = [str(venv / 'bin/python'), '-m', 'pip', 'install', '-q']
        _run([*pip, '-c', str(CONSTRAINTS), 'uv'])


def _uv(venv: pathlib.Path, *what: object) -> None:
    # A hundred processes of the lab import Nova and Watcher.
    options = ['-q', '--compile-bytecode', '--python', venv / 'bin/python']
    words = ['pip', 'install', *options, *what]
    _run([str(VENV / 'bin/uv'), *map(str, words)], uv_environ())


def uv_environ() -> dict[str, str]:
    """The environment of uv: the package index is this machine's."""
    environ = {**uv_settings(str(VENV / 'bin/python')), **os.environ}
    if not _git_knows():
        environ.setdefault('PBR_VERSION', '0.0.1.dev0')
    return environ


def _git_knows() -> bool:
    """Whether git can tell the version: installed, and a clone of ours."""
    git = shutil.which('git')
    if git is None:
        return False
    ask = [git, '-C', str(ROOT), 'rev-parse', 'HEAD']
    return subprocess.run(ask, capture_output=True).returncode == 0


def uv_settings(python: str) -> dict[str, str]:
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


def main(
    packages: bool = True,
    browser: bool = False,
    real: bool = False,
    masakari: bool = False,
    linters: bool = False,
    packagers: bool = False,
    horizon: bool = False,
    cohort: cohorts.Cohort | None = None,
) -> pathlib.Path:
    """:func:`ensure` for a command: a message and exit 2 if it cannot."""
    try:
        return ensure(
            packages,
            browser,
            real,
            masakari,
            linters,
            packagers,
            horizon,
            cohort,
        )
    except BootstrapError as error:
        say(str(error))
        sys.exit(2)


if __name__ == '__main__':
    main(packages='--no-packages' not in sys.argv)
