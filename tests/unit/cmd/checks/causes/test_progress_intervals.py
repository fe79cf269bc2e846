# SPDX-License-Identifier: Apache-2.0
"""Does kronos-test-config notice progress that is written too seldom?"""

from oslo_config import cfg
from oslotest import base

from kronos.cmd.checks.causes import progress_intervals
from kronos.cmd.checks.findings import Findings, Level
from kronos.engine.types import Event, Origin, Outcome, Snapshot


class TestOption(base.BaseTestCase):
    def levels(
        self, interval: str | None, stall_timeout: float = 300.0
    ) -> list[Level]:
        conf = cfg.ConfigOpts()
        conf([])
        progress_intervals.register_opts(conf)
        if interval is not None:
            conf.set_override(
                progress_intervals.NAME, interval, progress_intervals.GROUP
            )
        self.findings = Findings()
        progress_intervals.check_option(conf, stall_timeout, self.findings)
        return [finding.level for finding in self.findings.items]

    def test_short_enough(self) -> None:
        for interval in (None, '0.5', '5', '150'):
            self.assertEqual([], self.levels(interval), interval)

    def test_too_long(self) -> None:
        self.assertEqual([Level.WARNING], self.levels('151'))
        [finding] = self.findings.items
        self.assertIn('= 151 in nova.conf is more than half', finding.text)
        self.assertIn('stall_timeout = 300', finding.text)
        self.assertIn('to 150 or less', finding.remedy)

    def test_standstills_do_not_matter(self) -> None:
        self.assertEqual([], self.levels('151', stall_timeout=0.0))

    def test_no_interval(self) -> None:
        """Nova divides by it."""
        for interval in ('0', '-5', '', '5 s', 'nan', 'inf', '\x1b[2J'):
            self.assertEqual(
                [Level.ERROR], self.levels(interval, 0.0), interval
            )
            self.assertNotIn('\x1b', self.findings.items[0].text)


class TestProgress(base.BaseTestCase):
    def texts(self, *events: Event, stall_timeout: float = 300.0) -> list[str]:
        snapshot = Snapshot('gpu', {}, {}, {}, taken_at=1000.0)
        snapshot.events = [*events]
        findings = Findings()
        progress_intervals.check([snapshot], stall_timeout, findings)
        self.assertTrue(findings.is_good)
        return [finding.text for finding in findings.items]

    def event(
        self,
        server: str,
        age: float,
        status: str = 'running',
        origin: Origin = Origin.NOVA,
    ) -> Event:
        return Event(
            server,
            'a',
            'b',
            Outcome.UNDER_WAY,
            1000.0 - age,
            origin,
            status=status,
        )

    def test_the_longest_is_reported(self) -> None:
        [text] = self.texts(
            self.event('u', 160.0), self.event('v', 170.0), self.event('w', 1)
        )
        self.assertIn('migration of v 170 s ago', text)

    def test_nothing_to_report(self) -> None:
        self.assertEqual([], self.texts())
        self.assertEqual([], self.texts(self.event('u', 150.0)))
        old = self.event('u', 200.0)
        self.assertEqual([], self.texts(old, stall_timeout=0.0))
        for event in (
            self.event('u', 200.0, status='queued'),
            self.event('u', 200.0, origin=Origin.WATCHER),
        ):
            self.assertEqual([], self.texts(event))
