# SPDX-License-Identifier: Apache-2.0
"""Watcher's own rows as events."""

import datetime
import time
from unittest import mock

import fixtures
from keystoneauth1 import adapter, noauth
from keystoneauth1 import session as ks_session
from watcher import objects

from kronos.clients.watcher import WatcherClient
from kronos.engine.eligibility import cooldown
from kronos.engine.types import Origin, Outcome
from kronos.snapshots import watcher_actions, watcher_api
from kronos.strategies import history
from tests.fakes.small_cloud import cloud
from tests.functional.watcher import base

UNTIL_ABORTED = ('accepted', *['running'] * 1000)


def past(since=None, audit=''):
    return history.events(cooldown.Since(since or 0.0, since), audit)


class HistoryTestCase(base.KronosTestCase):
    CAST_AS_CALL = False

    def setUp(self):
        super().setUp()
        self.set('kronos', migration_timeout=30, queue_timeout=30)

    def planned(self, moves=1):
        return self.plan(
            self.create_audit(
                parameters={'aggregates': 'alpha', 'max_migrations': moves}
            )
        )

    def told(self, since=0.0):
        """Outcome and error type of every event; the API has the same."""
        found = past(since)
        if all(e.outcome in (Outcome.MOVED, Outcome.FAILED) for e in found):
            # What goes on goes on between two looks.
            self.assertEqual(sorted(found, key=str), self.by_api(since))
        return [(e.outcome, e.error_type) for e in found]

    def by_api(self, since):
        """What kronos-record finds."""
        session = ks_session.Session(
            auth=noauth.NoAuth(), additional_headers=self.admin_api._headers()
        )
        asked = adapter.Adapter(
            session,
            service_type='infra-optim',
            endpoint_override=self.admin_api.base_url.removesuffix('/v1'),
        )
        found = watcher_api.events(
            WatcherClient(asked), cooldown.Since(since or 0.0, since)
        )
        return sorted(found, key=str)

    def moving(self, plan, number=0):
        """The server of an action, and the action."""
        action = self.actions(plan)[number]
        uuid = action.input_parameters['resource_id']
        return self.cloud.servers[uuid], action

    def patch(self, plan, state):
        response = self.admin_api.patch(
            f'/action_plans/{plan["uuid"]}',
            [{'op': 'replace', 'path': '/state', 'value': state}],
        )
        self.assertEqual(200, response.status_code, response.text)

    def delete(self, plan):
        response = self.admin_api.delete(f'/action_plans/{plan["uuid"]}')
        self.assertEqual(204, response.status_code, response.text)

    def plan_row(self, plan):
        return objects.ActionPlan.get_by_uuid(
            self.context, plan['uuid'], eager=True
        )

    def action_row(self, plan, number=0):
        uuid = self.moving(plan, number)[1].uuid
        return objects.Action.get_by_uuid(self.context, uuid, eager=True)

    def rewrite(self, row, **fields):
        """Leave a row as a service that was killed would."""
        for name, value in fields.items():
            setattr(row, name, value)
        row.save()


