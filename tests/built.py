# SPDX-License-Identifier: Apache-2.0
"""A source distribution and a wheel of what is here, for all that want one.

They are built in a copy, as a release is: from a tag, and the wheel from the
source distribution. They are kept until a file of the source changes.
"""

import fcntl
import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass

from tests import places

VERSION = '9.9.9'
"""The tag of the copy."""
PLACE = places.TOP / '.lab' / 'built'
BUILD = """
import sys
sys.path.insert(0, 'backend')
import kronos_build
print(getattr(kronos_build, f'build_{sys.argv[1]}')(sys.argv[2]))
"""
"""What pip does, in an environment that has all that is needed."""
NOT_NEEDED = ('oslo_messaging',)
"""Dependencies that are not there when pip builds."""
SOMEBODY = ('-c', 'user.name=somebody', '-c', 'user.email=some@example.org')


@dataclass
class Built:
    """Paths of what was built, and of the copy it was built in."""

    clone: pathlib.Path
    source: pathlib.Path
    wheel: pathlib.Path


@functools.cache
def distributions() -> Built:
    """Build both, unless another process has."""
    names = _names()
    wanted = PLACE / _digest(names)
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / 'lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (wanted / 'wheel').exists():
            for older in PLACE.glob('*/'):
                shutil.rmtree(older)
            _build(names, wanted)
    (source,) = wanted.glob('source/*.tar.gz')
    (wheel,) = wanted.glob('wheel/*.whl')
    return Built(wanted / 'clone', source, wheel)


def _names() -> list[str]:
    """The files of a clone that has all changes committed."""
    command = ['git', 'ls-files', '-z', '--cached', '--others']
    listing = subprocess.run(
        [*command, '--exclude-standard'],
        cwd=places.TOP,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = sorted({*filter(None, listing.split('\0'))})
    return [name for name in names if (places.TOP / name).is_file()]


def _digest(names: list[str]) -> str:
    """Of all files that a distribution may hold."""
    digest = hashlib.sha256()
    for name in names:
        if not name.startswith(('tests/', 'tools/')):
            content = (places.TOP / name).read_bytes()
            digest.update(f'{name}\0{len(content)}\0'.encode() + content)
    return digest.hexdigest()[:16]


def _build(names: list[str], folder: pathlib.Path) -> None:
    clone = folder / 'clone'
    for name in names:
        copy = clone / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(places.TOP / name, copy)
    for command in (
        ['init', '-q'],
        ['add', '--all', '--force'],
        [*SOMEBODY, 'commit', '-q', '--no-verify', '-m', 'All of it'],
        [*SOMEBODY, 'tag', '-a', '-m', 'A release', VERSION],
    ):
        run(['git', *command], clone)
    absent = folder / 'absent'
    absent.mkdir()
    for name in NOT_NEEDED:
        absent.joinpath(f'{name}.py').write_text('raise ModuleNotFoundError\n')
    source = build(clone, 'sdist', folder / 'source')
    with tarfile.open(source) as archive:
        archive.extractall(folder / 'unpacked', filter='data')
    (unpacked,) = (folder / 'unpacked').iterdir()
    made = build(unpacked, 'wheel', folder / 'incomplete')
    # Its folder says that all is there.
    made.parent.rename(folder / 'wheel')


def build(
    source: pathlib.Path, kind: str, target: pathlib.Path
) -> pathlib.Path:
    """Build a distribution.

    :param source: a clone, or a source distribution that is unpacked
    :param kind: ``sdist`` or ``wheel``
    :param target: a folder, which is made
    """
    target.mkdir()
    told = run([sys.executable, '-c', BUILD, kind, str(target)], source)
    return target / told.splitlines()[-1]


def run(command: list[str], where: pathlib.Path) -> str:
    """What a command prints, where no environment speaks of git or pbr."""
    done = subprocess.run(
        command,
        cwd=where,
        env={
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(('GIT_', 'PBR_'))
            },
            # What is unpacked below a clone is not of that clone.
            'GIT_CEILING_DIRECTORIES': str(PLACE),
            'PYTHONPATH': str(where.with_name('absent')),
        },
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout
