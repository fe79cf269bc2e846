# SPDX-License-Identifier: Apache-2.0
"""The resource agent for Pacemaker, with a real kronos-instance-monitor."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import fixtures
from oslotest import base

from tests import places

AGENT = places.TOP / 'deploy' / 'pacemaker' / 'kronos-instance-monitor'
MONITOR = pathlib.Path(sys.executable).with_name('kronos-instance-monitor')
OPTIONS = """
[kronos_monitor]
host = h1
source = synthetic
events_file = {folder}/events.jsonl
state_file = {folder}/state/state.db
"""
NOT_RUNNING = 7
NOT_INSTALLED = 5
WRONG_HERE = 2
"""Pacemaker gives up this node, and no other."""


class TestPacemaker(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (self.folder / 'events.jsonl').touch()
        self.options = self.folder / 'kronos.conf'
        self.options.write_text(OPTIONS.format(folder=self.folder))
        self.parameters = {
            'binary': str(MONITOR),
            'user': 'root',
            'config_file': str(self.options),
            'state_dir': str(self.folder / 'state'),
            'log_file': str(self.folder / 'monitor.log'),
        }
        self.addCleanup(self.agent, 'stop')

    def environment(self, **more: str) -> dict[str, str]:
        return {
            'PATH': os.environ['PATH'],
            'OCF_ROOT': '/usr/lib/ocf',
            'HA_RSCTMP': str(self.folder),
            'OCF_RESOURCE_INSTANCE': 'monitor',
            'OCF_RESKEY_CRM_meta_timeout': '100000',
            **more,
        }

    def agent(self, action: str, **more: str) -> tuple[int, str]:
        """The status of an action, and what it reports."""
        parameters = {
            f'OCF_RESKEY_{name}': value
            for name, value in {**self.parameters, **more}.items()
        }
        environment = self.environment(**parameters, OCF_CHECK_LEVEL='10')
        done = subprocess.run(
            [AGENT, action],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.returncode, done.stderr

    def await_end(self, number: int) -> None:
        for _ in range(600):
            if not os.path.exists(f'/proc/{number}/exe'):
                return
            time.sleep(0.05)
        self.fail(f'process {number} still runs')

    def test_ocf_tester(self) -> None:
        words = [
            word
            for name, value in self.parameters.items()
            for word in ('-o', f'{name}={value}')
        ]
        done = subprocess.run(
            ['ocf-tester', '-n', 'monitor', *words, str(AGENT)],
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=240,
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn('passed all tests', done.stdout)

    def test_killed(self) -> None:
        self.assertEqual((0, ''), self.agent('start'))
        number = int((self.folder / 'kronos-monitor.pid').read_text())
        self.assertEqual((0, ''), self.agent('monitor'))
        os.kill(number, signal.SIGKILL)
        self.await_end(number)
        self.assertEqual(NOT_RUNNING, self.agent('monitor')[0])

    def test_number_of_another_process(self) -> None:
        """A file that is older than a reboot may have it."""
        (self.folder / 'kronos-monitor.pid').write_text(str(os.getpid()))
        self.assertEqual(NOT_RUNNING, self.agent('monitor')[0])
        self.assertEqual((0, ''), self.agent('stop'))

    def test_wrong_options(self) -> None:
        self.options.write_text('[kronos_monitor]\nhots = h1\n')
        status, report = self.agent('start')
        self.assertEqual(WRONG_HERE, status)
        self.assertIn('did you mean host', report)
        status, report = self.agent('start', binary='/nonexistent')
        self.assertEqual(NOT_INSTALLED, status)
        self.assertIn('/nonexistent', report)
        status, report = self.agent('validate-all', user='nobody-has-it')
        self.assertEqual(NOT_INSTALLED, status)
        self.assertIn('nobody-has-it', report)

    def test_slow_to_start(self) -> None:
        """A program that is not ready is neither started nor wrong."""
        binary = self.folder / 'slow'
        binary.write_text('#!/bin/sh\nexec sleep 60\n')
        binary.chmod(0o755)
        status, report = self.agent(
            'start', binary=str(binary), CRM_meta_timeout='2000'
        )
        number = int((self.folder / 'kronos-monitor.pid').read_text())
        self.addCleanup(os.kill, number, signal.SIGKILL)
        self.assertEqual(1, status)
        self.assertIn('not ready after 1 s', report)

    def test_metrics(self) -> None:
        """A process that runs and does not answer is not well."""
        self.agent('start')
        url = 'http://127.0.0.1:9/metrics'
        status, report = self.agent('monitor', metrics_url=url)
        self.assertEqual(1, status)
        self.assertIn(url, report)
