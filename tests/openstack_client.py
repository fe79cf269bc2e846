# SPDX-License-Identifier: Apache-2.0
"""How is the openstack client run within the process of a test?"""

import contextlib
import logging
import pathlib
import warnings
from typing import Any

import fixtures
import yaml
from openstackclient import shell
from osc_lib import clientmanager

from kronos.osc import plugin
from tests import commands
from tests.terminal import Terminal

LOGGERS = ('', 'cliff', 'iso8601', 'requests', 'stevedore', plugin.IDENTITY)
"""Those whose levels the client sets; they are put back."""


class OpenStackClient(fixtures.Fixture):
    """Runs ``openstack`` as somebody with a clouds.yaml, and nothing else.

    :param cloud: what stands there of the cloud ``c``
    """

    def __init__(self, cloud: dict[str, Any]) -> None:
        self._cloud = cloud

    def _setUp(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        clouds = folder / 'clouds.yaml'
        clouds.write_text(yaml.safe_dump({'clouds': {'c': self._cloud}}))
        for name in ('OS_AUTH_URL', 'OS_AUTH_TYPE', 'OS_PASSWORD'):
            self.useFixture(fixtures.EnvironmentVariable(name))
        for name, value in (
            ('OS_CLIENT_CONFIG_FILE', str(clouds)),
            ('OS_CLOUD', 'c'),
            ('HOME', str(folder)),
            ('COLUMNS', '250'),
        ):
            self.useFixture(fixtures.EnvironmentVariable(name, value))

    def run(
        self, *arguments: str, terminal: Terminal | None = None
    ) -> tuple[int, str, str]:
        """Exit status, stdout and stderr.

        :param terminal: what stdin and stderr are; None: a pipe
        """
        root = logging.getLogger()
        # It logs all, to whatever handlers there are.
        before, root.handlers[:] = root.handlers[:], []
        levels = [logging.getLogger(name).level for name in LOGGERS]
        # One client would be kept for all that runs in this process.
        vars(clientmanager.ClientManager)[plugin.API_NAME]._handle = None
        try:
            with warnings.catch_warnings():
                if terminal is None:
                    return commands.run(shell.main, [*arguments])
                return commands.run(_main_on, terminal, [*arguments])
        finally:
            root.handlers[:] = before
            for name, level in zip(LOGGERS, levels, strict=True):
                logging.getLogger(name).setLevel(level)


def _main_on(terminal: Terminal, arguments: list[str]) -> int:
    with (
        contextlib.redirect_stderr(terminal.errors),
        fixtures.MonkeyPatch('sys.stdin', terminal.answers),
    ):
        code: int = shell.main(arguments)
    return code
