# SPDX-License-Identifier: Apache-2.0
"""Does an audit begin after each incident, whatever Watcher does first?"""

from typing import Any

from kronos.monitor.sinks.base import Outcome
from kronos.monitor.sinks.watcher import LEAST_PAUSE, Watcher
from tests.unit.monitor.sinks import services
from tests.unit.monitor.sinks.cloud import Cloud


class WatcherTestCase(services.ServiceTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.now = 1000.0

    def sink(self, cloud: Cloud, **more: Any) -> Watcher:
        options = services.options('watcher', cloud.url, **more)
        made = Watcher('watcher', options, lambda: self.now)
        self.addCleanup(made.close)
        made.begin()
        return made

    def looks(self, sink: Watcher, *outcomes: Outcome) -> str:
        """Look so often, after as long as it wants.

        :returns: the text of the last
        """
        text = ''
        for number, outcome in enumerate(outcomes):
            result = sink.trigger()
            self.assertIs(outcome, result.outcome, (number, result.text))
            text = result.text
            self.now += result.wait or 0.0
        return text


PENDING, DELIVERED, AWAY = Outcome.PENDING, Outcome.DELIVERED, Outcome.AWAY


class TestConfirmed(WatcherTestCase):
    def test_an_audit_that_begins(self) -> None:
        cloud = self.cloud()
        sink = self.sink(cloud)
        self.looks(sink, PENDING, DELIVERED)
        self.assertEqual(1, cloud.triggers)

    def test_one_that_was_over_before_anybody_looked(self) -> None:
        cloud = self.cloud()
        sink = self.sink(cloud)
        for _ in range(5):
            self.looks(sink, PENDING)
            cloud.end()
            self.looks(sink, DELIVERED)
            self.now += LEAST_PAUSE
            sink.begin()
        self.assertEqual(5, cloud.triggers)

    def test_one_that_is_passed_over(self) -> None:
        """As while an action plan runs: the trigger is not lost."""
        cloud = self.cloud()
        cloud.end()
        cloud.is_skipped = True
        sink = self.sink(cloud)
        self.looks(sink, *[PENDING] * 60)
        self.assertEqual(3, cloud.triggers)
        cloud.is_skipped = False
        self.looks(sink, PENDING, DELIVERED)
        self.assertEqual(4, cloud.triggers)

    def test_one_that_runs_since_before(self) -> None:
        cloud = self.cloud()
        cloud.begin()
        sink = self.sink(cloud)
        told = self.looks(sink, PENDING, PENDING)
        self.assertIn('runs, since before', told)
        self.assertEqual(0, cloud.triggers)
        cloud.end()
        self.looks(sink, PENDING, DELIVERED)
        self.assertEqual(1, cloud.triggers)

    def test_further_incidents(self) -> None:
        """Those that come while it is not certain count, too."""
        cloud = self.cloud()
        cloud.end()
        cloud.is_skipped = True
        sink = self.sink(cloud)
        self.looks(sink, PENDING)
        sink.begin()
        cloud.begin()
        self.looks(sink, PENDING)
        cloud.end()
        cloud.is_skipped = False
        self.now += LEAST_PAUSE
        self.looks(sink, PENDING, DELIVERED)
        self.assertEqual(2, cloud.triggers)

    def test_no_two_triggers_in_a_moment(self) -> None:
        cloud = self.cloud()
        cloud.is_skipped = True
        sink = self.sink(cloud)
        for _ in range(5):
            sink.begin()
            self.assertIs(PENDING, sink.trigger().outcome)
        self.assertEqual(1, cloud.triggers)


class TestNotAllowedToRead(WatcherTestCase):
    def test_it_is_repeated(self) -> None:
        cloud = self.cloud()
        cloud.may_read, cloud.is_skipped = False, True
        sink = self.sink(cloud, repeat_for=1000.0)
        self.looks(sink, *[PENDING] * 4, DELIVERED)
        self.assertEqual(5, cloud.triggers)
        self.assertEqual(1, self.log.output.count('audit:get'))

    def test_it_need_not_try(self) -> None:
        cloud = self.cloud()
        cloud.is_skipped = True
        sink = self.sink(cloud, confirm=False, repeat_for=0.0)
        self.looks(sink, DELIVERED)
        self.assertNotIn('audits/', str(cloud.requests))

    def test_what_shows_that_it_began(self) -> None:
        """A trigger was taken, and the next one is too early."""
        cloud = self.cloud()
        sink = self.sink(cloud, confirm=False)
        self.looks(sink, PENDING, DELIVERED)
        self.assertEqual(1, cloud.triggers)

    def test_one_that_runs_since_before(self) -> None:
        cloud = self.cloud()
        cloud.begin()
        sink = self.sink(cloud, confirm=False)
        self.looks(sink, PENDING)
        cloud.end()
        self.looks(sink, PENDING, DELIVERED)
        self.assertEqual(1, cloud.triggers)


class TestRefused(WatcherTestCase):
    def test_each(self) -> None:
        cloud = self.cloud()
        usual = cloud.audit
        assert usual is not None
        for confirm in (True, False):
            for audit, told in (
                (None, 'there is no audit recover: openstack optimize audit'),
                ({'state': 'FAILED'}, 'FAILED'),
                ({'state': 'CANCELLED'}, 'create another one with that name'),
                ({'audit_type': 'ONESHOT'}, 'must be of type EVENT'),
            ):
                cloud.audit = None if audit is None else {**usual, **audit}
                sink = self.sink(cloud, confirm=confirm)
                self.assertIn(told, self.looks(sink, AWAY))
                cloud.audit = usual
                self.looks(sink, PENDING)
                cloud.end()
        self.assertEqual(8, cloud.triggers)

    def test_it_may_not_trigger(self) -> None:
        cloud = self.cloud()
        cloud.may_trigger = False
        told = self.looks(self.sink(cloud), AWAY, AWAY)
        self.assertIn('needs the policy webhook:trigger', told)

    def test_it_is_away(self) -> None:
        cloud = self.cloud()
        sink = self.sink(cloud)
        cloud.errors = [(503, 'later')]
        self.assertIn('HTTP 503', self.looks(sink, AWAY))
        cloud.close()
        self.looks(sink, AWAY)


class TestCheck(WatcherTestCase):
    def test_good(self) -> None:
        cloud = self.cloud()
        for confirm in (True, False):
            self.assertEqual('', self.sink(cloud, confirm=confirm).check('h'))
        self.assertEqual(0, cloud.triggers)

    def test_each_fault(self) -> None:
        cloud = self.cloud()
        assert cloud.audit is not None
        for field, value, told in (
            ('may_trigger', False, 'webhook:trigger'),
            ('may_read', False, 'audit:get'),
            ('audit', None, 'there is no audit recover'),
            ('audit', {**cloud.audit, 'state': 'FAILED'}, 'is FAILED'),
            ('audit', {**cloud.audit, 'audit_type': 'ONESHOT'}, 'type EVENT'),
        ):
            before = getattr(cloud, field)
            setattr(cloud, field, value)
            self.assertIn(told, self.sink(cloud).check('h'))
            setattr(cloud, field, before)
        self.assertEqual(0, cloud.triggers)

    def test_nobody_there(self) -> None:
        cloud = self.cloud()
        cloud.close()
        self.assertIn('Keystone', self.sink(cloud).check('h'))


class TestFaults(WatcherTestCase):
    def test_no_audit(self) -> None:
        options = services.options('watcher', 'https://keystone', audit=None)
        (found,) = Watcher.faults(options)
        self.assertIn('audit: is not set', found)
