# SPDX-License-Identifier: Apache-2.0
"""Does an installed wheel have all that a page is made of?"""

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import fixtures
from oslotest import base

TOP = pathlib.Path(__file__).resolve().parents[3]
FILES = ('pyproject.toml', 'setup.cfg', 'setup.py', 'README.rst', 'LICENSE')
RENDER = """
import sys
sys.path.insert(0, sys.argv[1])
from kronos.reports.html import page
assert page.__file__.startswith(sys.argv[1]), page.__file__
print(page.render({'format_version': 1, 'scopes': []}, 'From a wheel'))
"""


class TestWheel(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def python(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**os.environ, 'PBR_VERSION': '0.0.1'},
            capture_output=True,
            text=True,
        )
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def test_renders(self) -> None:
        """Built from a copy without git, as from a release."""
        for name in FILES:
            shutil.copy(TOP / name, self.folder)
        ignored = shutil.ignore_patterns('__pycache__')
        for name in ('kronos', 'etc'):
            shutil.copytree(TOP / name, self.folder / name, ignore=ignored)
        self.python('-c', 'import pbr.build; pbr.build.build_wheel("made")')
        (wheel,) = (self.folder / 'made').glob('*.whl')
        installed = self.folder / 'installed'
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(installed)
        samples = installed / 'kronos_watcher-0.0.1.data' / 'data' / 'etc'
        for path in (TOP / 'etc' / 'kronos').glob('*.yaml'):
            copy = samples / 'kronos' / path.name
            self.assertEqual(path.read_text(), copy.read_text())
        page = self.python('-I', '-c', RENDER, str(installed))
        self.assertIn('<title>From a wheel</title>', page)
        self.assertIn('prefers-color-scheme', page)
