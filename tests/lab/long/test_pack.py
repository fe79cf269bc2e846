# SPDX-License-Identifier: Apache-2.0
"""A packing of several audits goes on with the host that it began."""

from typing import Any

from tests.lab import base, packing
from tests.lab.base import Wanted

CORES, MEMORY_MB = 2.0, 2600
BUDGET = 3


class TestPack(packing.PackTestCase):
    def test_two_audits(self):
        """Each host has two servers, and an audit may move three."""
        hosts = [host for host in base.ALPHA if host != packing.FULL]
        self.boot(
            Wanted(f'{host}-{n}', host, CORES, MEMORY_MB)
            for host in hosts
            for n in range(2)
        )
        self.wait(self.has_forgotten, 'the readings to be of now')
        placed = [self.cloud.placement()]

        said, first = self.packed()
        placed.append(self.cloud.placement())
        self.wait_for_metrics()
        _, second = self.packed()
        placed.append(self.cloud.placement())

        [begun] = {one for one in first if first.count(one) == 1}
        self.assertIn(f'{begun}: 1 of 2 leaves now', said)
        self.assertEqual(BUDGET, len(first))
        self.assertIn(begun, second)
        before, between, after = (set(one.values()) for one in placed)
        self.assertEqual(1, len(before - between), placed)
        self.assertIn(begun, between - after)
        [stayed] = [name for name, host in placed[1].items() if host == begun]
        self.assertEqual(begun, placed[0][stayed])

    def packed(self) -> tuple[str, list[str]]:
        """One audit: what it says, and the source of each move."""
        audit, plan, actions = self.audited(
            f'aggregates=alpha max_migrations={BUDGET}', '', 'kronos_pack'
        )
        self.carried_out(plan)
        return audit['Status Message'], [_source(row) for row in actions]


def _source(action: dict[str, Any]) -> str:
    source: str = action['input_parameters']['source_node']
    return source