class TestOutcomes(HistoryTestCase):
    def test_nothing(self):
        self.assertEqual([], past())

    def test_recommended_and_never_started(self):
        plan = self.planned()
        self.assertEqual([], self.told(None))
        self.patch(plan, 'CANCELLED')
        self.assertEqual([], self.told(None))
        self.delete(plan)
        self.assertEqual([], self.told(None))

    def test_succeeded(self):
        before = time.time()
        plan = self.planned()
        self.start(plan)
        (event,) = past()
        _, action = self.moving(plan)
        told = action.input_parameters
        self.assertEqual(
            (told['resource_id'], told['source_node'], 'alpha'),
            (event.instance, event.source, event.scope),
        )
        self.assertEqual(told['destination_node'], event.destination)
        self.assertEqual(
            (Outcome.MOVED, Origin.WATCHER, 'SUCCEEDED', plan['uuid']),
            (event.outcome, event.origin, event.status, event.plan),
        )
        # The column holds whole seconds or less.
        self.assertLessEqual(before - 1, event.at)
        self.assertLessEqual(event.at, time.time())
        self.assertEqual(1, len(past(event.at - 1)))
        self.assertEqual([], past(event.at + 1))
        # Of moves Nova tells; what a quarantine is for may be older.
        long_ago = cooldown.Since(event.at + 1, None)
        self.assertEqual([], history.events(long_ago))

    def test_skipped(self):
        plan = self.planned()
        self.moving(plan)[0].host = 'h5'
        self.start(plan)
        self.assertEqual('SKIPPED', self.moving(plan)[1].state)
        self.assertEqual([], self.told())

    def test_preflight(self):
        plan = self.planned()
        self.moving(plan)[0].locked = True
        self.start(plan)
        self.assertEqual([(Outcome.FAILED, 'PreFlightError')], self.told())

    def test_failed(self):
        """Failures are told from another time on than moves."""
        plan = self.planned()
        self.moving(plan)[0].script = ('accepted', 'running', 'failed')
        self.start(plan)
        self.assertEqual([(Outcome.FAILED, 'MigrationFailed')], self.told())
        later = time.time() + 3600
        (event,) = history.events(cooldown.Since(later, None))
        self.assertEqual('MigrationFailed', event.error_type)
        self.assertEqual([], history.events(cooldown.Since(0.0, later)))

    def test_timeout(self):
        self.set('kronos', migration_timeout=1, migration_timeout_per_gib=0)
        plan = self.planned()
        self.moving(plan)[0].script = UNTIL_ABORTED
        self.start(plan)
        self.assertEqual([(Outcome.FAILED, 'MigrationTimeout')], self.told())

    def test_nova_is_away(self):
        plan = self.planned()
        self.cloud.down.add(('GET', '/nova/v2.1/servers'))
        self.start(plan)
        self.assertEqual([(Outcome.FAILED, 'NovaClientError')], self.told())

    def test_nova_was_away_for_one_call(self):
        """What a further try heals is no failure."""
        plan = self.planned()
        answer, away = self.cloud.answer, ['once']

        def first_away(method, path, *rest):
            if path.startswith('/nova/v2.1/servers/') and away:
                away.pop()
                raise cloud.Answer(503, {'error': {'message': 'away'}})
            return answer(method, path, *rest)

        with mock.patch.object(self.cloud, 'answer', first_away):
            self.start(plan)
        self.assertEqual([], away)
        self.assertEqual([(Outcome.MOVED, '')], self.told())

    def test_what_nobody_foresaw(self):
        plan = self.planned()
        _, action = self.moving(plan)
        parameters = dict(action.input_parameters, sequence='first')
        row = objects.Action.get_by_uuid(self.context, action.uuid, eager=True)
        self.rewrite(row, input_parameters=parameters)
        self.admin_api.patch(
            f'/action_plans/{plan["uuid"]}',
            [{'op': 'replace', 'path': '/state', 'value': 'PENDING'}],
        )
        self.wait_for('action_plans', plan['uuid'])
        self.assertEqual([(Outcome.FAILED, 'ValidationError')], self.told())


class TestUnderWay(HistoryTestCase):
    def test_a_started_plan(self):
        plan = self.planned(moves=3)
        for one in self.cloud.servers.values():
            one.script = UNTIL_ABORTED
        self.patch(plan, 'PENDING')
        self.wait_for('action_plans', plan['uuid'], ('ONGOING',))
        self.until(lambda: (Outcome.UNDER_WAY, '') in self.told())
        self.assertEqual(3, len(self.told()))
        self.assertLessEqual(
            {outcome for outcome, _ in self.told()},
            {Outcome.UNDER_WAY, Outcome.PLANNED},
        )
        self.assertIn((Outcome.PLANNED, ''), self.told())
        # What is not over is told however old it is.
        self.assertEqual(3, len(self.told(time.time() + 3600)))
        self.patch(plan, 'CANCELLING')
        self.wait_for('action_plans', plan['uuid'])
        self.assertEqual(
            {(Outcome.FAILED, 'MigrationCancelled')}, set(self.told())
        )

    def until(self, is_so):
        deadline = time.monotonic() + 60
        while not is_so():
            if time.monotonic() > deadline:
                self.fail(f'it stays {self.told()}')
            time.sleep(0.05)

    def test_pending(self):
        """No applier has taken the plan yet."""
        plan = self.planned()
        row = self.plan_row(plan)
        for state, told in [
            ('PENDING', [(Outcome.PLANNED, '')]),
            ('ONGOING', [(Outcome.PLANNED, '')]),
            # An action may be about to end as FAILED.
            ('CANCELLING', [(Outcome.PLANNED, '')]),
            ('SUPERSEDED', []),
        ]:
            self.rewrite(row, state=state)
            self.assertEqual(told, self.told(), state)
            for event in past():
                self.assertEqual(
                    (state, plan['uuid']), (event.status, event.plan)
                )

    def test_since_when_nothing_of_a_plan_changed(self):
        """The end of one action shows that the others have their turn."""
        plan = self.planned(moves=2)
        self.rewrite(self.plan_row(plan), state='ONGOING')
        (first,) = {event.at for event in past()}
        later = datetime.datetime(2100, 1, 1)
        self.rewrite(self.action_row(plan), state='SKIPPED', updated_at=later)
        (event,) = past()
        self.assertEqual(Outcome.PLANNED, event.outcome)
        self.assertLess(first, event.at)

    def test_a_row_of_another_kind(self):
        """It is left out and named; the others are told."""
        plan = self.planned(moves=2)
        self.rewrite(self.plan_row(plan), state='ONGOING')
        row = self.action_row(plan)
        whole = row.input_parameters
        for name in watcher_actions.NEEDED:
            odd = {k: v for k, v in whole.items() if k != name}
            for told in (odd, {**odd, name: 5}):
                log = self.useFixture(fixtures.FakeLogger())
                self.rewrite(row, input_parameters=told)
                self.assertEqual([(Outcome.PLANNED, '')], self.told())
                self.assertIn(f'ignores action {row.uuid} in', log.output)
                self.assertIn(f'do not contain {name}', log.output)

    def test_an_action_that_fails_meanwhile(self):
        """Between the queries of one audit, it is told once."""
        plan = self.planned()
        self.rewrite(self.plan_row(plan), state='ONGOING')
        row = self.action_row(plan)
        self.rewrite(row, state='ONGOING')
        listed = objects.Action.list
        ends = [
            {
                'state': 'FAILED',
                'status_message': 'Action failed in execute: '
                'KRONOS:MigrationFailed:x',
            }
        ]

        def then_it_ends(*args, **kwargs):
            found = listed(*args, **kwargs)
            if ends:
                self.rewrite(row, **ends.pop())
            return found

        with mock.patch.object(objects.Action, 'list', then_it_ends):
            self.assertEqual(
                [(Outcome.FAILED, 'MigrationFailed')], self.told()
            )

    def test_left_behind(self):
        """A row that says ONGOING of a plan that is over says nothing."""
        plan = self.planned()
        row = objects.ActionPlan.get_by_uuid(
            self.context, plan['uuid'], eager=True
        )
        action = objects.Action.get_by_uuid(
            self.context, self.moving(plan)[1].uuid, eager=True
        )
        self.rewrite(action, state='ONGOING')
        for state, told in [
            ('ONGOING', [(Outcome.UNDER_WAY, '')]),
            ('CANCELLING', [(Outcome.UNDER_WAY, '')]),
            ('CANCELLED', []),
            ('FAILED', []),
        ]:
            self.rewrite(row, state=state)
            self.assertEqual(told, self.told(), state)

    def test_applier_that_was_stopped(self):
        """Watcher cancels the rows; Nova knows what became of the move."""
        plan = self.planned()
        action = objects.Action.get_by_uuid(
            self.context, self.moving(plan)[1].uuid, eager=True
        )
        self.rewrite(
            action,
            state='CANCELLED',
            status_message='Action was cancelled because Applier h was '
            'stopped while the action plan was ongoing.',
        )
        self.assertEqual([], self.told(None))


