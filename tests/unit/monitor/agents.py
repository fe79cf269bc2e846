# SPDX-License-Identifier: Apache-2.0
"""The agent of a test: a made-up hypervisor, and its options in a file."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
from typing import Any

import fixtures
from oslo_config import cfg
from oslotest import base

from kronos.common import exceptions
from kronos.monitor import settings, wiring
from kronos.monitor.agent import Agent
from kronos.monitor.settings import Settings
from tests import places
from tests.unit.monitor.hypervisor import Hypervisor, until
from tests.unit.monitor.receiver import Receiver


class AgentTestCase(base.BaseTestCase):
    """Has a folder with all that an agent needs."""

    SPOOL_MB = 16
    HOST = 'node1'

    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.state = self.folder / 'monitor.db'
        self.rules = self.folder / 'event_rules.yaml'
        self.rules.write_text('rules: [{name: all, action: send}]')
        self.host = Hypervisor(self.folder / 'events')

    def receiver(self, *args: Any, **more: Any) -> Receiver:
        receiver = Receiver(*args, **more)
        self.addCleanup(receiver.close)
        return receiver

    def conf(self, url: str = '', *lines: str) -> str:
        """The path of a file of options.

        :param lines: further ones, of the sink's group if there is a sink
        """
        path = self.folder / 'kronos.conf'
        sink = ['sinks = hook', '[kronos_monitor_hook]', 'driver = webhook']
        sink += ['insecure = true', 'retry_max_seconds = 1', f'url = {url}']
        path.write_text(
            '\n'.join(
                [
                    '[kronos_monitor]',
                    f'host = {self.HOST}',
                    *self.source(),
                    f'rules_file = {self.rules}',
                    f'state_file = {self.state}',
                    f'spool_max_mb = {self.SPOOL_MB}',
                    'metrics_port = 0',
                    *(sink if url else []),
                    *lines,
                ]
            )
        )
        return str(path)

    def source(self) -> list[str]:
        """The options of where events come from."""
        return ['source = synthetic', f'events_file = {self.host.path}']

    def environ(self) -> dict[str, str]:
        """Of a process."""
        return {**os.environ}

    def settings(self, url: str = '', *lines: str) -> Settings:
        return self.settings_of(self.conf(url, *lines))

    @staticmethod
    def settings_of(path: str) -> Settings:
        """:raises ConfigurationError: names all that is wrong with options"""
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[path], default_config_dirs=[])
        result, faults = settings.whole(conf, [path])
        if faults:
            raise exceptions.ConfigurationError(reason='; '.join(faults))
        return result

    def agent(self, url: str = '', *lines: str) -> 'Running':
        """One in threads of this process."""
        running = Running(wiring.agent_of(self.settings(url, *lines)))
        self.addCleanup(running.end)
        running.start()
        return running

    def process(self, url: str = '', *lines: str) -> 'subprocess.Popen[str]':
        """One in a process of its own."""
        path = self.conf(url, *lines)
        made = subprocess.Popen(
            [
                sys.executable,
                '-m',
                'kronos.cmd.instance_monitor',
                '--config-file',
                path,
            ],
            cwd=places.TOP,
            env=self.environ(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=(self.folder / 'log').open('a'),
        )
        self.addCleanup(_gone, made)
        return made


class Running:
    """An agent at work."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self._ended = threading.Event()
        self._thread = threading.Thread(
            target=agent.run, args=(self._ended,), daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def value(self, name: str, **labels: str) -> float | None:
        return self.agent._metrics.registry.get_sample_value(name, labels)

    def ready(self) -> 'Running':
        """Wait until it watches."""
        until(lambda: self.value('kronos_monitor_libvirt_up') == 1.0)
        return self


def _gone(process: 'subprocess.Popen[str]') -> None:
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    process.communicate()
