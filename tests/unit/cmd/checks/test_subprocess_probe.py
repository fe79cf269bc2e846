# SPDX-License-Identifier: Apache-2.0
"""Whose code runs when kronos-test-config looks into other processes?"""

import os
import pathlib

import fixtures
from oslotest import base

from kronos.cmd.checks import subprocess_probe


class TestInspect(base.BaseTestCase):
    def test_no_code_of_the_current_directory(self) -> None:
        """It may be one that anybody can write to."""
        here = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(here)
        for name in ('json', 'kronos'):
            (here / name).mkdir()
            (here / name / '__init__.py').write_text(
                f'open({str(here / "ran")!r}, "w").close()'
            )
        result = subprocess_probe.inspect('json.tool', [], {'a': 1})
        self.assertEqual({'a': 1}, result)
        self.assertFalse((here / 'ran').exists())
