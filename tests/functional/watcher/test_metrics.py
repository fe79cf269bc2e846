# SPDX-License-Identifier: Apache-2.0
"""Do the metrics of the decision engine agree with Watcher's database?"""

import datetime
import pathlib
import threading
import time

import fixtures
from watcher import objects

from kronos.metrics import collection, process
from tests.fakes.small_cloud import cloud
from tests.functional.watcher import base

AUDIT = 'kronos.strategies.audit'
METRICS = 'kronos.strategies.outcome.audit_metrics'
QUERY = ('POST', '/prometheus/api/v1/query')
SECRET = 's3cret'
OTHER = 'dummy'
"""A strategy of Watcher's own."""


class MetricsTestCase(base.KronosTestCase):
    """The metrics of the only process are read where they are counted."""

    CAST_AS_CALL = False
    START_APPLIER = False

    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path
        self.set('kronos_metrics', directory=self.folder, interval=1)
        process.end()
        self.addCleanup(process.end)

    def values(self, name):
        """By the values of its labels."""
        return {
            labels: value
            for row, labels, value in process.of_process().values()
            if row.name == name
        }

    def value(self, name):
        """Of a metric without labels; None: it has no series."""
        return self.values(name).get(())

    def row(self, plan):
        return objects.ActionPlan.get_by_uuid(
            self.context, plan['uuid'], eager=True
        )


class TestPlans(MetricsTestCase):
    def waiting(self):
        return (
            self.value('kronos_plans_waiting'),
            self.value('kronos_plans_waiting_oldest_timestamp_seconds'),
        )

    def idle(self):
        return (
            self.value('kronos_plans_not_started'),
            self.value('kronos_plans_not_started_newest_timestamp_seconds'),
        )

    def look(self, **fields):
        """Have an audit end, which shows the plans."""
        return self.create_audit(force=True, **fields)

    def press_start(self, plan):
        response = self.admin_api.patch(
            f'/action_plans/{plan["uuid"]}',
            [{'op': 'replace', 'path': '/state', 'value': 'PENDING'}],
        )
        self.assertEqual(200, response.status_code, response.text)

    def test_a_plan_that_is_not_started(self):
        plan = self.plan(self.look())
        created = self.row(plan).created_at
        self.assertEqual(datetime.timedelta(0), created.utcoffset())
        self.assertEqual((1.0, created.timestamp()), self.idle())
        self.assertEqual((0.0, None), self.waiting())

    def test_plans_that_no_applier_runs(self):
        plan = self.plan(self.look())
        self.press_start(plan)
        since = self.row(plan).updated_at.timestamp()
        newer = self.plan(self.look(parameters={'aggregates': 'alpha'}))
        self.assertEqual((1.0, since), self.waiting())
        self.assertEqual('SUCCEEDED', newer['state'])
        # It was started by now: nothing is left to be.
        self.assertEqual((0.0, None), self.idle())

    def test_an_empty_plan_waits_for_nobody(self):
        self.cloud.servers.clear()
        self.assertEqual('SUCCEEDED', self.plan(self.look())['state'])
        self.assertEqual((0.0, None), self.idle())
        self.assertEqual((0.0, None), self.waiting())

    def test_plans_of_other_strategies(self):
        plan = self.plan(self.look())
        self.press_start(plan)
        row = self.row(plan)
        other = objects.Strategy.get_by_name(self.context, OTHER)
        row.strategy_id = other.id
        row.save()
        self.cloud.servers.clear()
        self.look()
        self.assertEqual((0.0, None), self.waiting())

    def test_plans_that_are_over(self):
        plan = self.plan(self.look())
        row = self.row(plan)
        row.state = objects.action_plan.State.CANCELLED
        row.save()
        self.cloud.servers.clear()
        self.look()
        self.assertEqual((0.0, None), self.idle())


