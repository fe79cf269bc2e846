# SPDX-License-Identifier: Apache-2.0
"""A host that the operator's query finds at fault is no destination."""

import pathlib

import fixtures

from kronos.engine.types import StopReason
from kronos.recordings import load
from kronos.recordings.replay import ReplayOptions, replay
from tests.fakes.small_cloud import cloud
from tests.functional.watcher import base, test_audits

QUERY = ('POST', '/prometheus/api/v1/query')
BAD = {'status': 'error', 'errorType': 'bad_data', 'error': 'parse error'}
UNKNOWN = 'the hosts at fault are unknown: exclude_hosts_query: '


class ExclusionMixin:
    def setUp(self):
        super().setUp()
        self.recordings = self.useFixture(fixtures.TempDir()).path
        self.set(
            'kronos',
            exclude_hosts_query='faulty',
            record_dir=self.recordings,
        )

    def break_query(self):
        """Of all queries that one is refused."""
        real = self.cloud.answer

        def answer(method, path, query, body):
            if (method, path) == QUERY and body['query'] == 'faulty':
                raise cloud.Answer(400, BAD)
            return real(method, path, query, body)

        self.cloud.answer = answer
        return lambda: setattr(self.cloud, 'answer', real)

    def replayed(self):
        """The plan of the recording that the last audit has left."""
        last = max(pathlib.Path(self.recordings).iterdir())
        return replay(load.read(str(last)), ReplayOptions()).report


class AuditTestCase(ExclusionMixin, base.KronosTestCase):
    START_APPLIER = False

    def moves(self, audit):
        return [
            (
                action.input_parameters['resource_id'],
                action.input_parameters['source_node'],
                action.input_parameters['destination_node'],
            )
            for action in self.actions(self.plan(audit))
        ]

    def as_replayed(self, audit):
        moves = self.moves(audit)
        steps = self.replayed().steps
        self.assertEqual(
            moves,
            [(one.instance, one.source, one.destination) for one in steps],
        )
        return {destination for _, _, destination in moves}

    def test_no_host_is_at_fault(self):
        """Servers go to both of the hosts that have none."""
        for values in ({}, {'h3': 0, 'h4': 0}):
            self.cloud.faulty = values
            audit = self.create_audit()
            self.assertEqual({'h3', 'h4'}, self.as_replayed(audit))

    def test_a_host_at_fault(self):
        self.cloud.faulty = {'h3': 1, 'of another cloud': 1}
        audit = self.create_audit()
        self.assertEqual('SUCCEEDED', audit['state'], self.message(audit))
        self.assertNotIn('h3', self.as_replayed(audit))
        [scope] = self.replayed().scopes
        [told] = [text for text in scope.warnings if 'h3' in text]
        self.assertIn('exclude_hosts_query gives 1 for it', told)
        stranger = "no host of the cloud is called 'of another cloud' (1)"
        self.assertIn(stranger, self.message(audit))
        self.assertIn(stranger, ' '.join(scope.warnings))

    def test_what_is_no_number(self):
        self.cloud.faulty = {'h3': 'NaN', 'h4': 0}
        audit = self.create_audit()
        self.assertNotIn('h3', self.as_replayed(audit))

    def test_a_host_at_fault_may_give(self):
        self.cloud.faulty = {'h1': 1, 'h2': 1, 'h3': 1}
        audit = self.create_audit()
        self.assertEqual({'h4'}, self.as_replayed(audit))

    def test_the_message_says_so(self):
        self.cloud.faulty = dict.fromkeys(['h2', 'h3', 'h4'], 1)
        message = self.message(self.create_audit())
        self.assertIn('3 hosts take no instance (h2: exclude_hosts', message)

    def test_a_query_that_is_refused(self):
        self.break_query()
        audit = self.create_audit()
        self.assertEqual('FAILED', audit['state'])
        self.assertEqual([], self.plans(audit))
        message = self.message(audit)
        self.assertIn(f'alpha: {UNKNOWN}Prometheus at ', message)
        self.assertIn('bad_data: parse error', message)
        [scope] = self.replayed().scopes
        self.assertIs(StopReason.EXCLUSIONS_UNKNOWN, scope.stopped)
        self.assertIn(scope.reason, message)

    def test_a_partial_answer(self):
        """The host at fault may be in the part that is missing."""
        self.cloud.beside_data = {'isPartial': True}
        audit = self.create_audit()
        self.assertEqual('FAILED', audit['state'])
        self.assertEqual([], self.plans(audit))
        self.assertIn('the answer is partial', self.message(audit))
        [scope] = self.replayed().scopes
        self.assertIs(StopReason.EXCLUSIONS_UNKNOWN, scope.stopped)

    def test_an_answer_of_no_host(self):
        self.set('kronos', exclude_hosts_query='cpu_instance')
        audit = self.create_audit()
        self.assertEqual('FAILED', audit['state'])
        self.assertIn('neither a label "host" nor', self.message(audit))

    def test_nothing_is_drained_either(self):
        """Not even without metrics."""
        self.cloud.services['h2']['status'] = 'disabled'
        self.cloud.down |= set(test_audits.PROMETHEUS)
        audit = self.create_audit(
            goal='kronos_drain', strategy='kronos_evacuate'
        )
        self.assertEqual('FAILED', audit['state'])
        self.assertIn(UNKNOWN, self.message(audit))

    def test_no_secret_is_told(self):
        self.set(
            'kronos_prometheus',
            url=self.cloud.prometheus_url.replace('://', '://joe:s3cret@'),
        )
        self.break_query()
        self.assertNotIn('s3cret', self.message(self.create_audit()))
        for path in pathlib.Path(self.recordings).rglob('*.json'):
            self.assertNotIn('s3cret', path.read_text())


class ContinuousTestCase(ExclusionMixin, test_audits.Continuous):
    def test_it_goes_on_when_the_query_does(self):
        mend = self.break_query()
        for _ in range(2):
            state, message = self.run_audit()
            self.assertEqual('ONGOING', state)
            self.assertIn(UNKNOWN, message)
        mend()
        state, message = self.run_audit()
        self.assertEqual('ONGOING', state)
        self.assertIn('alpha: within all thresholds', message)


class ActionTestCase(ExclusionMixin, base.KronosTestCase):
    """A host that comes to be at fault when the plan is made already."""

    def setUp(self):
        super().setUp()
        self.set('kronos', max_retries=0)

    def ended(self):
        plan = self.plan(self.create_audit())
        self.change()
        self.start(plan)
        return [
            (
                action.input_parameters['destination_node'],
                action.state,
                action.status_message or '',
            )
            for action in self.actions(plan)
        ]

    def change(self):
        self.cloud.faulty = {'h3': 1}

    def test_only_what_would_go_there_is_refused(self):
        found = self.ended()
        self.assertEqual({'h3', 'h4'}, {to for to, _, _ in found})
        for to, state, message in found:
            if to == 'h3':
                self.assertEqual('FAILED', state)
                self.assertIn('[destination_excluded] destination h3', message)
        self.assertIn('SUCCEEDED', {state for _, state, _ in found})
        self.assertNotIn(
            'h3', {one.host for one in self.cloud.servers.values()}
        )

    def test_nobody_knows(self):
        self.change = self.break_query
        for _, state, message in self.ended():
            self.assertEqual('FAILED', state)
            self.assertIn(
                'KRONOS:PrometheusError: [prometheus_error] '
                'exclude_hosts_query: Prometheus at ',
                message,
            )
        self.assertEqual([], self.cloud.migrations)
