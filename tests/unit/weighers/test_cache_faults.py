# SPDX-License-Identifier: Apache-2.0
"""Is a weighing neutral, and is it told, when something is wrong?"""

import types

import requests

from kronos.metrics import exposition, process
from kronos.metrics.metric import Source
from kronos.weighers import log_messages
from tests.builders.caches import (
    LOADS,
    NEUTRAL,
    SECRET,
    WARNING,
    WEIGHTS,
    WELL,
    CacheTestCase,
    aggregate,
    state,
)


class Timeout(BaseException):
    """As that of eventlet, which is no Exception."""


class FaultsTestCase(CacheTestCase):
    def measured(self):
        """The metrics of this process; no thread writes them."""
        self.addCleanup(process.end)
        group = types.SimpleNamespace(
            directory='/nowhere', interval=15, per_host=True, scope_ttl=3600
        )
        return process.prepare(Source.SCHEDULER, group)


class TestFaults(FaultsTestCase):
    def test_prometheus_away_or_another_server(self):
        """Last good scores, then neutral; told once; then well again."""
        self.set('kronos_prometheus', bearer_token=SECRET)
        self.fill()
        store = self.measured()
        faults = (
            (503, SECRET),
            (200, f'<html>{SECRET}</html>'),
            (200, ''),
            (200, '[]'),
            (200, '{"status": "success", "data": {"resultType": "vector"}}'),
            (400, '{"status": "error", "error": "parse error"}'),
            (404, SECRET),
            requests.ConnectionError(SECRET),
            requests.ConnectTimeout(),
            requests.ReadTimeout(),
            requests.exceptions.ChunkedEncodingError(),
            RecursionError(),
            MemoryError(),
            Timeout(),
            SystemExit(),
        )
        for nth, fault in enumerate(faults):
            self.prometheus.fault = fault
            self.refresh()
            self.all_weigh(WEIGHTS)
            self.assertEqual((nth + 1, nth), self.pairs(), fault)
            self.pass_by(300.0)
            self.all_weigh(NEUTRAL)
            self.prometheus.fault = None
            self.refresh()
            self.all_weigh(WEIGHTS)
            self.assertEqual((nth + 1, nth + 1), self.pairs(), fault)
        self.assertNotIn(SECRET, self.log.output)
        text = exposition.text_of(store, ('scheduler', '0')).decode()
        self.assertIn('kronos_weigher_faults_total{', text)
        self.assertNotIn(SECRET, text)

    def pairs(self):
        return self.logged(WARNING), self.logged(WELL)

    def test_the_thread_is_stopped(self):
        """Told, and the next weighing begins another one."""
        self.fill()
        self.turns.stop()
        self.assertEqual(1, self.logged('was stopped by _End'))
        self.all_weigh(WEIGHTS)
        self.assertEqual(2, len(self.turns.works))
        self.give({**LOADS, 'a': 0.7})
        self.turns.start()
        self.all_weigh({**WEIGHTS, 'a': 0.3})

    def test_many_troubles(self):
        """One line of some of them."""
        self.meet(
            *(
                state(f'x{nth}', aggregates=[aggregate(f'agg{nth}')])
                for nth in range(9)
            )
        )
        self.assertEqual(1, self.logged(WARNING))
        self.assertIn('; and 13 more', self.log.output)

    def test_from_the_start(self):
        """And it says that there are no scores yet."""
        self.prometheus.fault = requests.ConnectionError()
        self.meet(*LOADS)
        self.all_weigh(NEUTRAL)
        self.assertIn('its scores are not available yet', self.log.output)
        self.prometheus.fault = None
        self.refresh()
        self.all_weigh(WEIGHTS)

    def test_numbers_that_are_none(self):
        """Neutral at once, since that is known to be wrong."""
        self.fill()
        for values, message in (
            (dict.fromkeys('abc', 'NaN'), '0 of 3'),
            ({**LOADS, 'a': '+Inf', 'b': '-Inf'}, '1 of 3'),
            ({**LOADS, 'a': 1e308}, 'a is at 1e+308'),
            ({**LOADS, 'a': -0.5}, 'a is at -0.5'),
            ([*LOADS.items(), ('a', 0.3)], 'two series for host a'),
            ({}, '0 of 3'),
        ):
            self.give(values)
            self.refresh()
            self.all_weigh(NEUTRAL)
            self.assertIn(message, self.log.output)
            self.give(LOADS)
            self.refresh()
            self.all_weigh(WEIGHTS)
            self.pass_by(log_messages.NEW_SECONDS)

    def test_one_host_without_a_number(self):
        """The others are judged."""
        self.set(min_host_coverage=0.6)
        self.give({**LOADS, 'b': 'NaN'})
        self.meet(*LOADS)
        self.all_weigh({'a': 0.8, 'b': 0.45, 'c': 0.1})

    def test_old_samples(self):
        self.fill()
        self.prometheus.age = 301.0
        self.refresh()
        self.all_weigh(NEUTRAL)
        self.assertIn('staleness_threshold is 5 min', self.log.output)

    def test_as_old_as_the_question(self):
        """An answer that takes long is of when it was asked for."""
        self.prometheus.before = lambda: self.turns.sleep_through(200.0)
        self.fill()
        self.turns.now += 99.0
        self.all_weigh(WEIGHTS)
        self.turns.now += 2.0
        self.all_weigh(NEUTRAL)

    def test_the_policies_file(self):
        """What it said last is kept as well."""
        self.fill()
        path = self.folder / 'policies.yaml'
        good = path.read_text()
        for bad in ('policies: 5', '[', ''):
            path.write_text(bad)
            self.pass_by(60.0)
            self.all_weigh(WEIGHTS)
        path.unlink()
        self.pass_by(300.0)
        self.all_weigh(NEUTRAL)
        self.assertIn(str(path), self.log.output)
        path.write_text(good)
        self.pass_by(60.0)
        self.all_weigh(WEIGHTS)

    def test_an_option(self):
        """Refused by name; the file may be repaired meanwhile."""
        self.set(refresh_seconds=float('nan'))
        self.meet(*LOADS)
        self.all_weigh(NEUTRAL)
        self.assertIn('[kronos] refresh_seconds: nan is not', self.log.output)
        self.set(refresh_seconds=30.0)
        self.pass_by(60.0)
        self.all_weigh(WEIGHTS)


