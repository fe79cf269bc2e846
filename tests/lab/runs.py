# SPDX-License-Identifier: Apache-2.0
"""What do the scenarios of the command ``run`` share?"""

import subprocess
from typing import Any

from labkit import layout

from tests.lab import base, terminal_client
from tests.lab.terminal_client import TerminalClient

WHOLE = '--start --wait'
WITHOUT_QUESTION = f'{WHOLE} --yes'
QUESTION = '[y/N] '


class RunTestCase(base.LabTestCase):
    def terminal(
        self, command: str, aggregates: str = '--aggregate alpha', **env: str
    ) -> TerminalClient:
        """``run`` on a terminal."""
        return self.useFixture(
            TerminalClient(
                f'optimize kronos run {command} {aggregates}'.split(),
                self.lab.env() | env,
            )
        )

    def check_end(self, client: TerminalClient, status: int) -> None:
        code = client.ended()
        self.assertEqual(status, code, client.shown)
        self.assertNotIn('Traceback', client.shown)

    def piped(self, command: str, status: int, **env: str) -> tuple[str, str]:
        """``run`` in a pipe; what went to each of its streams."""
        done = subprocess.run(
            [
                str(layout.VENV / 'bin' / 'openstack'),
                *f'optimize kronos run {command}'.split(),
            ],
            env=terminal_client.environment(self.lab.env() | env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        self.assertEqual(status, done.returncode, done.stderr)
        self.assertNotIn('Traceback', done.stderr)
        return done.stdout, done.stderr

    def newest_plan(self) -> dict[str, Any]:
        plans = self.cloud.watcher('/v1/action_plans/detail')['action_plans']
        return dict(max(plans, key=lambda plan: plan['created_at']))
