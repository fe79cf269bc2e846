# SPDX-License-Identifier: Apache-2.0
"""How far an answer of Prometheus can be trusted."""

import itertools
from typing import Any

from oslotest import base

from kronos.engine.scoring import answer_health
from kronos.engine.scoring.answer_health import QueryAnswer
from kronos.engine.settings import PartialAnswers
from kronos.engine.types import ClockDifference, Health, Reading, Sample

NOW = 1700000000.0
WARN, SKIP = PartialAnswers.WARN, PartialAnswers.SKIP


def of(*ages: float, label: str = 'host', **more: Any) -> Reading:
    """The judgement of an answer with samples of these ages."""
    samples = [
        Sample(f'cmp{number}', 1.0, NOW - age)
        for number, age in enumerate(ages)
    ]
    samples += more.pop('others', [])
    answer = QueryAnswer(samples, NOW, NOW, **more)
    return answer_health.judge('q', label, answer, 300.0)


class TestJudge(base.BaseTestCase):
    def test_whole(self) -> None:
        reading = of(0.0, 0.0)
        self.assertEqual(Health.HEALTHY, reading.health)
        self.assertEqual('', answer_health.why_unknown(reading))
        self.assertEqual([], answer_health.doubts(reading, 'host'))
        self.assertEqual('', answer_health.clocks([reading]))

    def test_each_answer_of_each_kind(self) -> None:
        """What is left out, or may be missing, is said."""
        nameless = Sample('', 1.0, NOW, 'up{job="db"}')
        for incomplete, others, clock in itertools.product(
            ([], ['store 2']), ([], [nameless]), (None, NOW - 200, NOW + 900)
        ):
            at = NOW if clock is None else clock
            samples = [Sample('cmp1', 1.0, at)]
            if others:
                samples.append(Sample('', 1.0, at, 'up{job="db"}'))
            answer = QueryAnswer(samples, NOW, NOW, incomplete=incomplete)
            reading = answer_health.judge('q', 'host', answer, 300.0)
            self.assertEqual(['cmp1'], [one.label for one in reading.samples])
            doubts = ' '.join(answer_health.doubts(reading, 'host'))
            self.assertEqual(bool(incomplete), 'store 2' in doubts)
            self.assertEqual(bool(others), 'up{job="db"}' in doubts)
            self.assertEqual(bool(others), '{host!=""}' in doubts)
            told = answer_health.clocks([Reading('q'), reading])
            self.assertEqual(clock is not None, bool(told))
            unknown = answer_health.why_unknown(reading)
            self.assertEqual(bool(incomplete), bool(unknown))
            self.assertEqual('', answer_health.why_unusable(reading, WARN))
            skipped = answer_health.why_unusable(reading, SKIP)
            self.assertEqual(bool(incomplete), bool(skipped))

    def test_old_samples(self) -> None:
        reading = of(400.0, 600.0)
        self.assertEqual(Health.STALE, reading.health)
        self.assertIn('the newest sample is 7 min old', reading.error)
        self.assertIsNone(reading.clock)
        reading = of(0.0, 600.0)
        self.assertEqual(['cmp0'], [one.label for one in reading.samples])
        self.assertEqual(Health.HEALTHY, reading.health)
        self.assertEqual('', answer_health.why_unusable(reading, SKIP))
        # What is left out may be what is at fault.
        self.assertIn(
            '1 of its series are older', answer_health.why_unknown(reading)
        )
        self.assertTrue(answer_health.may_pass(reading))

    def test_a_slow_answer_by_a_clock_that_is_behind(self) -> None:
        """Too old together: the clock is what can be mended."""
        samples = [Sample('cmp1', 1.0, NOW - 310)]
        answer = QueryAnswer(samples, NOW - 20, NOW)
        reading = answer_health.judge('q', 'host', answer, 300.0)
        self.assertEqual(Health.STALE, reading.health)
        self.assertIn('290.0 s behind', reading.error)

    def test_no_label_is_asked_for(self) -> None:
        others = [Sample('', 1.0, NOW, 'up{}')]
        reading = of(label='', others=others)
        self.assertEqual(1, len(reading.samples))
        self.assertEqual(0, reading.unlabelled)

    def test_no_series_has_the_label(self) -> None:
        others = [Sample('', 1.0, NOW, 'up{job="a", instance="b"}')] * 3
        reading = of(others=others)
        self.assertEqual(Health.PARTIAL, reading.health)
        self.assertIn('instance, job', reading.error)
        for partial in PartialAnswers:
            self.assertTrue(answer_health.why_unusable(reading, partial))
        self.assertFalse(answer_health.may_pass(reading))

    def test_times_that_are_none(self) -> None:
        for at in (float('inf'), float('nan'), -1e18, 1e18):
            samples = [Sample('cmp1', 1.0, at)]
            answer = QueryAnswer(samples, NOW, NOW, dated=at)
            reading = answer_health.judge('q', 'host', answer, 300.0)
            answer_health.clocks([reading])

    def test_the_largest_difference(self) -> None:
        readings = [
            Reading('q', clock=ClockDifference(NOW + ahead, NOW))
            for ahead in (10.0, -60.0, 30.0)
        ]
        text = answer_health.clocks(readings)
        self.assertIn("60.0 s behind this host's (22:12:20 there", text)
        self.assertIn('22:13:20 here', text)


class TestMayPass(base.BaseTestCase):
    def test_what_the_next_answer_may_mend(self) -> None:
        for reading, passes in (
            (Reading('q', Health.STALE, error='old'), True),
            (Reading('q', Health.PARTIAL, incomplete='store 2'), True),
            (Reading('q', Health.UNREACHABLE, error='no'), False),
            (Reading('q', Health.UNREACHABLE, is_away=True), True),
        ):
            self.assertEqual(passes, answer_health.may_pass(reading))
            self.assertTrue(answer_health.why_unknown(reading))
