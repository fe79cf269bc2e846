# SPDX-License-Identifier: Apache-2.0
"""Keystone accepts connections and says nothing, for a minute.

=====================  ======================================================
What goes on then      What becomes of it
=====================  ======================================================
a continuous audit     its run waits, and says so in the log; its next run
                       goes on
a migration            it is followed on: a look that fails is no end
the weigher's refresh  it ends, is warned of once, and the next one serves
=====================  ======================================================
"""

import threading
import time
from typing import Any, ClassVar

from tests.lab import moves, weighing
from tests.lab.base import layout
from tests.lab.moves import DESTINATION, HELD

from labkit import troubled  # isort: skip

SILENT_SECONDS = 60.0
ENGINE = layout.LOG / 'watcher-decision-engine.log'
APPLIER = layout.LOG / 'watcher-applier.log'
TOLD = 'Keystone has not answered within'
REFUSED = {'path': '/os-migrations', 'answer': 401}
"""Nova refuses the token, so that Keystone is asked for another one."""


class TestSilence(weighing.WeigherTestCase, moves.MovesTestCase):
    options: ClassVar[dict[str, Any]] = {'refresh_seconds': 5}

    def setUp(self) -> None:
        super().setUp()
        self.prometheus = troubled.Troubled(self.cloud.prometheus)
        self.addCleanup(self.prometheus.end)

    def test_for_a_minute(self) -> None:
        self.offer_aetos()
        self.schedule(with_weigher=True, timeout=5, max_retries=0)
        self.boot_here('a')
        self.cloud.set_migrations({'a': HELD})
        plan = self.started()
        self.wait_status('a', 'running')
        self.wait_followed('a')
        audit = self.audit(
            'aggregates=alpha', '--audit_type CONTINUOUS --interval 5 --force'
        )
        self.addCleanup(
            self.openstack,
            f'optimize audit update {audit["UUID"]} replace state=CANCELLED',
        )
        self.wait(
            lambda: f'Audit {audit["UUID"]}: ' in self.since(ENGINE, 0),
            'the audit to run',
        )
        marks = [one.stat().st_size for one in (ENGINE, APPLIER)]
        scheduler = weighing.LOG.stat().st_size
        self.silence()
        self.check_the_silence(marks)
        self.cloud.set_nova_api([])
        self.prometheus.trouble = ''
        self.check_afterwards(audit, plan, marks, scheduler)

    def check_the_silence(self, marks: list[int]) -> None:
        """Each tells of it, and goes on when it is over."""
        began = time.monotonic()
        for log, mark in zip((ENGINE, APPLIER), marks, strict=True):
            self.wait(
                lambda log=log, mark=mark: TOLD in self.since(log, mark),
                f'{log.stem} to tell of it',
            )
        self.resumed.wait()
        self.assertLess(time.monotonic() - began, 5 * SILENT_SECONDS)

    def check_afterwards(
        self,
        audit: dict[str, Any],
        plan: dict[str, Any],
        marks: list[int],
        scheduler: int,
    ) -> None:
        self.wait(
            lambda: 'has all its data again' in self.log(scheduler),
            'the weigher to have scores again',
        )
        log = self.log(scheduler)
        self.assertIn('lacks data; its scores', log)
        self.assertIn('Keystone', log)
        self.assertNotIn('Traceback', log)
        self.assertEqual('running', self.status('a'))
        mark = ENGINE.stat().st_size
        self.wait(
            lambda: f'Audit {audit["UUID"]}: ' in self.since(ENGINE, mark),
            'the audit to run once more',
        )
        now = self.cloud.watcher(f'/v1/audits/{audit["UUID"]}')
        self.assertEqual('ONGOING', now['state'])
        self.cloud.set_migrations({})
        row = self.ended(plan, 'SUCCEEDED')['a']
        self.assert_told(row, 'SUCCEEDED')
        self.assertEqual(1, len(self.orders_for('a')))
        self.assert_at_rest({'a': DESTINATION})

    def silence(self) -> None:
        """Keystone is paused; it is resumed whatever this test waits for."""
        self.resumed = threading.Event()

        def resume() -> None:
            self.lab.resume('keystone')
            self.resumed.set()

        timer = threading.Timer(SILENT_SECONDS, resume)
        self.addCleanup(timer.join)
        self.lab.pause('keystone')
        timer.start()
        self.cloud.set_nova_api([REFUSED])
        self.prometheus.trouble = troubled.UNAUTHORIZED

    def offer_aetos(self) -> None:
        """Have the catalog lead to a Prometheus."""
        service = self.openstack(
            'service create -f json --name aetos metric-storage'
        )['id']
        self.addCleanup(self.openstack, f'service delete {service}')
        self.openstack(
            f'endpoint create --region RegionOne {service} public '
            f'{self.prometheus.url}'
        )
        # An address would take precedence.
        shared = layout.SCHEDULER / 'kronos.conf'
        target = shared.readlink()
        text = shared.read_text()
        shared.unlink()
        shared.write_text(text.partition('[kronos_prometheus]')[0])
        self.addCleanup(shared.symlink_to, target)
        self.addCleanup(shared.unlink)

    @staticmethod
    def since(path: Any, mark: int) -> str:
        """What a log says from a position on."""
        with path.open('rb') as file:
            file.seek(mark)
            return str(file.read().decode(errors='replace'))