class TestAudits(MetricsTestCase):
    def outcomes(self):
        return {
            outcome: number
            for (_, outcome), number in self.values(
                'kronos_audits_total'
            ).items()
        }

    def moves(self):
        return sum(self.values('kronos_moves_planned_total').values())

    def interrupted(self, do):
        """Have something done once, while an audit looks at the cloud."""
        is_done = threading.Event()
        real = self.cloud.answer

        def answer(method, path, query, body):
            if (method, path) == QUERY and not is_done.is_set():
                is_done.set()
                do()
            return real(method, path, query, body)

        self.cloud.answer = answer

    def test_each_outcome_once(self):
        plan = self.plan(self.create_audit())
        moves = len(self.actions(plan))
        self.assertEqual({'planned': 1.0}, self.outcomes())
        self.assertEqual(moves, self.moves())
        self.set('kronos', policies_file='/nowhere')
        self.create_audit(force=True)
        self.assertEqual({'planned': 1.0, 'failed': 1.0}, self.outcomes())
        self.set('kronos', policies_file=self.policies_file)
        self.cloud.servers.clear()
        self.create_audit(force=True)
        self.assertEqual(
            {'planned': 1.0, 'failed': 1.0, 'empty': 1.0}, self.outcomes()
        )
        self.assertEqual(moves, self.moves())

    def test_options_that_are_wrong(self):
        """The first audit of a process is counted, too."""
        self.set('kronos', soft_rule_penalty=float('nan'))
        self.create_audit()
        self.assertEqual({'failed': 1.0}, self.outcomes())

    def test_a_second_look_is_no_second_audit(self):
        self.set('kronos', effect_settling_seconds=86400)
        older = self.row(self.plan(self.create_audit()))

        def start_older():
            older.state = objects.action_plan.State.ONGOING
            older.save()

        self.assertEqual({'planned': 1.0}, self.outcomes())
        before = self.moves()
        self.interrupted(start_older)
        late = self.create_audit(force=True)
        moves = len(self.actions(self.plan(late)))
        ends = self.outcomes()
        self.assertEqual(2.0, sum(ends.values()), ends)
        self.assertEqual(before + moves, self.moves())

    def test_a_plan_that_is_not_written(self):
        self.useFixture(
            fixtures.MonkeyPatch(
                'kronos.watcher_db.publishing.publish', _refuse
            )
        )
        self.create_audit()
        self.assertEqual({'failed': 1.0}, self.outcomes())
        self.assertEqual(0, self.moves())


def _refuse(*_):
    raise OSError('the database is away')


class TestSecrets(MetricsTestCase):
    """Of the decision engine and of the applier, in one process."""

    START_APPLIER = True

    def setUp(self):
        super().setUp()
        url = self.cloud.prometheus_url.replace('://', f'://joe:{SECRET}@')
        self.set('kronos_prometheus', url=url)

    def page(self):
        """What the exporter serves once the file is up to date."""
        files = collection.Collection(self.folder)
        path = pathlib.Path(self.folder, 'kronos-decision-engine-0.prom')
        begun = path.stat().st_mtime_ns if path.exists() else 0
        deadline = time.monotonic() + 60
        # By the second one that is new, all is written.
        for _ in range(2):
            while not path.exists() or path.stat().st_mtime_ns == begun:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            begun = path.stat().st_mtime_ns
        page = files.text().decode()
        for text in page, path.read_text():
            self.assertNotIn(SECRET, text)
        return page

    def assert_counted(self, *words):
        page = self.page()
        for word in words:
            self.assertIn(word, page)

    def test_errors_that_repeat_them(self):
        """Of Prometheus, of Nova for a move, and of a fault of our own."""
        for server in self.cloud.servers.values():
            server.script = ('accepted', 'error')
            server.refusal = f'No valid host was found. {SECRET}'
        few = {'aggregates': 'alpha', 'max_migrations': 1}
        self.start(self.plan(self.create_audit(parameters=few)))
        self.assert_counted('kronos_migrations_total{', 'outcome="failed"')
        real = self.cloud.answer

        def refuse(method, path, query, body):
            if (method, path) == QUERY:
                raise cloud.Answer(400, _error(SECRET))
            return real(method, path, query, body)

        self.cloud.answer = refuse
        self.create_audit(force=True)
        self.assert_counted('result="unreachable"')
        self.cloud.answer = real
        with fixtures.MonkeyPatch(f'{AUDIT}.run', _raise):
            self.create_audit(force=True)
        with fixtures.MonkeyPatch(f'{METRICS}._of_scope', _raise):
            self.create_audit(force=True)
        self.assert_counted('kronos_audits_total{', 'outcome="failed"')


def _error(text):
    return {'status': 'error', 'errorType': 'bad_data', 'error': text}


def _raise(*_):
    raise ValueError(SECRET)
