# SPDX-License-Identifier: Apache-2.0
"""Ansible and kured reboot the hosts of a run, each when it is its turn."""

import json
import os
import pathlib
import subprocess
import sys
from typing import Any, ClassVar

import fixtures

from kronos.extensions.maintenance.closing_reason import Step
from tests import places
from tests.lab import backfilled, base, maintained, terminal_client

from labkit import layout  # isort: skip

EXAMPLES = places.TOP / 'examples'
CONNECTIONS = pathlib.Path(base.__file__).parent / 'connections'
METRICS = layout.KRONOS.with_name('metrics.conf')
TARGETS = layout.RUN / 'real-monitor.json'


class RebootingTestCase(maintained.MaintainedTestCase):
    rack: ClassVar = ('cmp1', 'cmp2', 'cmp3')

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for host in self.rack:
            (self.folder / host).mkdir()
            (self.folder / host / 'boot_id').write_text('first')
            (self.folder / host / 'required').touch()

    def reboot(self, *hosts: str) -> None:
        super().reboot(*hosts)
        for host in hosts:
            (self.folder / host / 'boot_id').write_text('second')
            (self.folder / host / 'required').unlink()


class TestAnsible(RebootingTestCase):
    """The play runs once, for all hosts."""

    def test_the_play(self) -> None:
        self.uuids = self.boot_each(2)
        self.begin()
        with (self.folder / 'output').open('w+') as output:
            play = self.started('reboot.yml', output)
            self.addCleanup(self.end, play)
            self.to_end()
            status = play.wait(base.LIMIT_SECONDS)
            output.seek(0)
            text = output.read()
        self.assertEqual(0, status, text)
        self.assertEqual(len(self.rack), text.count('changed=1'), text)
        self.check_end()
        self.check_moves(8, 2)

    def started(self, name: str, output: Any) -> subprocess.Popen[bytes]:
        places_of_hosts = f'{self.folder}/{{{{ inventory_hostname }}}}'
        variables = {
            'compute_hosts': 'all',
            'nova_host': '{{ inventory_hostname }}',
            'ansible_connection': 'simulated',
            'ansible_python_interpreter': sys.executable,
            'ansible_become': False,
            'reboot_needed': f'test -e {places_of_hosts}/required',
            'reboot_command': f'/usr/bin/touch {places_of_hosts}/rebooting',
            'handed_over_delay': 3,
        }
        return subprocess.Popen(
            [
                layout.program('ansible-playbook'),
                *('--inventory', ','.join(self.rack) + ','),
                *('--extra-vars', json.dumps(variables)),
                str(EXAMPLES / 'ansible' / name),
            ],
            env={
                **terminal_client.environment(self.lab.env()),
                'PATH': f'{layout.VENV}/bin:{os.environ["PATH"]}',
                'HOME': str(self.folder),
                'LC_ALL': 'C.UTF-8',
                'SIMULATED_HOSTS': str(self.folder),
                'ANSIBLE_CONNECTION_PLUGINS': str(CONNECTIONS),
                'ANSIBLE_LOCALHOST_WARNING': 'false',
            },
            cwd=self.folder,
            stdout=output,
            stderr=subprocess.STDOUT,
        )

    def end(self, play: subprocess.Popen[bytes]) -> None:
        play.kill()
        play.wait()

    def is_rebooting(self, host: str) -> bool:
        return (self.folder / host / 'rebooting').exists()


class TestKured(RebootingTestCase):
    """The sentinel command is run on each host, again and again."""

    def setUp(self) -> None:
        super().setUp()
        self.sentinels = {
            host: self.folder / host / 'sentinel' for host in self.rack
        }
        self.scrape()
        url = f'http://127.0.0.1:{self.lab.ports["prometheus"]}'
        for host, file in self.sentinels.items():
            file.write_text(
                f'PROMETHEUS_URL={url}\nNOVA_HOST={host}\n'
                f'REBOOT_REQUIRED={self.folder}/{host}/required\n'
            )

    def scrape(self) -> None:
        """Have Prometheus read the metrics of the decision engine."""
        directory = self.folder / 'metrics'
        directory.mkdir()
        METRICS.write_text(
            f'[kronos_metrics]\ndirectory = {directory}\ninterval = 2\n'
        )
        self.addCleanup(self.lab.restart, maintained.ENGINE)
        self.addCleanup(METRICS.unlink)
        self.lab.restart(maintained.ENGINE)
        port = backfilled.free_port()
        exporter = subprocess.Popen(
            [
                layout.program('kronos-exporter'),
                f'--directory={directory}',
                f'--listen=127.0.0.1:{port}',
            ]
        )
        self.addCleanup(exporter.wait)
        self.addCleanup(exporter.terminate)
        labels = {'__loopback': f'127.0.0.1:{port}'}
        row = {'targets': ['controller:9878'], 'labels': labels}
        layout.write_json(TARGETS, [row])
        self.addCleanup(TARGETS.unlink, missing_ok=True)

    def test_the_command(self) -> None:
        self.uuids = self.boot_each(2)
        self.begin()
        self.to_end()
        self.check_end()
        self.check_moves(8, 2)

    def is_rebooting(self, host: str) -> bool:
        """Only the host that is handed over is to be rebooted."""
        steps = {name: row.step for name, row in self.reasons().items()}
        others = {
            name
            for name in self.rack
            if steps.get(name) is not Step.HANDED_OVER
        }
        rebooted = {name for name in self.rack if self.is_told(name)}
        self.assertEqual(set(), rebooted & others)
        return host in rebooted

    def is_told(self, host: str) -> bool:
        done = subprocess.run(
            [str(EXAMPLES / 'kured' / 'kronos-handed-over')],
            env={
                'PATH': os.environ['PATH'],
                'CONFIG': str(self.sentinels[host]),
            },
            check=False,
        )
        return done.returncode == 0
