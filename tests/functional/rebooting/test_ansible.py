# SPDX-License-Identifier: Apache-2.0
"""Do the plays reboot a host when it is handed over, and no other?

Ansible runs them with ``--check``: it says what it would reboot.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any

import yaml

from tests.functional.rebooting import base

HERE = pathlib.Path(__file__).parent
CLIENT, METRIC = 'reboot.yml', 'reboot-by-metric.yml'
STATUS = f'optimize kronos maintenance status --host {base.NODE} --state '
OPENSTACK = """#!/bin/sh
# Ends with the statuses of a file, one after the other.
echo "$@" >> {folder}/calls
status=$(head -n 1 {folder}/statuses)
sed -i 1d {folder}/statuses
cat {folder}/answer
exit "${{status:-3}}"
"""


def plays(name: str) -> list[dict[str, Any]]:
    text = (base.EXAMPLES / 'ansible' / name).read_text()
    found: list[dict[str, Any]] = yaml.safe_load(text)
    return found


class TestForm(base.RebootingTestCase):
    """Without Ansible, too."""

    def test_each(self) -> None:
        for name in (CLIENT, METRIC):
            (play,) = plays(name)
            self.assertEqual('ansible.builtin.free', play['strategy'])
            self.assertNotIn('serial', play)
            *before, last = play['tasks']
            self.assertIn('ansible.builtin.reboot', last)
            (wait,) = [task for task in before if 'until' in task]
            self.assertIs(False, wait['check_mode'])
            for task in play['tasks']:
                actions = [key for key in task if '.' in key]
                self.assertEqual(1, len(actions), task)
                self.assertTrue(actions[0].startswith('ansible.builtin.'))


class TestPlays(base.RebootingTestCase):
    def setUp(self) -> None:
        super().setUp()
        beside = pathlib.Path(sys.executable).parent / 'ansible-playbook'
        command = shutil.which('ansible-playbook') or str(beside)
        if not pathlib.Path(command).exists():
            self.skipTest('Ansible is not installed')
        self.command = command
        self.calls = self.folder / 'calls'
        self.calls.touch()
        client = self.folder / 'openstack'
        client.write_text(OPENSTACK.format(folder=self.folder))
        client.chmod(0o755)

    def play(
        self,
        name: str,
        *statuses: int,
        state: str = 'handed over',
        **more: Any,
    ) -> dict[str, Any]:
        """What became of the host, task by task.

        :param state: of the host, as the client prints it
        """
        answer = {'hosts': [{'host': base.NODE, 'state': state}]}
        (self.folder / 'answer').write_text(json.dumps(answer))
        text = ''.join(f'{status}\n' for status in statuses)
        (self.folder / 'statuses').write_text(text)
        more = {
            'compute_hosts': 'all',
            'ansible_connection': 'far',
            'ansible_python_interpreter': sys.executable,
            'ansible_become': False,
            'reboot_needed': f'test -e {self.required}',
            'handed_over_tries': 3,
            'handed_over_delay': 0,
            **more,
        }
        done = subprocess.run(
            [
                self.command,
                *('--check', '--inventory', 'cmp1,'),
                *('--extra-vars', json.dumps(more)),
                str(base.EXAMPLES / 'ansible' / name),
            ],
            env={
                'PATH': f'{self.folder}:{os.environ["PATH"]}',
                'HOME': str(self.folder),
                'LC_ALL': 'C.UTF-8',
                'ANSIBLE_CONNECTION_PLUGINS': str(HERE / 'connections'),
                'ANSIBLE_STDOUT_CALLBACK': 'ansible.builtin.default',
                'ANSIBLE_LOCALHOST_WARNING': 'false',
            },
            cwd=self.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=280,
        )
        return {'status': done.returncode, 'text': done.stdout}

    def assert_reboots(self, seen: dict[str, Any]) -> None:
        self.assertEqual(0, seen['status'], seen['text'])
        task = seen['text'].partition('TASK [Reboot it]')[2]
        self.assertIn('changed: [cmp1]', task, seen['text'])

    def assert_stays(self, seen: dict[str, Any], failed: bool = True) -> None:
        self.assertEqual(failed, seen['status'] != 0, seen['text'])
        self.assertNotIn('TASK [Reboot it]', seen['text'])

    def test_handed_over_after_a_while(self) -> None:
        self.assert_reboots(self.play(CLIENT, 3, 5, 0))
        calls = self.calls.read_text().splitlines()
        self.assertEqual([f'{STATUS}handed-over --format json'] * 3, calls)

    def test_never_handed_over(self) -> None:
        self.assert_stays(self.play(CLIENT))
        self.assertGreater(len(self.calls.read_text().splitlines()), 2)

    def test_a_client_that_fails(self) -> None:
        """Such as for credentials: it is not tried for two days."""
        self.assert_stays(self.play(CLIENT, 1))
        self.assertEqual(1, len(self.calls.read_text().splitlines()))

    def test_done(self) -> None:
        """Again is no harm."""
        self.required.unlink()
        self.assert_stays(self.play(CLIENT, 0), failed=False)
        self.assertEqual('', self.calls.read_text())

    def test_opened_meanwhile(self) -> None:
        """It has passed the state, and servers may be back on it."""
        for state in ('returning', 'done'):
            seen = self.play(CLIENT, 3, 0, state=state)
            self.assert_stays(seen, failed=False)

    def test_by_metric(self) -> None:
        source = self.prometheus((503, 0), (200, 0), (200, 1))
        seen = self.play(METRIC, prometheus_url=source.url)
        self.assert_reboots(seen)
        self.assertEqual(3, len(source.queries))
        text = f'host="{base.NODE}",state="handed-over"}} == 1 and on'
        self.assertIn(text, source.queries[0])

    def test_by_metric_never(self) -> None:
        source = self.prometheus((200, 0))
        self.assert_stays(self.play(METRIC, prometheus_url=source.url))
