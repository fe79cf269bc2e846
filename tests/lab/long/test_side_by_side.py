# SPDX-License-Identifier: Apache-2.0
"""Two continuous audits keep two aggregates even, side by side."""

import collections
import itertools
import time
from typing import Any, ClassVar

from tests.lab import base

THRESHOLD = 0.15
MINUTES = 10
CALM, BUSY = 0.4, 1.5
ZONES = {
    'left': ['cmp1', 'cmp2', 'cmp3', 'cmp7'],
    'right': ['cmp4', 'cmp5', 'cmp6', 'cmp8'],
}
PINNED = {f'cmp1-{n}' for n in range(4)}
"""Servers that must stay in the zone left."""


class TestSideBySide(base.LabTestCase):
    options: ClassVar = {'cooldown': base.WINDOW_SECONDS + 10}

    def setUp(self) -> None:
        super().setUp()
        for name, hosts in ZONES.items():
            zone = self.cloud.zone(name, hosts)
            # The cloud is empty again by then: cleanups run backwards.
            self.addCleanup(self.cloud.drop_zone, zone)
        self.addCleanup(self.cloud.reset)

    def test_ten_minutes_of_changing_demands(self):
        """Neither disturbs the other, and no server leaves its zone."""
        self.cloud.boot_all(self.wanted())
        self.wait_for_metrics()
        audits = {
            name: self.going_on(f'aggregates={name} max_migrations=6', 10)
            for name in base.topology.AGGREGATES
        }
        pairs = itertools.product(('cmp1', 'cmp2', 'cmp3'), ('cmp7', 'cmp8'))
        end = time.monotonic() + 60 * MINUTES
        crossed: set[str] = set()
        for hot in itertools.cycle(pairs):
            self.make_busy(set(hot))
            self.wait_for_metrics()
            self.wait(self.are_even, f'{hot} to be relieved')
            self.check_zone()
            crossed |= self.crossed()
            if time.monotonic() > end:
                break
        # Others do leave their zones, so the pin is what holds these.
        self.assertNotEqual(set(), crossed)
        for name, audit in audits.items():
            self.check_audit(name, audit)

    def wanted(self) -> list[base.Wanted]:
        return [
            base.Wanted(
                f'{host}-{n}',
                host,
                CALM,
                1500,
                zone=zone if f'{host}-{n}' in PINNED else '',
            )
            for zone, hosts in ZONES.items()
            for host in hosts
            for n in range(4)
        ]

    def make_busy(self, hosts: set[str]) -> None:
        self.cloud.set_demand(
            **{
                name: {'cpu': BUSY, 'memory_mb': 1500}
                for name, where in self.cloud.placement().items()
                if where in hosts
            }
        )

    def are_even(self) -> bool:
        self.check_zone()
        return all(
            value <= THRESHOLD
            for hosts in base.topology.AGGREGATES.values()
            for value in self.imbalances(hosts).values()
        )

    def check_zone(self) -> None:
        where = self.cloud.placement()
        for name in PINNED:
            self.assertIn(where[name], ZONES['left'], name)

    def crossed(self) -> set[str]:
        """The servers that are now in another zone than they began in."""
        zones = {host: zone for zone, hosts in ZONES.items() for host in hosts}
        return {
            name
            for name, where in self.cloud.placement().items()
            if zones[where] != zones[name.partition('-')[0]]
        }

    def check_audit(self, name: str, audit: dict[str, Any]) -> None:
        self.assertEqual('ONGOING', self.shown(audit)['State'])
        hosts = base.topology.AGGREGATES[name]
        moves = 0
        for plan in self.plans(audit):
            self.assertNotIn(plan['state'], ('FAILED', 'CANCELLED'))
            given = [row['input_parameters'] for row in self.actions(plan)]
            for one in given:
                self.assertEqual(name, one['aggregate'])
                self.assertIn(one['source_node'], hosts)
                self.assertIn(one['destination_node'], hosts)
            servers = collections.Counter(one['resource_id'] for one in given)
            self.assertEqual(len(given), len(servers))
            moves += len(given)
        self.assertGreater(moves, 0)
