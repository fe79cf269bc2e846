# SPDX-License-Identifier: Apache-2.0
"""Is each service asked once, and with its own files?"""

from collections.abc import Sequence
from typing import Any

from oslotest import base

from kronos.cmd.checks.subprocess_probe import InspectionError
from kronos.cmd.config_files import Paths
from kronos.cmd.upgrade_checks import services
from kronos.watcher_db import service_probe


class TestServices(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.asked: list[tuple[str, Sequence[str], Any]] = []
        self.answer: Any = {}
        self.services = services.LocalServices(
            self.inspect,
            Paths(['engine.conf'], ['engine.d']),
            Paths(['applier.conf']),
            Paths(['nova.conf']),
        )

    def inspect(
        self, module: str, arguments: Sequence[str], request: Any
    ) -> Any:
        self.asked.append((module, arguments, request))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def test_an_engine(self) -> None:
        self.answer = {'plugins': {}, 'database': {'host': 'a'}}
        for _ in range(2):
            found = self.services.engine
            self.assertEqual({'host': 'a'}, found.database)
        self.assertEqual(
            [
                (
                    'kronos.watcher_db.service_probe',
                    ['watcher-decision-engine'],
                    {'files': ['engine.conf'], 'folders': ['engine.d']},
                )
            ],
            self.asked,
        )

    def test_an_applier(self) -> None:
        self.answer = {'database_error': 'DBConnectionError'}
        found = self.services.applier
        self.assertIsNone(found.database)
        self.assertEqual('DBConnectionError', found.why_unread)
        [(_, arguments, request)] = self.asked
        self.assertEqual(['watcher-applier'], arguments)
        self.assertEqual(['applier.conf'], request['files'])

    def test_one_that_does_not_come_up(self) -> None:
        self.answer = InspectionError('ImportError: no x')
        found = self.services.engine
        self.assertEqual({}, found.content)
        self.assertEqual(
            ('ImportError: no x',) * 2, (found.error, found.why_unread)
        )

    def test_a_scheduler(self) -> None:
        """Nova-scheduler tells what is wrong in its answer, too."""
        self.answer = {'error': 'ImportError: no y', 'is_enabled': False}
        self.assertEqual('ImportError: no y', self.services.scheduler.error)
        [(module, _, request)] = self.asked
        self.assertEqual('kronos.weighers.probe', module)
        self.assertFalse(request['asks'])
        self.assertEqual(['nova.conf'], request['files'])

    def test_names(self) -> None:
        """The process that is asked knows them, too."""
        self.assertEqual(service_probe.__name__, services.MODULE)
        self.assertEqual(
            {services.ENGINE, services.APPLIER}, set(service_probe.GROUPS)
        )
