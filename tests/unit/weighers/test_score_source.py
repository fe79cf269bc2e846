# SPDX-License-Identifier: Apache-2.0
"""What do the options, the file and Prometheus give a weigher?"""

import json
import os
import time

import requests
from keystoneauth1 import session

from kronos.common import exceptions
from kronos.engine.settings import PartialAnswers
from kronos.engine.types import Health
from kronos.policies.models import Mode
from kronos.weighers import score_source
from tests.builders.caches import (
    SECRET,
    URL,
    WeigherTestCase,
    policy,
)

ASKS = 'The weigher of Kronos sends'


class TestOptions(WeigherTestCase):
    def test_as_they_are_set(self):
        self.set(refresh_seconds=40.0)
        options = self.source.options()
        self.assertEqual(
            (40.0, 120.0, 300.0),
            (
                options.refresh_seconds,
                options.settling_seconds,
                options.staleness_threshold,
            ),
        )

    def test_never_slower_than_scores_get_stale(self):
        """Else hosts would be neutral for a part of the time."""
        self.set(refresh_seconds=600.0)
        self.assertEqual(150.0, self.source.options().refresh_seconds)
        self.source.ask(set())
        self.assertIn('1 queries every 2 min 30 s', self.log.output)

    def test_a_bad_one(self):
        """By name."""
        self.set(settling_seconds=float('nan'))
        error = self.assertRaises(
            exceptions.ConfigurationError, self.source.options
        )
        self.assertIn('[kronos] settling_seconds', str(error))


class TestLook(WeigherTestCase):
    def queries(self, *modes):
        """What is asked, and what it gave."""
        self.prometheus.queries.clear()
        answers = self.source.ask(set(modes))
        return sorted(self.prometheus.queries), answers

    def test_an_answer_that_is_too_long_for_a_scheduler(self):
        self.prometheus.fault = (200, ' ' * (32 * 2**20 + 1))
        error = self.assertRaises(
            exceptions.PrometheusError, self.source.ask, {Mode.SPREAD}
        )
        self.assertIn('longer than 32 MiB', str(error))

    def test_one_query_per_policy(self):
        """Of those that are in use; no profiles, no capacities."""
        self.write(
            'policies.yaml',
            policy('cpu', 0.5, host_capacity_query='cores'),
            policy('ram', 0.5, capacity_query='ram_in_use'),
            policy('net', 0.5, enabled=False),
        )
        self.give({'a': 0.5})
        queries, answers = self.queries()
        self.assertEqual(['cpu', 'ram'], queries)
        self.assertIs(Mode.SPREAD, answers.default_mode)
        self.assertEqual([Mode.SPREAD], list(answers.policies))
        reading = answers.readings[Mode.SPREAD]['cpu'].imbalance
        self.assertEqual([0.5], [sample.value for sample in reading.samples])
        for of_spread in answers.policies[Mode.SPREAD]:
            self.assertIsNone(of_spread.host_capacity_query)

    def test_pack(self):
        """Only there the ceilings are asked for."""
        self.write('policies.yaml', policy(mode='pack'))
        queries, answers = self.queries('off', 'nonsense')
        self.assertEqual(['cpu', 'cpu_in_use'], queries)
        self.assertIs(Mode.PACK, answers.default_mode)
        self.assertEqual([Mode.PACK], list(answers.policies))

    def test_both_modes_from_one_file(self):
        """Each query is asked once."""
        queries, answers = self.queries('pack')
        self.assertEqual(['cpu'], queries)
        self.assertEqual(list(Mode), list(answers.policies))
        self.assertEqual(*answers.policies.values())

    def test_a_file_for_pack(self):
        """It is read when a host asks for it."""
        path = self.write('pack.yaml', policy('ram', mode='pack'))
        self.set(pack_policies_file=path)
        self.assertEqual(['cpu'], self.queries()[0])
        queries, answers = self.queries('pack')
        self.assertEqual(['cpu', 'ram', 'ram_in_use'], queries)
        self.assertEqual('ram', answers.policies[Mode.PACK][0].name)
        self.assertEqual([], answers.troubles)

    def test_a_file_for_pack_that_is_broken(self):
        """The others keep their scores."""
        self.set(pack_policies_file=self.write('pack.yaml'))
        queries, answers = self.queries('pack')
        self.assertEqual(['cpu'], queries)
        self.assertEqual([], answers.policies[Mode.PACK])
        self.assertIn('pack.yaml', answers.troubles[0])

    def test_a_policies_file_that_is_broken(self):
        for text in ('', '[', 'policies: 5', '\0', 'policies: &a [*a]'):
            (self.folder / 'policies.yaml').write_text(text)
            error = self.assertRaises(
                exceptions.PolicyFileError, self.source.ask, set()
            )
            self.assertIn('policies.yaml', str(error))
        self.assertEqual([], self.prometheus.queries)

    def test_it_is_read_anew(self):
        self.queries()
        self.write('policies.yaml', policy('ram'))
        self.assertEqual(['ram'], self.queries()[0])