class TestWarnings(FaultsTestCase):
    def test_what_lasts(self):
        """Once in ten minutes, with the age of the scores."""
        self.fill()
        self.prometheus.fault = (503, 'busy')
        self.pass_by(3600.0)
        self.assertIn(self.logged(WARNING), (6, 7))
        self.assertRegex(self.log.output, r'are 11 min old, .*: busy')

    def test_what_comes_and_goes(self):
        """Once in a minute at most."""
        self.set(refresh_seconds=5.0)
        self.fill()
        for nth in range(400):
            self.prometheus.fault = None if nth % 2 else (503, 'busy')
            self.refresh()
        minutes = (self.turns.now - 1000.0) / 60.0
        self.assertLessEqual(self.logged(WARNING), minutes + 1)
        self.assertGreater(self.logged(WARNING), minutes / 3)
        self.assertLessEqual(self.logged(WELL), self.logged(WARNING))

    def test_a_new_host_does_not_make_it_well(self):
        self.fill()
        self.prometheus.fault = (503, 'busy')
        self.refresh()
        self.weigh('new')
        self.turns.tick()
        self.assertEqual((1, 0), (self.logged(WARNING), self.logged(WELL)))

    def test_requests_are_silent(self):
        """However stale the scores are."""
        self.fill()
        self.turns.now += 1000.0
        before = self.log.output
        for _ in range(100):
            self.all_weigh(NEUTRAL)
        self.assertEqual(before, self.log.output)

    def test_a_weighing_that_failed(self):
        """Told by the thread, with its place, now and then."""
        self.fill()
        store = self.measured()
        for _ in range(60):
            try:
                self.cache.weigh([None])
            except AttributeError as error:
                self.cache.note_fault(error)
            self.turns.tick()
        faults = [
            (labels, value)
            for row, labels, value in store.values()
            if row.name == 'kronos_weigher_faults_total'
        ]
        self.assertEqual([(('AttributeError',), 60.0)], faults)
        self.assertEqual(1, self.logged('A weighing of Kronos failed'))
        self.assertIn('Traceback', self.log.output)
        self.assertEqual(0, self.logged(WARNING))
