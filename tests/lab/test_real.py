# SPDX-License-Identifier: Apache-2.0
"""Real guests move, and some must not: what do they notice of it?"""

from tests.lab import real
from tests.lab.real import DESTINATION, SOURCE

EVEN = 0.15
"""The threshold of the sample's policy."""


class TestReal(real.RealTestCase):
    def test_busy_guests_are_spread(self) -> None:
        """They go on with what they do, wherever they are."""
        self.boot_guests({'one': SOURCE, 'two': SOURCE})
        for name in self.uuids:
            self.order(name, 'cpu 100')
        self.wait_for_load(SOURCE, 0.2)
        _, plan, actions = self.audited('aggregates=real max_migrations=4')
        self.assertEqual(1, len(actions), actions)
        self.carried_out(plan)
        [name] = self.moved(actions)
        [other] = set(self.uuids) - {name}
        self.assert_at_rest({name: DESTINATION, other: SOURCE})
        self.assertLess(self.standstill(name), 5.0)
        self.wait(
            lambda: self.imbalances([SOURCE, DESTINATION])['cpu'] < EVEN,
            'Prometheus to show that they are spread',
        )
        self.assert_alive(*self.uuids)

    def test_what_has_no_end_is_told_and_left_running(self) -> None:
        """The guest writes faster than its memory is sent."""
        self.boot_guests({'busy': SOURCE})
        self.order('busy', real.WRITES)
        self.speed('busy', real.TOO_SLOW_MIB)
        plan = self.evacuation()
        self.start(plan)
        self.assertEqual('FAILED', self.executed(plan)['state'])
        text = self.rows(plan)['busy']['status_message']
        for words in (
            'KRONOS:MigrationFailed: [migration_stalled] in ERROR, its guest '
            'runs on ra: "openstack server set --state active"; aborted: it '
            'does not converge (pass ',
            ' MiB/s sent, ',
            ' MiB/s written): 3 more',
        ):
            self.assertIn(words, text)
        # Nova's driver for libvirt makes that of whatever is aborted.
        self.assertEqual('error', self.migration('busy')['status'])
        self.openstack(
            'server set --state active --auto-approve ' + self.uuids['busy']
        )
        self.assert_at_rest({'busy': SOURCE})
        self.assert_alive('busy')
