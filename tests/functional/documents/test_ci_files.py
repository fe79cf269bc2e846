# SPDX-License-Identifier: Apache-2.0
"""Do tox, Zuul and pre-commit name things that are there?"""

import configparser
import importlib.machinery
import importlib.util
import pathlib
import re
import tomllib
import types
from typing import Any

import yaml
from oslotest import base

from tests import places

THEIRS = {
    'openstack-tox',
    'openstack-tox-py311',
    'openstack-tox-py312',
    'openstack-tox-py313',
    'watcher-tempest-prometheus',
}
"""Jobs of other projects; nobody can look them up here."""
MADE = ('build/', '{')
"""In a path that a command makes, or that tox fills in."""
PROGRAMS = {'shellcheck': 'shellcheck', 'tools/verify-units': 'systemd'}
"""What pre-commit takes from the machine, and the package that has it."""


def tool() -> types.ModuleType:
    """tools/test, which has no suffix, as a module."""
    path = str(places.TOP / 'tools' / 'test')
    loader = importlib.machinery.SourceFileLoader('ci_tool', path)
    spec = importlib.util.spec_from_loader('ci_tool', loader)
    assert spec is not None
    found = importlib.util.module_from_spec(spec)
    loader.exec_module(found)
    return found


def pythons() -> list[str]:
    """The Pythons that the package says it is for."""
    text = (places.TOP / 'pyproject.toml').read_text()
    lines = tomllib.loads(text)['project']['classifiers']
    return re.findall(r'Python :: (3\.\d+)', '\n'.join(lines))


def environments() -> dict[str, list[str]]:
    """The commands of each environment of tox, by its name."""
    config = configparser.ConfigParser(interpolation=None)
    config.read(places.TOP / 'tox.ini')
    default = config['testenv']['commands'].splitlines()
    found = {f'py{one.replace(".", "")}': default for one in pythons()}
    for section in config.sections():
        kind, _, names = section.partition(':')
        if kind == 'testenv' and names:
            lines = config[section]['commands'].splitlines()
            for name in names.strip('{}').split(','):
                found[name] = [one.replace('{envname}', name) for one in lines]
    return found


def constraints() -> dict[str, str]:
    lines = (places.TOP / 'tools/constraints.txt').read_text().splitlines()
    pairs = [line.partition(' ')[0].partition('==') for line in lines]
    return {name: version for name, _, version in pairs}


class TestTox(base.BaseTestCase):
    def test_each_part_has_an_environment(self) -> None:
        for part in tool().PARTS:
            self.assertIn(part, environments())

    def test_parts(self) -> None:
        for name, lines in environments().items():
            for part in re.findall(r'tools/test (\S+)', '\n'.join(lines)):
                self.assertIn(part, tool().PARTS, name)

    def test_paths(self) -> None:
        for name, lines in environments().items():
            for word in ' '.join(lines).split():
                path = word.replace('{toxinidir}/', '')
                if '/' in path and not any(one in path for one in MADE):
                    self.assertTrue((places.TOP / path).exists(), (name, path))

    def test_what_runs_without_a_name(self) -> None:
        config = configparser.ConfigParser(interpolation=None)
        config.read(places.TOP / 'tox.ini')
        names = config['tox']['envlist'].split(',')
        self.assertLessEqual(set(names), set(environments()))


class TestLint(base.BaseTestCase):
    def test_programs_without_a_suffix(self) -> None:
        """ruff looks at them only if they are named."""
        text = (places.TOP / 'pyproject.toml').read_text()
        named = tomllib.loads(text)['tool']['ruff']['extend-include']
        found = {
            str(path.relative_to(places.TOP))
            for path in (places.TOP / 'tools').iterdir()
            if path.is_file() and not path.suffix and is_for(path, rb'python3')
        }
        self.assertEqual(found, set(named))


class TestPages(base.BaseTestCase):
    def test_tools(self) -> None:
        for name in ('CONTRIBUTING.rst', 'doc/source/releases.rst'):
            text = (places.TOP / name).read_text()
            found = re.findall(r'\btools/[\w.-]+', text)
            self.assertNotEqual([], found, name)
            for path in found:
                self.assertTrue((places.TOP / path).exists(), (name, path))


