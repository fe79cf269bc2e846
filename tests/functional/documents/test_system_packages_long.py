# SPDX-License-Identifier: Apache-2.0
"""The recipes of ``deploy/packages`` make packages that work.

They are built and installed in folders that have Debian and nothing else.
"""

import email.utils
import pathlib
import re
import shutil
import tarfile
import tempfile
import tomllib

from oslotest import base

from tests import built, places
from tests.functional.documents import debian_root

PACKAGES = places.TOP / 'deploy' / 'packages'
PROJECT = tomllib.loads((places.TOP / 'pyproject.toml').read_text())['project']
RPM = ('python3-pip', 'python3-venv', 'rpm')
VENV = f'/venv/bin:{debian_root.PATH}'
"""Debian's own pip installs below /usr/local."""
CHANGELOG = """kronos-watcher ({version}) unstable; urgency=medium

  * A build.

 -- Nobody <nobody@example.org>  {date}
"""
UNITS = 'usr/lib/systemd/system'
INSTALLED = {
    'kronos-exporter': (f'{UNITS}/kronos-exporter.service',),
    'kronos-instance-monitor': (
        'usr/lib/ocf/resource.d/kronos/kronos-instance-monitor',
        f'{UNITS}/kronos-instance-monitor.service',
        'usr/lib/sysusers.d/kronos-instance-monitor.conf',
    ),
}
"""Files of the packages that hold services."""


def temporary_folder(case: type[base.BaseTestCase]) -> pathlib.Path:
    """A folder for the tests of a class."""
    place = tempfile.TemporaryDirectory(prefix='packages-')
    case.addClassCleanup(place.cleanup)
    return pathlib.Path(place.name)


def build_dependencies() -> list[str]:
    """The names of the packages that the recipe for Debian needs."""
    control = (PACKAGES / 'debian' / 'control').read_text()
    (field,) = re.findall(r'^Build-Depends:\n((?: .*\n)+)', control, re.M)
    names = [line.split()[0].rstrip(',') for line in field.splitlines()]
    return [re.sub('^debhelper-compat$', 'debhelper', name) for name in names]


MENDED = ('jinja2', 'requests')
"""Distributions have the fixes, for which there is a floor, in older ones."""


class TestDebian(base.BaseTestCase):
    """Built in one Debian, installed into another, which has nothing else."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.folder = temporary_folder(cls)
        builder = debian_root.Root(cls.folder / 'build', build_dependencies())
        with tarfile.open(built.distributions().source) as archive:
            archive.extractall(builder.path / 'src', filter='data')
        (source,) = (builder.path / 'src').iterdir()
        shutil.copytree(source / 'deploy/packages/debian', source / 'debian')
        (source / 'debian' / 'changelog').write_text(
            CHANGELOG.format(
                version=built.VERSION, date=email.utils.formatdate()
            )
        )
        # Every build is said to need a compiler, which nothing here uses.
        builder.run(
            f'cd /src/{source.name} && dpkg-buildpackage --build=binary '
            '--no-sign --no-check-builddeps'
        )
        cls.files = sorted((builder.path / 'src').glob('*.deb'))
        cls.root = debian_root.Root(
            cls.folder / 'root', [str(file) for file in cls.files]
        )
        for file in cls.files:
            (cls.root.path / file.name).unlink()

    def test_packages(self) -> None:
        names = *INSTALLED, 'python3-kronos-watcher'
        self.assertEqual(
            [f'{name}_{built.VERSION}_all.deb' for name in names],
            [file.name for file in self.files],
        )

    def test_lowest_versions(self) -> None:
        show = "dpkg-query --show --showformat '${Depends}' "
        depends = self.root.run(f'{show} python3-kronos-watcher')
        for requirement in PROJECT['dependencies']:
            name, _, floor = requirement.lower().partition('>=')
            package = f'python3-{"yaml" if name == "pyyaml" else name}'
            if name not in MENDED:
                package = f'{package} (>= {floor})'
            self.assertIn(package, depends.split(', '))

    def test_commands(self) -> None:
        shutil.copytree(places.EXAMPLES / 'uneven', self.folder / 'uneven')
        (self.folder / 'uneven').rename(self.root.path / 'srv' / 'uneven')
        plan = self.root.run('kronos-replay /srv/uneven')
        self.assertIn('20 migrations', plan)
        for name in PROJECT['scripts']:
            self.assertIn(built.VERSION, self.root.run(f'{name} --version'))
            page = f'usr/share/man/man1/{name}.1.gz'
            self.assertTrue((self.root.path / page).exists(), page)
            for path in (
                f'usr/share/bash-completion/completions/{name}',
                f'usr/share/zsh/vendor-completions/_{name}',
            ):
                self.assertTrue((self.root.path / path).exists(), path)
        options = self.root.run('oslo-config-generator --namespace kronos')
        self.assertIn('[kronos_prometheus]', options)

    def test_instance_monitor(self) -> None:
        self.assertIn('kronos-monitor', self.root.run('id kronos-monitor'))
        explain = 'kronos-instance-monitor --explain STOPPED_FAILED project=p'
        self.assertIn('crash', self.root.run(explain))

    def test_units(self) -> None:
        for package, paths in INSTALLED.items():
            files = self.root.run(f'dpkg-query --listfiles {package}')
            for path in paths:
                self.assertIn(f'/{path}\n', files)
                self.assertTrue((self.root.path / path).is_file(), path)

    def test_exporter(self) -> None:
        """It serves with what its package needs, and nothing else."""
        once = 'kronos-exporter --once --directory /srv'
        self.assertIn('kronos_exporter_files', self.root.run(once))


class TestRpm(base.BaseTestCase):
    """Built with Debian's rpmbuild, and not installed."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.builder = debian_root.Root(
            temporary_folder(cls) / 'build', [*build_dependencies(), *RPM]
        )
        sources = cls.builder.path / 'rpm' / 'SOURCES'
        sources.mkdir(parents=True)
        shutil.copy(built.distributions().source, sources)
        shutil.copy(PACKAGES / 'kronos-watcher.spec', sources)
        cls.builder.run(
            'python3 -m venv --without-pip --system-site-packages /venv'
        )
        # Packages have other names in Debian.
        cls.builder.run(
            "rpmbuild -bb --nodeps --define '_topdir /rpm' "
            f"--define 'kronos_version {built.VERSION}' "
            '/rpm/SOURCES/kronos-watcher.spec',
            VENV,
        )

    def query(self, words: str, package: str) -> str:
        return self.builder.run(f'rpm -qp {words} /rpm/RPMS/*/{package}-*.rpm')

    def test_files(self) -> None:
        files = self.query('--list', 'python3-kronos-watcher')
        for name in PROJECT['scripts']:
            self.assertIn(f'/usr/bin/{name}\n', files)
            self.assertIn(f'/usr/share/man/man1/{name}.1', files)
            self.assertIn(f'/bash-completion/completions/{name}\n', files)
            self.assertIn(f'/zsh/site-functions/_{name}\n', files)
        self.assertIn('/examples/policies.yaml\n', files)
        for package, paths in INSTALLED.items():
            files = self.query('--list', package)
            for path in paths:
                self.assertIn(f'/{path}\n', files)

    def test_lowest_versions(self) -> None:
        needed = self.query('--requires', 'python3-kronos-watcher')
        for requirement in PROJECT['dependencies']:
            name = requirement.partition('>=')[0].lower()
            package = f'dist({name}) >= '
            if name in MENDED:
                self.assertNotIn(package, needed)
                package = f'python3-{name}\n'
            self.assertIn(package, needed)
        self.assertNotIn('make', needed)
