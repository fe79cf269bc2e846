# SPDX-License-Identifier: Apache-2.0
"""Do events wait behind the list of domains?"""

from collections import deque

from oslotest import base

from kronos.monitor.domains import Listing
from kronos.monitor.sources.base import News
from kronos.monitor.sources.libvirt.gate import Gate
from tests.unit.monitor.hypervisor import event


class TestGate(base.BaseTestCase):
    def test_order(self) -> None:
        news: deque[News] = deque()
        gate = Gate(news)
        one, two, three, four = (event('REBOOT', moment=n) for n in range(4))
        first, second = Listing(1.0), Listing(2.0)
        gate.append(one)
        self.assertEqual([], [*news])
        gate.open(first)
        gate.append(two)
        gate.shut()
        gate.append(three)
        self.assertEqual([first, one, two], [*news])
        gate.open(second)
        gate.append(four)
        self.assertEqual([first, one, two, second, three, four], [*news])

    def test_no_list(self) -> None:
        """What waited is told all the same."""
        news: deque[News] = deque()
        gate = Gate(news)
        gate.append(event('REBOOT'))
        gate.open(None)
        self.assertEqual([event('REBOOT')], [*news])
