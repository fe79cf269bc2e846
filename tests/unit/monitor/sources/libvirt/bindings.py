# SPDX-License-Identifier: Apache-2.0
"""Tests that need libvirt's binding, be it the distribution's.

They use libvirt's own driver for tests, in a process of their own. Where
there is no binding for this Python, they are skipped.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
from typing import ClassVar

from oslotest import base

from tests import places

DISTRIBUTION = pathlib.Path('/usr/lib/python3/dist-packages')


class BindingTestCase(base.BaseTestCase):
    """Runs the tests of one class of ``driver_alone``."""

    CLASS: ClassVar[str] = ''

    def run_alone(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for file in DISTRIBUTION.glob('libvirt*'):
            if file.suffix in ('.py', '.so'):
                (pathlib.Path(folder.name) / file.name).symlink_to(file)
        env = {**os.environ}
        known = env.get('PYTHONPATH')
        env['PYTHONPATH'] = os.pathsep.join(
            [*([known] if known else []), folder.name]
        )
        loads = subprocess.run(
            [sys.executable, '-c', 'import libvirt'],
            env=env,
            capture_output=True,
            text=True,
        )
        if loads.returncode:
            told = loads.stderr.strip().splitlines()[-1]
            self.skipTest(f'no binding of libvirt for this Python: {told}')
        module = 'tests.unit.monitor.sources.libvirt.driver_alone'
        done = subprocess.run(
            [sys.executable, '-m', 'testtools.run', f'{module}.{self.CLASS}'],
            cwd=places.TOP,
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.assertEqual(0, done.returncode, done.stdout[-20_000:])
        self.assertIn('OK', done.stdout[-2000:])
