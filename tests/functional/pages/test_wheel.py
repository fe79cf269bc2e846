# SPDX-License-Identifier: Apache-2.0
"""Does a wheel have all that a page is made of?"""

import pathlib
import subprocess
import sys
import zipfile

import fixtures
from oslotest import base

from tests import built

RENDER = """
import sys
sys.path.insert(0, sys.argv[1])
from kronos.reports.html import page
assert page.__file__.startswith(sys.argv[1]), page.__file__
print(page.render({'format_version': 1, 'scopes': []}, 'From a wheel'))
"""


class TestWheel(base.BaseTestCase):
    def test_renders(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        with zipfile.ZipFile(built.distributions().wheel) as archive:
            archive.extractall(folder)
        done = subprocess.run(
            [sys.executable, '-I', '-c', RENDER, str(folder)],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn('<title>From a wheel</title>', done.stdout)
        self.assertIn('prefers-color-scheme', done.stdout)
