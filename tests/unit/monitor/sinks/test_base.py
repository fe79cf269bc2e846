# SPDX-License-Identifier: Apache-2.0
"""May a sink be one small class?"""

from oslotest import base

from kronos.monitor.messages import Message
from kronos.monitor.sinks.base import Options, Outcome, Result, Sink


class Silent(Sink):
    @classmethod
    def faults(cls, options: Options) -> list[str]:
        return []

    def deliver(self, message: Message) -> Result:
        return Result(Outcome.DELIVERED)

    def check(self, host: str) -> str:
        return ''


class TestSink(base.BaseTestCase):
    def test_what_it_has_without_asking(self) -> None:
        sink = Silent('quiet', {'a': 1})
        self.assertTrue(sink.WANTS_RESOLVED)
        self.assertEqual(('quiet', {'a': 1}), (sink.name, sink.options))
        sink.close()
