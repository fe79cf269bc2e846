# SPDX-License-Identifier: Apache-2.0
"""The entry points load in a process that is no service of the cloud."""

import pathlib
import subprocess
import sys

from oslotest import base

LOAD = """
import importlib.metadata
from watcher import objects

found = importlib.metadata.distribution('kronos-watcher').entry_points
for one in found:
    one.load()
    assert not hasattr(objects, 'action_plan'), one
print('\\n'.join(f'{one.group} {one.name}' for one in found))
"""
"""Watcher's services register its objects before they load plugins; here it is
nobody. If one of ours did, the next would load for that reason alone."""


class TestEntryPoints(base.BaseTestCase):
    def run_here(self, *command: str) -> tuple[str, str]:
        """What it prints, and what it logs."""
        done = subprocess.run(
            [sys.executable, *command], capture_output=True, text=True
        )
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout, done.stderr

    def test_every_one_loads(self) -> None:
        told, _ = self.run_here('-c', LOAD)
        for one in (
            'watcher_planners kronos',
            'watcher_strategies kronos_spread',
            'watcher_actions kronos_live_migrate',
            'openstack.kronos.v1 optimize_kronos_explain',
        ):
            self.assertIn(one, told.splitlines())

    def test_options_of_all_plugins(self) -> None:
        """Watcher's list of options asks each plugin for its own."""
        program = pathlib.Path(sys.executable).with_name(
            'oslo-config-generator'
        )
        told, logged = self.run_here(
            str(program), '--namespace', 'watcher', '--namespace', 'kronos'
        )
        self.assertIn('[watcher_planner]', told)
        self.assertIn('[kronos_prometheus]', told)
        self.assertNotIn('Could not load', logged)
