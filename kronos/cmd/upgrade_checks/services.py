# SPDX-License-Identifier: Apache-2.0
"""The services of this machine, asked in processes like theirs."""

import functools
import importlib.util
from dataclasses import dataclass
from typing import Any

from kronos.cmd import program
from kronos.cmd.checks import weigher
from kronos.cmd.checks.subprocess_probe import Inspect, InspectionError
from kronos.cmd.config_files import Paths

MODULE = 'kronos.watcher_db.service_probe'
ENGINE = 'watcher-decision-engine'
APPLIER = 'watcher-applier'
WATCHER = 'python-watcher'


@dataclass
class ProbeAnswer:
    """What a process says; ``error`` if it says nothing."""

    content: dict[str, Any]
    error: str = ''

    @property
    def database(self) -> dict[str, Any] | None:
        """What it read of Watcher's database; None: nothing."""
        return self.content.get('database')

    @property
    def why_unread(self) -> str:
        """Why it did not read the database."""
        return self.error or str(self.content.get('database_error', ''))


class LocalServices:
    """Each is asked once, when the first check needs it.

    :param inspect: runs a process
    :param engine: files of Watcher as its decision engine reads them
    :param applier: the same of its applier
    :param nova: as nova-scheduler reads them
    """

    def __init__(
        self, inspect: Inspect, engine: Paths, applier: Paths, nova: Paths
    ) -> None:
        self._inspect = inspect
        self._engine, self._applier = engine, applier
        self._nova = nova
        self.has_watcher = bool(program.installed(WATCHER))
        self.has_nova = importlib.util.find_spec('nova') is not None

    @functools.cached_property
    def engine(self) -> ProbeAnswer:
        """What the decision engine of this machine would find."""
        return self._ask(MODULE, [ENGINE], _request(self._engine))

    @functools.cached_property
    def applier(self) -> ProbeAnswer:
        """What the applier of this machine would find."""
        return self._ask(MODULE, [APPLIER], _request(self._applier))

    @functools.cached_property
    def scheduler(self) -> ProbeAnswer:
        """What nova-scheduler would load on this machine."""
        request = _request(self._nova) | {
            'asks': False,
            'hosts': [],
            'aggregates': {},
        }
        answer = self._ask(weigher.MODULE, [], request)
        answer.error = answer.error or answer.content.get('error', '')
        return answer

    def _ask(
        self, module: str, arguments: list[str], request: Any
    ) -> ProbeAnswer:
        try:
            return ProbeAnswer(self._inspect(module, arguments, request))
        except InspectionError as error:
            return ProbeAnswer({}, str(error))


def _request(where: Paths) -> dict[str, Any]:
    return {'files': where.files, 'folders': where.folders}
