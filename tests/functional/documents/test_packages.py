# SPDX-License-Identifier: Apache-2.0
"""A wheel and a source distribution hold what they should, and work alone."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from typing import ClassVar

import fixtures
from oslotest import base

from tests import built, documented, places
from tests.functional.documents import environments

PROJECT = tomllib.loads((places.TOP / 'pyproject.toml').read_text())['project']
MADE = 'etc/kronos/kronos.conf.sample'
PYTHONS = [
    sys.executable,
    *filter(None, os.environ.get('KRONOS_PYTHONS', '').split(os.pathsep)),
]
"""The wheel is installed with each of them."""
GENERATOR = 'kronos-config-generator.conf'
BASH = 'share/bash-completion/completions/{}'
ZSH = 'share/zsh/site-functions/_{}'
OF_COMMANDS = ('share/man/man1/{}.1', BASH, ZSH)
"""What each command has besides."""
COMPLETE = """
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMPREPLY=()
"_shtab_$(echo "$1" | tr - _)" "$1" "${COMP_WORDS[COMP_CWORD]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""
"""What bash does at a tabulator."""
LINT = ('mandoc', '-T', 'lint', '-W', 'error')
SHOW = ('man', '-l') if shutil.which('man') else ('mandoc', '-T', 'utf8')
FIND = """
import importlib.util
import sys

print(*map(importlib.util.find_spec, sys.argv[1:]))
"""


def installed() -> dict[str, pathlib.Path | None]:
    """Where a file is to lie, and what it is a copy of; None: it is made."""
    found: dict[str, pathlib.Path | None] = {
        place.format(name): None
        for name in PROJECT['scripts']
        for place in OF_COMMANDS
    }
    found[MADE] = None
    for folder, target in (('etc/kronos', 'etc'), ('deploy', 'share')):
        top = places.TOP / folder
        for path in top.rglob('*'):
            name = str(path.relative_to(top))
            if path.is_file() and not path.name.endswith('.sample'):
                found[f'{target}/kronos/{name}'] = path
    return found