class TestLaunchedByItself(HistoryTestCase):
    """A plan stays RECOMMENDED while all workers of the applier are busy."""

    def launch(self, plan, **audit):
        row = objects.Audit.get_by_uuid(
            self.context, plan['audit_uuid'], eager=True
        )
        self.rewrite(row, auto_trigger=True, **audit)

    def test_it_is_under_way(self):
        """What an operator is to start is not."""
        plan = self.planned()
        self.assertEqual([], past())
        self.launch(plan)
        (event,) = past()
        self.assertEqual(
            (Outcome.PLANNED, 'RECOMMENDED', plan['uuid']),
            (event.outcome, event.status, event.plan),
        )

    def test_an_applier_has_taken_it(self):
        """It waits for a worker there, so its trigger is not lost."""
        plan = self.planned()
        self.launch(plan)
        self.rewrite(self.plan_row(plan), hostname='applier')
        (event,) = past()
        self.assertEqual('PENDING', event.status)

    def test_not_for_ever(self):
        """Its message may have been lost."""
        plan = self.planned()
        self.launch(plan)
        old = datetime.datetime.now(datetime.UTC) - datetime.timedelta(
            seconds=601
        )
        self.rewrite(self.plan_row(plan), created_at=old)
        self.assertEqual([], past())

    def test_what_watcher_is_about_to_drop(self):
        """The plan of a continuous audit gives way to its next one."""
        own, other = self.planned(), self.planned()
        for kind, told in [('CONTINUOUS', 1), ('ONESHOT', 2), ('EVENT', 2)]:
            for plan in (own, other):
                self.launch(plan, audit_type=kind)
            self.assertEqual(told, len(past(audit=own['audit_uuid'])), kind)
            self.assertEqual(2, len(past(audit=base.uuid(99))))


class TestDeletedPlan(HistoryTestCase):
    def test_failures_stay_known(self):
        """With the time from which on they can have happened."""
        plan = self.planned(moves=2)
        self.moving(plan)[0].locked = True
        planned_at = self.action_row(plan).created_at.timestamp()
        self.start(plan)
        self.assertEqual(2, len(self.told()))
        self.delete(plan)
        (event,) = past(0.0)
        self.assertEqual(
            (Outcome.FAILED, 'PreFlightError', 'DELETED'),
            (event.outcome, event.error_type, event.status),
        )
        self.assertEqual(planned_at, event.began)
        self.assertEqual('spread', event.phase)


class TestOtherActions(HistoryTestCase):
    def test_they_are_none_of_ours(self):
        plan = self.planned()
        action = objects.Action.get_by_uuid(
            self.context, self.moving(plan)[1].uuid, eager=True
        )
        self.rewrite(action, state='SUCCEEDED', action_type='nop')
        self.assertEqual([], self.told(None))
