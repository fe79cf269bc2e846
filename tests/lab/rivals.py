# SPDX-License-Identifier: Apache-2.0
"""Audits that run side by side over the same hosts, and what came of them."""

import concurrent.futures
import datetime
from typing import Any, ClassVar

from tests.lab import base

BUSY, CALM = 1.5, 0.1
COOLDOWN = 5
_NOT_STARTED = ('RECOMMENDED', 'CANCELLED')


class RivalsTestCase(base.LabTestCase):
    """Plans start at once, and every audit is forced."""

    options: ClassVar = {'cooldown': COOLDOWN, 'instance_cooldown': 0}

    def oneshots(self, number: int) -> list[dict[str, Any]]:
        """Audits of alpha that are created in the same moment, ended."""
        return [self.finished(audit) for audit in self.created(number)]

    def created(self, number: int) -> list[dict[str, Any]]:
        """Audits of alpha that are created in the same moment."""

        def create(_: int) -> Any:
            return self.cloud.watcher(
                '/v1/audits',
                'post',
                json={
                    'audit_type': 'ONESHOT',
                    'goal': 'kronos_balance',
                    'strategy': 'kronos_spread',
                    'parameters': {'aggregates': 'alpha'},
                    'auto_trigger': True,
                    'force': True,
                },
            )

        with concurrent.futures.ThreadPoolExecutor(number) as pool:
            rows = list(pool.map(create, range(number)))
        return [{'UUID': row['uuid']} for row in rows]

    def started(self, audits: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The plans of audits that have moves and were started, ended."""
        plans = [plan for audit in audits for plan in self.plans(audit)]
        return [
            self.executed(plan)
            for plan in plans
            if plan['state'] not in _NOT_STARTED and self.actions(plan)
        ]

    def check_plans(self, plans: list[dict[str, Any]]) -> None:
        """Nothing was done twice, nor failed for another plan's sake."""
        for plan in plans:
            for action in self.actions(plan):
                self.assertEqual(
                    'SUCCEEDED', action['state'], action['status_message']
                )

    def check_cooldown(self, plans: list[dict[str, Any]]) -> None:
        """No plan was written before the one before it has cooled down.

        As Watcher's database has it, to the second.
        """
        times = sorted(
            (
                moment(plan['created_at']),
                max(moment(row['updated_at']) for row in self.actions(plan)),
            )
            for plan in plans
        )
        for (_, ended), (written, _) in zip(times, times[1:], strict=False):
            self.assertGreaterEqual(written - ended, COOLDOWN - 1)

    def fill(self, hot: str, *others: str) -> None:
        """Four servers a host, all idle but those of the first one."""
        self.boot(
            base.Wanted(
                f'{host}-{n}',
                host,
                BUSY if host == hot else CALM,
                1500,
            )
            for host in (hot, *others)
            for n in range(4)
        )

    def make_busy(self, hot: str) -> None:
        placed = self.cloud.placement()
        self.cloud.set_demand(
            **{
                name: {'cpu': BUSY if host == hot else CALM, 'memory_mb': 1500}
                for name, host in placed.items()
            }
        )
        self.wait_for_metrics()


def moment(text: str) -> float:
    """Unix seconds of a time of Watcher's."""
    found = datetime.datetime.fromisoformat(text)
    if found.tzinfo is None:
        found = found.replace(tzinfo=datetime.UTC)
    return found.timestamp()
