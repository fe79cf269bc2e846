# SPDX-License-Identifier: Apache-2.0
"""Two audits at a time on three databases and brokers, whose nodes fail."""

import contextlib
import logging
import time
from collections.abc import Iterator
from typing import Any, ClassVar

from tests.lab import base, rivals

from labkit import running  # isort: skip

LOG = logging.getLogger(__name__)
NONE, KILL, CUT, LAG, PAUSE = 'none', 'kill', 'cut off', 'desync', 'pause'
HARMLESS = NONE, LAG
"""All audits end then. Otherwise Watcher may lose one whose state it cannot
write: it stays PENDING or ONGOING, and nothing is planned."""
LOST_SECONDS = 60


class NodeFailuresTestCase(rivals.RivalsTestCase):
    """Engines on different nodes, and one node that fails meanwhile.

    What fails is never the node that Watcher's API prefers: a test has to see
    what it asks for.
    """

    ha: ClassVar = True

    def setUp(self) -> None:
        super().setUp()
        self.fill(*base.ALPHA)
        self.wait_for_metrics()

    def rounds(self, *failures: tuple[str, str]) -> int:
        """Two audits a round, while a node fails; all moves that were made.

        :param failures: kind and node
        """
        moves, engines = 0, set()
        for number, (kind, node) in enumerate(failures):
            self.make_busy(base.ALPHA[number % len(base.ALPHA)])
            with self.failing(kind, node):
                begin = time.monotonic()
                new = self.created(2)
                audits = self.ended(new)
                planned = time.monotonic()
                plans = self.started(audits)
            if len(audits) < len(new):
                self.assertNotIn(kind, HARMLESS)
                LOG.warning('%s %s: %s', kind, node, 'Watcher lost an audit')
            LOG.warning(
                '%s %s: audits %.0f s, then moves %.0f s',
                kind,
                node,
                planned - begin,
                time.monotonic() - planned,
            )
            self.assertLessEqual(len(plans), 1, (kind, node))
            self.check_plans(plans)
            moves += sum(len(self.actions(plan)) for plan in plans)
            engines |= {self.engine(audit) for audit in audits}
            time.sleep(rivals.COOLDOWN)
        self.assertEqual(2, len(engines), engines)
        return moves

    def ended(self, audits: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those that end; the others Watcher has lost."""

        def is_over(audit: dict[str, Any]) -> bool:
            url = f'/v1/audits/{audit["UUID"]}'
            return self.cloud.watcher(url)['state'] in base.FINAL

        with contextlib.suppress(running.LabError):
            self.cloud.wait_for(
                lambda: all(map(is_over, audits)), LOST_SECONDS, 'their end'
            )
        ended = [audit for audit in audits if is_over(audit)]
        for audit in audits:
            if audit not in ended:
                self.assertEqual([], self.plans(audit))
        return ended

    def engine(self, audit: dict[str, Any]) -> str:
        """The host of the engine that has taken an audit."""
        row = self.cloud.watcher(f'/v1/audits/{audit["UUID"]}')
        return str(row['hostname'])

    @contextlib.contextmanager
    def failing(self, kind: str, node: str) -> Iterator[None]:
        """A node fails, and is like the others again afterwards."""
        begin = {
            NONE: lambda _: None,
            KILL: lambda name: self.lab.stop(name, kill=True),
            CUT: self.lab.isolate,
            LAG: self.lab.desync,
            PAUSE: self.lab.pause,
        }[kind]
        begin(node)
        try:
            yield
        finally:
            if kind != NONE:
                self.lab.start(node)
                self.lab.resume(node)