def content(wheel: pathlib.Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@functools.cache
def told(*command: str) -> str:
    """What a program of the machine prints and complains of."""
    done = subprocess.run(
        command,
        env={**os.environ, 'MANWIDTH': '200', 'LC_ALL': 'C.UTF-8'},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise AssertionError(done.stdout)
    return done.stdout


class TestDistributions(base.BaseTestCase):
    """What is in them."""

    def test_wheel(self) -> None:
        found = content(built.distributions().wheel)
        own = f'kronos_watcher-{built.VERSION}'
        self.assertEqual(
            {'kronos', f'{own}.data', f'{own}.dist-info'},
            {name.partition('/')[0] for name in found},
        )
        self.assertIn('kronos/py.typed', found)
        data = f'{own}.data/data/'
        wanted = installed()
        self.assertEqual(
            set(wanted),
            {name[len(data) :] for name in found if name.startswith(data)},
        )
        for name, path in wanted.items():
            if path is not None:
                self.assertEqual(path.read_bytes(), found[data + name], name)

    def test_source(self) -> None:
        with tarfile.open(built.distributions().source) as archive:
            names = archive.getnames()
        top = f'kronos_watcher-{built.VERSION}'
        found = {name.partition('/')[2].partition('/')[0] for name in names}
        for kept in 'kronos', 'etc', 'deploy', 'devstack', 'doc', 'PKG-INFO':
            self.assertIn(kept, found)
        for left_out in 'tests', 'tools', '.ci', '.zuul.yaml', 'tox.ini':
            self.assertNotIn(left_out, found)
        for page in PROJECT['scripts']:
            for made in (
                f'man/{page}.1',
                f'completions/bash/{page}',
                f'completions/zsh/_{page}',
            ):
                self.assertIn(f'{top}/doc/{made}', names)
        self.assertIn(f'{top}/{MADE}', names)

    def test_a_wheel_of_the_clone_is_the_same(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        both = built.distributions()
        made = built.build(both.clone, 'wheel', folder / 'made')
        self.assertEqual(both.wheel.name, made.name)
        expected, found = content(both.wheel), content(made)
        self.assertEqual(set(expected), set(found))
        other = [name for name in found if found[name] != expected[name]]
        self.assertEqual([], other)

    def test_units_are_of_commands(self) -> None:
        """Of processes of their own: no other program has a unit of ours."""
        units = sorted((places.TOP / 'deploy').rglob('*.service'))
        self.assertNotEqual([], units)
        for unit in units:
            (program,) = re.findall(r'(?m)^ExecStart=(\S+)', unit.read_text())
            self.assertIn(pathlib.Path(program).name, PROJECT['scripts'])
            self.assertEqual(unit.stem, pathlib.Path(program).name)


class TestInstalled(base.BaseTestCase):
    """The wheel in new environments, without any extra."""

    venvs: ClassVar[list[environments.Environment]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        wheel = str(built.distributions().wheel)
        cls.venvs = []
        for python in PYTHONS:
            place = tempfile.TemporaryDirectory(prefix='wheel-')
            cls.addClassCleanup(place.cleanup)
            path = pathlib.Path(place.name)
            cls.venvs.append(environments.Environment(path, python))
            cls.venvs[-1].install(wheel)

    def test_the_core_alone(self) -> None:
        """What the README promises, with neither Watcher nor Nova."""
        words = [command for _, command in documented.commands()]
        replay = words[words.index('pip install .') + 1].split()
        for venv in self.venvs:
            where = 'import kronos; print(kronos.__file__)'
            self.assertIn(str(venv.path), venv.run('python', '-c', where))
            absent = ('watcher', 'nova', 'openstackclient', 'libvirt')
            self.assertEqual(
                ['None'] * 4, venv.run('python', '-c', FIND, *absent).split()
            )
            self.assertIn('20 migrations', venv.run(*replay))
            venv.run(*replay, '--html', 'plan.html')
            page = (venv.folder / 'plan.html').read_text()
            self.assertIn('</html>', page)
            told = venv.run('kronos-explain', *replay[1:], '--host', 'cmp01')
            self.assertIn('cmp01', told)
            version = venv.run(replay[0], '--version')
            self.assertEqual(f'{replay[0]} {built.VERSION}\n', version)

    def test_samples(self) -> None:
        for venv in self.venvs:
            for name in installed():
                self.assertTrue((venv.path / name).is_file(), name)

    def test_options(self) -> None:
        """The generator makes the sample, and the validator knows it all."""
        for venv in self.venvs:
            sample = venv.path / MADE
            venv.run(
                'oslo-config-generator',
                *('--config-file', str(sample.with_name(GENERATOR))),
                *('--output-file', 'kronos.conf'),
            )
            made = venv.folder / 'kronos.conf'
            self.assertEqual(sample.read_text(), made.read_text())
            made.write_text(re.sub('(?m)^#(?=[a-z])', '', made.read_text()))
            packages = venv.path / 'share' / 'kronos' / 'packages'
            for path in made, packages / 'kronos.conf':
                venv.run(
                    'oslo-config-validator',
                    *('--namespace', 'kronos'),
                    *('--namespace', 'kronos.credentials'),
                    *('--namespace', 'kronos.monitor'),
                    *('--input-file', str(path)),
                )

    def test_manuals(self) -> None:
        """Each says all that a command's help does."""
        for venv in self.venvs:
            for name in PROJECT['scripts']:
                path = venv.path / 'share' / 'man' / 'man1' / f'{name}.1'
                self.assertEqual('', told(*LINT, str(path)))
                page = told(*SHOW, str(path))
                usage = venv.run(name, '--help')
                # Pages do not say that --help shows help.
                for option in {*re.findall(r'--[a-z][a-z-]*', usage)} - {
                    '--help'
                }:
                    self.assertIn(option, page)
                self.assertIn(f'{name} - ', page)

    def test_completions_of_bash(self) -> None:
        venv = self.venvs[0]
        work = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name in ('recording', 'other'):
            (work / name).mkdir()
        (work / 'policies.yaml').touch()

        def offered(*words: str) -> set[str]:
            script = str(venv.path / BASH.format(words[0]))
            done = subprocess.run(
                ['bash', '--norc', '-c', COMPLETE, 'bash', script, *words],
                cwd=work,
                capture_output=True,
                text=True,
                check=True,
            )
            return set(done.stdout.split())

        for name in PROJECT['scripts']:
            usage = venv.run(name, '--help')
            found = offered(name, '--')
            self.assertLessEqual({'--help', '--version'}, found)
            for option in found:
                self.assertIn(option, usage)
        self.assertEqual(
            {'csv', 'json', 'table', 'value', 'yaml'},
            offered('kronos-replay', '--format', ''),
        )
        self.assertEqual(
            {'spread'}, offered('kronos-explain', 'recording', '--mode', 's')
        )
        self.assertEqual({'recording'}, offered('kronos-replay', 'rec'))
        self.assertEqual({'recording', 'other'}, offered('kronos-record', ''))
        self.assertEqual(
            {'policies.yaml'}, offered('kronos-replay', '--policies', 'pol')
        )

    def test_completions_of_zsh(self) -> None:
        for name in PROJECT['scripts']:
            path = self.venvs[0].path / ZSH.format(name)
            text = path.read_text()
            self.assertTrue(text.startswith(f'#compdef {name}\n'))
            for option in re.findall(
                r'--[a-z][a-z-]*', self.venvs[0].run(name, '--help')
            ):
                self.assertIn(option, text)
            if shutil.which('zsh'):
                told('zsh', '-n', str(path))

    def test_nothing_is_left(self) -> None:
        """Nothing but empty directories, which pip does not remove."""
        wheel = str(built.distributions().wheel)
        for python in PYTHONS:
            folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
            venv = environments.Environment(folder, python)
            before = venv.files()
            venv.pip('install', '--no-deps', '--no-compile', wheel)
            # It is compiled, as it is by being used.
            venv.run('python', '-c', 'import kronos.cmd.scripts')
            self.assertLess(len(before) + 500, len(venv.files()))
            venv.pip('uninstall', '--yes', 'kronos-watcher')
            self.assertEqual(set(), venv.files() - before)
