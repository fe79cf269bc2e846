# SPDX-License-Identifier: Apache-2.0
"""From and to which hosts are servers on their way?"""

from dataclasses import replace

from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.types import Event, Origin, Outcome
from kronos.extensions.maintenance import outcome
from kronos.extensions.maintenance.maintenance import Maintenance, RunView
from kronos.extensions.maintenance.planning import busy_hosts
from tests.unit.extensions.maintenance.planning import searches

MOVE = Event('a0', 'a', 'b', Outcome.PLANNED, 0.0, Origin.WATCHER, plan='p')


class TestBusyHosts(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        hosts: dict[str, list[int]] = {'a': [4], 'b': [4], 'c': [], 'd': []}
        spec = Maintenance('r', ('a', 'b'), at_once=2)
        self.case = searches.run(hosts, spec)

    def busy(self, **changes: object) -> set[str]:
        self.case.cloud.events = [replace(MOVE, **changes)]
        return busy_hosts.of(self.case.cloud, Settings())

    def test_both_ends(self) -> None:
        self.assertEqual({'a', 'b'}, self.busy())
        self.assertEqual({'a'}, self.busy(destination='elsewhere'))

    def test_what_is_over(self) -> None:
        self.assertEqual(set(), self.busy(outcome=Outcome.MOVED))
        self.assertEqual(set(), self.busy(source='c', destination='a'))
        self.assertEqual(set(), self.busy(is_resize=True))

    def test_such_a_host_is_not_closed(self) -> None:
        self.busy(destination='c')
        waves = outcome.of(self.case.plan()).waves
        self.assertEqual(['b'], waves.closing)
        self.assertEqual({}, waves.blocked)
        self.busy()
        waves = outcome.of(self.case.plan()).waves
        self.assertEqual([], waves.closing)
        self.assertIn('on their way from or to', waves.waits)

    def test_what_is_in_hand_is_taken(self) -> None:
        """It counts against k, and nothing is done there twice."""
        self.case.asked = Maintenance('r', ('a', 'b', 'c'), at_once=2)
        self.case.__post_init__()
        row = outcome.of(self.case.plan(RunView(in_hand=['a'])))
        self.assertEqual(['b'], row.waves.closing)
        self.assertEqual(['b'], row.handing_over)
        row = outcome.of(self.case.plan(RunView(in_hand=['a', 'b'])))
        self.assertEqual([], row.waves.closing + row.handing_over)
        self.assertIn('at_once is 2', row.waves.waits)
