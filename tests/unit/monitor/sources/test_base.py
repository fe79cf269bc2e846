# SPDX-License-Identifier: Apache-2.0
"""May a source be one small class?"""

from collections import deque

from oslotest import base

from kronos.monitor.domains import Domain
from kronos.monitor.sources.base import News, Source
from tests.unit.monitor.hypervisor import event


class Still(Source):
    HYPERVISOR = 'still'

    def start(self) -> None:
        self.news.append(event('REBOOT'))

    def stop(self) -> None:
        return

    def look(self, instance: str) -> Domain | None:
        return None

    def want(self, instance: str) -> None:
        return

    def check(self) -> str:
        return ''


class TestSource(base.BaseTestCase):
    def test_it_appends(self) -> None:
        news: deque[News] = deque()
        Still(news).start()
        self.assertEqual([event('REBOOT')], [*news])