class TestFaults(WeigherTestCase):
    def setUp(self):
        super().setUp()
        self.write('policies.yaml', policy('cpu', 0.5), policy('ram', 0.5))

    def test_away(self):
        """One query in vain is enough to know."""
        for fault in (
            (503, 'no'),
            (429, ''),
            requests.ConnectionError('no'),
            requests.Timeout(),
        ):
            self.prometheus.fault = fault
            self.prometheus.queries.clear()
            error = self.assertRaises(
                exceptions.PrometheusError, self.source.ask, set()
            )
            self.assertIn(URL, str(error))
            self.assertEqual(['cpu'], self.prometheus.queries)

    def test_away_for_one_of_two(self):
        self.prometheus.fault = {'ram': (502, 'no')}
        self.assertRaises(exceptions.PrometheusError, self.source.ask, set())

    def test_another_server_in_its_place(self):
        """Nothing that it says is known to be wrong is taken."""
        for fault in (
            (200, '<html>Please log in</html>'),
            (200, '{"status": "success", "data": {"resultType": "scalar"}}'),
            (404, 'no such page'),
            (401, 'who are you?'),
            (302, ''),
        ):
            self.prometheus.fault = fault
            self.assertRaises(
                exceptions.PrometheusError, self.source.ask, set()
            )

    def test_a_partial_answer(self):
        """Its policy is used, or not, as the option says."""
        body = {
            'status': 'success',
            'data': {'resultType': 'vector', 'result': []},
            'isPartial': True,
        }
        self.prometheus.fault = {'ram': (200, json.dumps(body))}
        for how in PartialAnswers:
            self.set(partial_answers=how.value)
            answers = self.source.ask(set())
            reading = answers.readings[Mode.SPREAD]['ram'].imbalance
            self.assertEqual(Health.PARTIAL, reading.health)
            self.assertIs(how, answers.settings.partial_answers)

    def test_a_clock_that_differs(self):
        row = {'metric': {'host': 'a'}, 'value': [time.time() - 100, '0.5']}
        body = {
            'status': 'success',
            'data': {'resultType': 'vector', 'result': [row]},
        }
        self.prometheus.fault = {'ram': (200, json.dumps(body))}
        [text] = self.source.ask(set()).troubles
        self.assertIn('s behind this host', text)
        self.assertIn('NTP', text)

    def test_a_query_that_is_wrong(self):
        """The other policy is used."""
        self.prometheus.fault = {'ram': (400, '{"error": "parse error"}')}
        readings = self.source.ask(set()).readings[Mode.SPREAD]
        self.assertEqual(Health.UNREACHABLE, readings['ram'].imbalance.health)
        self.assertEqual(Health.HEALTHY, readings['cpu'].imbalance.health)


class TestTelling(WeigherTestCase):
    def test_how_often(self):
        """Once at INFO, and again when it changes."""
        self.set(refresh_seconds=25.0)
        for _ in range(3):
            self.source.ask(set())
        asks = f'sends {URL} 1 queries every'
        self.assertEqual(1, self.logged(f'{asks} 25 s'))
        self.set(refresh_seconds=50.0)
        self.source.ask(set())
        self.assertEqual(1, self.logged(f'{asks} 50 s'))
        self.assertEqual(2, self.logged(ASKS))

    def test_a_process_that_forked(self):
        """It tells for itself."""
        self.source.ask(set())
        child = os.fork()
        if not child:
            try:
                self.source.ask(set())
            finally:
                os._exit(self.logged(ASKS))
        self.assertEqual(2, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        self.source.ask(set())
        self.assertEqual(1, self.logged(ASKS))

    def test_no_secrets(self):
        """Whatever is wrong, even if the other end repeats them."""
        with_user = URL.replace('://', f'://admin:{SECRET}@')
        for options in (
            {'url': with_user},
            {'url': URL, 'bearer_token': SECRET},
            {'url': URL, 'username': 'admin', 'password': SECRET},
        ):
            for name in ('bearer_token', 'username', 'password'):
                self.conf.clear_override(name, 'kronos_prometheus')
            self.set('kronos_prometheus', **options)
            for fault in (
                (401, f'not with {SECRET}'),
                (200, f'<html>{SECRET}</html>'),
                (503, SECRET),
                requests.ConnectionError(SECRET),
                None,
            ):
                self.prometheus.fault = fault
                self.assertNotIn(SECRET, self._told_by_a_look())
        self.assertEqual(3, self.logged(ASKS))
        self.assertNotIn(SECRET, self.log.output)

    def _told_by_a_look(self):
        try:
            score_source.ScoreSource(self.conf).ask(set())
        except exceptions.PrometheusError as error:
            return str(error)
        return ''


class TestKeystone(WeigherTestCase):
    def test_without_url(self):
        """Aetos, by the catalog; a session is made for that only."""
        sessions = []

        def make():
            sessions.append(session.Session())
            return sessions[-1]

        self.source = score_source.ScoreSource(self.conf, session=make)
        self.source.ask(set())
        self.assertEqual([], sessions)
        self.conf.clear_override('url', 'kronos_prometheus')
        self.source = score_source.ScoreSource(self.conf, session=make)
        error = self.assertRaises(
            exceptions.PrometheusError, self.source.ask, set()
        )
        self.assertIn('metric-storage', str(error))
        self.assertEqual(1, len(sessions))