class TestZuul(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        found = yaml.safe_load((places.TOP / '.zuul.yaml').read_text())
        jobs = [one['job'] for one in found if 'job' in one]
        self.jobs = {one['name']: one for one in jobs}
        [self.project] = [one['project'] for one in found if 'project' in one]

    def pipeline(self, name: str) -> dict[str, dict[str, Any]]:
        """Jobs of a pipeline, with what is said of them there."""
        found: dict[str, dict[str, Any]] = {}
        for one in self.project[name]['jobs']:
            found |= one if isinstance(one, dict) else {one: {}}
        return found

    def test_parents(self) -> None:
        for name, job in self.jobs.items():
            self.assertIn(job['parent'], THEIRS | set(self.jobs), name)

    def test_environments(self) -> None:
        for name, job in self.jobs.items():
            wanted = job.get('vars', {}).get('tox_envlist')
            if wanted:
                self.assertIn(wanted, environments(), name)

    def test_each_job_runs(self) -> None:
        concrete = {n for n, one in self.jobs.items() if 'abstract' not in one}
        check = self.pipeline('check')
        self.assertLessEqual(set(check), THEIRS | concrete)
        self.assertLessEqual(concrete, set(check))

    def test_what_votes_holds_at_the_gate(self) -> None:
        voting = {
            name
            for name, told in self.pipeline('check').items()
            if told.get('voting', True)
        }
        self.assertEqual(voting, set(self.pipeline('gate')))

    def test_each_python(self) -> None:
        wanted = {
            f'openstack-tox-py{one.replace(".", "")}' for one in pythons()
        }
        found = {
            one
            for one in self.pipeline('check')
            if one.startswith('openstack-tox-py')
        }
        self.assertEqual(wanted, found)

    def test_each_cohort(self) -> None:
        found = {
            name: job['vars']['tox_extra_args']
            for name, job in self.jobs.items()
            if job['parent'] == 'kronos-cohort'
        }
        wanted = {
            f'kronos-cohort-{name}': f'-- --cohort {name}'
            for name in tool().cohorts.COHORTS
        }
        self.assertEqual(wanted, found)

    def test_pythons_of_the_other_jobs(self) -> None:
        for name, job in self.jobs.items():
            version = job.get('vars', {}).get('python_version', pythons()[0])
            self.assertIn(version, pythons(), name)

    def test_names_in_devstack(self) -> None:
        settings = (places.TOP / 'devstack/settings').read_text()
        told = self.jobs['kronos-tempest']['vars']
        [plugin] = told['devstack_plugins']
        self.assertIn(f'define_plugin {plugin}\n', settings)
        for service in told['devstack_services']:
            self.assertRegex(settings, rf'enable_service .*\b{service}(\s|$)')


class TestPreCommit(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        text = (places.TOP / '.pre-commit-config.yaml').read_text()
        [repo] = yaml.safe_load(text)['repos']
        self.hooks = {one['id']: one for one in repo['hooks']}

    def matching(self, pattern: str) -> set[str]:
        """Files of the repository that a hook looks at."""
        found = set()
        for top in (
            '.ci',
            'deploy',
            'devstack',
            'etc',
            'kronos',
            'tests',
            'tools',
        ):
            for path in (places.TOP / top).rglob('*'):
                name = str(path.relative_to(places.TOP))
                if path.is_file() and re.search(pattern, name):
                    found.add(name)
        return found

    def test_versions(self) -> None:
        known = constraints()
        for name, hook in self.hooks.items():
            for one in hook.get('additional_dependencies', []):
                package, _, version = one.partition('==')
                wanted = known.get(package, version)
                self.assertEqual(wanted, version, name)

    def test_programs(self) -> None:
        """Of the machine, they are told to whoever prepares one."""
        packages = (places.TOP / 'bindep.txt').read_text()
        for name, hook in self.hooks.items():
            if hook['language'] == 'system':
                program = hook['entry'].split()[0]
                self.assertIn(program, PROGRAMS, name)
                self.assertIn(f'\n{PROGRAMS[program]} [', packages)
                path = places.TOP / program
                self.assertTrue('/' not in program or path.exists(), path)

    def test_same_files_as_lint(self) -> None:
        for hook, names in (
            ('shellcheck', tool().SCRIPTS),
            ('bashate', tool().SCRIPTS),
            ('units', tool().UNITS),
        ):
            with self.subTest(hook):
                found = self.matching(self.hooks[hook]['files'])
                self.assertEqual(set(names), found)

    def test_nothing_is_left_out(self) -> None:
        """A file that is for a shell says so in its first line."""
        scripts = {
            str(path.relative_to(places.TOP))
            for top in ('.ci', 'devstack', 'tests', 'tools', 'deploy', 'etc')
            for path in (places.TOP / top).rglob('*')
            if path.is_file() and is_for(path, rb'(ba|da)?sh')
        }
        self.assertLessEqual(scripts, set(tool().SCRIPTS))


def is_for(path: pathlib.Path, program: bytes) -> bool:
    """Whether the first line of a file names a program that runs it."""
    with path.open('rb') as file:
        first = file.readline(80)
    return re.match(rb'#!.*\b%b\b' % program, first) is not None
