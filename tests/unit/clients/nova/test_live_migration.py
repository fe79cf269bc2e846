# SPDX-License-Identifier: Apache-2.0
"""Live migrations at the wire."""

import time
from typing import Any

import fixtures
import requests
import urllib3.exceptions
from oslotest import base

from kronos.clients import schema
from kronos.clients.nova import rows
from kronos.clients.nova.progress import Progress
from kronos.clients.nova.rows import AbortOutcome, MigrationStatus
from kronos.engine.types import Event, Origin, Outcome
from tests.fakes.keystone import NOVA
from tests.unit.clients.nova import test_client

ACTION = f'{NOVA}/servers/vm/action'
MIGRATIONS = f'{NOVA}/os-migrations'
REQUEST = 'req-11111111-2222-3333-4444-555555555555'
LISTED = f'{NOVA}/servers/vm/os-instance-actions'
MINUTE_5 = '2023-11-14T22:05:00.000000'
IN_PROGRESS = f'{NOVA}/servers/vm/migrations'


def migration(number: int, **more: Any) -> dict[str, Any]:
    return {
        'id': number,
        'uuid': f'migration-{number}',
        'instance_uuid': 'vm',
        'migration_type': 'live-migration',
        'status': 'completed',
        'source_compute': 'cmp1',
        'dest_compute': 'cmp2',
        'created_at': f'2023-11-14T22:{number:02}:00.000000',
        'updated_at': None,
        **more,
    }


def event(name: str = 'conductor_live_migrate_instance', **more: Any) -> Any:
    return {
        'event': name,
        'start_time': '2023-11-14T22:05:00.000000',
        'finish_time': None,
        'result': None,
        'details': None,
        **more,
    }


class LiveMigrateTestCase(test_client.NovaTestCase):
    def accepts(self) -> None:
        self.wire.post(
            ACTION,
            status_code=202,
            headers={'x-compute-request-id': REQUEST},
        )

    def posts(self) -> list[Any]:
        return self.keystone.requests('/action')


class TestLiveMigrate(LiveMigrateTestCase):
    def test_the_request(self) -> None:
        """Nova finds out what the storage asks for; never force."""
        self.accepts()
        self.assertEqual(
            REQUEST, self.live_migration.live_migrate('vm', 'cmp2')
        )
        (request,) = self.posts()
        self.assertEqual(
            {'os-migrateLive': {'host': 'cmp2', 'block_migration': 'auto'}},
            request.json(),
        )
        self.assertEqual(
            'compute 2.100', request.headers['OpenStack-API-Version']
        )

    def test_a_refusal(self) -> None:
        text = 'Compute host cmp9 could not be found.'
        self.wire.post(
            ACTION,
            status_code=400,
            json={'badRequest': {'code': 400, 'message': text}},
        )
        error = self.fails(self.live_migration.live_migrate, 'vm', 'cmp9')
        self.assertIn(text, str(error))
        self.assertEqual(400, error.kwargs['status'])

    def test_what_may_have_arrived_is_not_sent_twice(self) -> None:
        reset = urllib3.exceptions.ProtocolError(
            'Connection aborted.', ConnectionResetError(104, 'reset')
        )
        for answer in (
            {'status_code': 429},
            {'status_code': 500},
            {'status_code': 503, 'headers': {'Retry-After': '1'}},
            {'status_code': 504},
            {'exc': requests.ConnectionError(reset)},
            {'exc': requests.ReadTimeout('slow')},
        ):
            before = len(self.posts())
            self.wire.post(ACTION, **answer)
            error = self.fails(self.live_migration.live_migrate, 'vm', 'cmp2')
            self.assertEqual(before + 1, len(self.posts()))
            self.assertTrue(error.kwargs['transient'])
            self.assertIsNone(error.kwargs['sent'])
        self.assertEqual([], self.slept)

    def test_an_answer_that_is_not_of_nova(self) -> None:
        """It may have got the request all the same."""
        self.wire.post(ACTION, status_code=202)
        error = self.fails(self.live_migration.live_migrate, 'vm', 'cmp2')
        self.assertIn('the answer was lost', str(error))
        self.assertTrue(error.kwargs['transient'])
        self.assertIsNone(error.kwargs['sent'])
        self.assertEqual(1, len(self.posts()))

    def test_what_never_arrived_is_sent_again(self) -> None:
        refused = urllib3.exceptions.NewConnectionError(
            urllib3.HTTPConnectionPool('h'), 'refused'
        )
        worn_out = urllib3.exceptions.MaxRetryError(
            urllib3.HTTPConnectionPool('h'), '/', refused
        )
        failure = {'exc': requests.ConnectionError(worn_out)}
        success = {
            'status_code': 202,
            'headers': {'x-compute-request-id': REQUEST},
        }
        self.wire.post(ACTION, [failure, failure, success])
        self.assertEqual(
            REQUEST, self.live_migration.live_migrate('vm', 'cmp2')
        )
        self.assertEqual(3, len(self.posts()))
        self.wire.post(ACTION, [failure])
        error = self.fails(self.live_migration.live_migrate, 'vm', 'cmp2')
        self.assertIs(False, error.kwargs['sent'])


class TestStatus(test_client.NovaTestCase):
    def action(self, *events: Any, earlier: Any = ()) -> None:
        """This request's events, and its predecessors', newest first."""
        listed = []
        for name, of_it in ((REQUEST, events), *earlier):
            self.wire.get(
                f'{LISTED}/{name}', json={'instanceAction': {'events': of_it}}
            )
            listed.append({'request_id': name, 'action': 'live-migration'})
        self.wire.get(LISTED, json={'instanceActions': listed})

    def history(self, *numbers: int, **newest: Any) -> None:
        """Nova lists the newest first."""
        rows = [migration(number) for number in sorted(numbers)[::-1]]
        if rows:
            rows[0].update(newest)
        self.wire.get(MIGRATIONS, json={'migrations': rows})

    def status(self, key: str = REQUEST) -> MigrationStatus:
        status: MigrationStatus = self.live_migration.get_migration_status(
            'vm', key
        )
        return status

    def test_before_the_conductor_has_it(self) -> None:
        self.action()
        status = self.status()
        self.assertEqual(MigrationStatus('vm', 'accepted'), status)
        self.assertFalse(status.is_over)
        self.action(event())
        self.history(1, 2)
        self.assertEqual(MigrationStatus('vm', 'accepted'), self.status())

    def test_the_first_since_the_request(self) -> None:
        self.action(event())
        self.history(4, 5, 6)
        status = self.status()
        self.assertEqual(('migration-5', 5), (status.uuid, status.id))
        self.assertEqual('completed', status.status)
        self.assertEqual(('cmp1', 'cmp2'), (status.source, status.destination))
        self.assertEqual(1699999500.0, status.created_at)
        self.assertEqual(status.created_at, status.updated_at)
        self.assertTrue(status.is_over)
        (request,) = self.keystone.requests('/os-migrations')
        self.assertEqual(
            {'migration_type': ['live-migration'], 'instance_uuid': ['vm']},
            request.qs,
        )

    def test_another_in_the_same_second(self) -> None:
        """Databases keep whole seconds; a try may follow at once."""
        first = ('req-a', [event(start_time=MINUTE_5)])
        self.action(event(start_time=MINUTE_5), earlier=[first])
        over = {'status': 'error', 'created_at': MINUTE_5}
        # It has not got its own yet.
        self.rows(migration(4, **over))
        self.assertEqual(MigrationStatus('vm', 'accepted'), self.status())
        self.rows(migration(5, **over), migration(4, **over))
        self.assertEqual('migration-5', self.status().uuid)
        # The first was taken a moment before the second began.
        first = ('req-a', [event(start_time='2023-11-14T22:04:59.000000')])
        self.action(event(start_time=MINUTE_5), earlier=[first])
        self.rows(migration(4, **over))
        self.assertEqual(MigrationStatus('vm', 'accepted'), self.status())
        # Long before, and what there is is its own.
        first = ('req-a', [event(start_time='2023-11-14T22:04:58.000000')])
        self.action(event(start_time=MINUTE_5), earlier=[first])
        self.assertEqual('migration-4', self.status().uuid)
        # The conductor never had the other.
        self.action(event(start_time=MINUTE_5), earlier=[('req-a', [])])
        self.assertEqual('migration-4', self.status().uuid)

    def test_later_ones_are_of_others(self) -> None:
        """The next request may come as soon as this one is over."""
        self.action(event(start_time=MINUTE_5))
        over = {'status': 'error', 'created_at': MINUTE_5}
        self.rows(migration(6), migration(5, **over))
        self.assertEqual('migration-5', self.status().uuid)
        # What is not over cannot be of an earlier request.
        self.wire.reset()
        self.rows(migration(5, status='queued', created_at=MINUTE_5))
        self.assertEqual('migration-5', self.status().uuid)
        self.assertEqual([], self.keystone.requests('/os-instance-actions'))

    def rows(self, *newest_first: Any) -> None:
        self.wire.get(MIGRATIONS, json={'migrations': list(newest_first)})

    def test_it_failed_before_there_was_a_migration(self) -> None:
        self.action(event(result='Error'))
        self.history()
        self.assertEqual(MigrationStatus('vm', 'error'), self.status())

    def test_by_uuid(self) -> None:
        self.history(4, 5)
        self.assertEqual(4, self.status('migration-4').id)
        error = self.fails(
            self.live_migration.get_migration_status, 'vm', 'migration-9'
        )
        self.assertEqual(404, error.kwargs['status'])

    def test_progress(self) -> None:
        """Of what runs, and of its last steps."""
        other = {'uuid': 'migration-x', 'memory_total_bytes': 1}
        mine = {
            'uuid': 'migration-5',
            'memory_total_bytes': 4000,
            'memory_remaining_bytes': 1000,
        }
        progress = Progress(memory_total=4000, memory_remaining=1000)
        for status in ('running', 'post-migrating'):
            self.history(5, status=status)
            self.wire.get(IN_PROGRESS, json={'migrations': [other, mine]})
            self.assertEqual(progress, self.status('migration-5').progress)
            self.wire.get(
                IN_PROGRESS, json={'migrations': [{'uuid': 'migration-5'}]}
            )
            self.assertIsNone(self.status('migration-5').progress)
        # It may be over by the second call.
        self.wire.get(IN_PROGRESS, json={'migrations': []})
        self.assertIsNone(self.status('migration-5').progress)

    def test_progress_is_not_worth_an_error(self) -> None:
        """A Nova that validates its own answers refuses figures of 0."""
        self.history(5, status='running')
        for status in (400, 503):
            self.wire.get(IN_PROGRESS, status_code=status)
            result = self.status('migration-5')
            self.assertEqual('running', result.status)
            self.assertIsNone(result.progress)

    def test_no_progress_before_it_runs(self) -> None:
        for status in ('accepted', 'queued', 'preparing', 'completed'):
            self.history(5, status=status)
            self.assertIsNone(self.status('migration-5').progress)
        self.assertEqual([], self.keystone.requests('/vm/migrations'))

    def test_what_is_over(self) -> None:
        for status, over in (
            ('accepted', False),
            ('queued', False),
            ('preparing', False),
            ('running', False),
            ('post-migrating', False),
            ('completed', True),
            ('error', True),
            ('failed', True),
            ('cancelled', True),
        ):
            self.assertEqual(over, MigrationStatus('vm', status).is_over)

    def test_the_reason(self) -> None:
        for second in ('00', '01'):
            began = f'2023-11-14T22:05:{second}.000000'
            asked = event(
                result='Error',
                details='No valid host was found.\nThere are not enough.',
                start_time='2023-11-14T22:05:00.000000',
            )
            check = event(
                'compute_check',
                result='Error',
                details='CPU differs',
                start_time=began,
            )
            fine = event('compute_rollback', result='Success', details='fine')
            # Nova lists the newest first.
            self.action(fine, check, asked)
            self.assertEqual(
                'CPU differs; No valid host was found. There are not enough.',
                self.live_migration.actions.refusal_reason('vm', REQUEST),
            )
        self.action(event(result='Error'))
        self.assertEqual(
            'conductor_live_migrate_instance',
            self.live_migration.actions.refusal_reason('vm', REQUEST),
        )
        self.action(event(result='Success'))
        self.assertEqual(
            '', self.live_migration.actions.refusal_reason('vm', REQUEST)
        )


class TestHistory(LiveMigrateTestCase):
    SINCE = 1699999200.0

    def gives(self, *rows: Any) -> None:
        self.wire.get(MIGRATIONS, json={'migrations': list(rows)})

    def test_pages(self) -> None:
        self.wire.get(
            MIGRATIONS,
            json={
                'migrations': [
                    migration(1, updated_at='2023-11-14T22:20:00.000000')
                ],
                'migrations_links': [{'rel': 'next', 'href': 'http://x'}],
            },
        )
        self.wire.get(
            f'{MIGRATIONS}?marker=migration-1',
            # Ids repeat between cells.
            json={'migrations': [migration(1, uuid='in-another-cell')]},
        )
        first, second = self.nova.list_migrations(self.SINCE)
        self.assertEqual(
            Event(
                'vm',
                'cmp1',
                'cmp2',
                Outcome.MOVED,
                self.SINCE + 1200.0,
                Origin.NOVA,
                status='completed',
                seconds=1140.0,
            ),
            first,
        )
        self.assertEqual(60.0, second.at - self.SINCE)
        # Of every type.
        request = self.keystone.requests('/os-migrations')[0]
        self.assertEqual(
            {'changes-since': ['2023-11-14t22:00:00z']}, request.qs
        )

    def test_outcomes(self) -> None:
        """Of all the statuses that Nova has, and of one that it has not."""
        for statuses, outcome in (
            (
                'accepted pre-migrating queued preparing running migrating '
                'post-migrating reverting odd',
                Outcome.UNDER_WAY,
            ),
            (
                'completed confirmed confirming done finished reverted',
                Outcome.MOVED,
            ),
            ('cancelled conflict error failed', Outcome.FAILED),
        ):
            for status in statuses.split():
                self.gives(migration(1, status=status))
                (event,) = self.nova.list_migrations(self.SINCE)
                self.assertEqual(
                    (outcome, status), (event.outcome, event.status)
                )

    def test_moves_by_other_means(self) -> None:
        self.gives(
            migration(1, migration_type='migration', status='finished'),
            migration(2, migration_type='resize', dest_compute='cmp1'),
            migration(3, migration_type='resize'),
            migration(4, migration_type='evacuation', status='done'),
            migration(5, status='error', dest_compute=None),
        )
        events = self.nova.list_migrations(self.SINCE)
        self.assertEqual(
            [1, 3, 4, 5], [(one.at - self.SINCE) / 60 for one in events]
        )
        self.assertEqual(
            [False, True, False, False], [one.is_resize for one in events]
        )
        self.assertEqual(('cmp1', ''), _ends(events[-1]))

    def test_the_past_has_when_each_began(self) -> None:
        late = '2023-11-14T22:20:00.000000'
        for kind in ('live-migration', 'resize'):
            self.gives(migration(1, migration_type=kind, updated_at=late))
            (event,) = self.nova.list_past_migrations(self.SINCE)
            self.assertEqual(
                (60.0, 1200.0),
                (event.began - self.SINCE, event.at - self.SINCE),
            )

    def test_a_revert_is_a_move_back(self) -> None:
        """It changed the load of both hosts."""
        late = '2023-11-14T22:20:00.000000'
        for kind in ('resize', 'migration'):
            self.gives(
                migration(
                    1, migration_type=kind, status='reverted', updated_at=late
                )
            )
            (event,) = self.nova.list_migrations(self.SINCE)
            self.assertEqual(('cmp2', 'cmp1'), _ends(event))
            self.assertEqual(1200.0, event.at - self.SINCE)
        # Where it began, as long as it is not over.
        self.gives(migration(1, migration_type='resize', status='reverting'))
        (event,) = self.nova.list_migrations(self.SINCE)
        self.assertEqual(('cmp1', 'cmp2'), _ends(event))

    def test_a_host_that_comes_back_repeats_no_evacuation(self) -> None:
        """It turns "done" into "completed", days later perhaps."""
        late = '2023-11-14T22:50:00.000000'
        for kind, status, minutes in (
            ('evacuation', 'done', 1),
            ('evacuation', 'completed', 1),
            ('evacuation', 'failed', 50),
            ('live-migration', 'completed', 50),
        ):
            self.gives(
                migration(
                    1, migration_type=kind, status=status, updated_at=late
                )
            )
            (event,) = self.nova.list_migrations(self.SINCE)
            self.assertEqual(minutes, (event.at - self.SINCE) / 60, kind)

    def test_unfinished(self) -> None:
        """One call per status; what changes meanwhile is told once."""
        self.gives()
        for status in ('queued', 'running'):
            self.wire.get(
                f'{MIGRATIONS}?status={status}',
                json={'migrations': [migration(1, status=status)]},
            )
        (event,) = self.nova.list_unfinished_migrations()
        self.assertEqual('running', event.status)
        self.assertEqual(
            [{'status': [status]} for status in rows.UNDER_WAY],
            [
                request.qs
                for request in self.keystone.requests('/os-migrations')
            ],
        )

    def test_the_status_of_one_looks_at_live_migrations_only(self) -> None:
        self.gives(migration(1))
        self.live_migration.get_migration_status('vm', 'migration-1')
        (request,) = self.keystone.requests('/os-migrations')
        self.assertEqual(
            {'instance_uuid': ['vm'], 'migration_type': ['live-migration']},
            request.qs,
        )


class TestAbort(test_client.NovaTestCase):
    MIGRATION = MigrationStatus('vm', 'running', uuid='m', id=7)

    def abort(self, status: int, text: str = '') -> Any:
        self.wire.delete(
            f'{IN_PROGRESS}/7',
            status_code=status,
            json={'fault': {'code': status, 'message': text}},
        )
        return self.live_migration.abort_migration('vm', self.MIGRATION)

    def test_outcomes(self) -> None:
        self.assertEqual(AbortOutcome.ABORTING, self.abort(202).outcome)
        for status, outcome in (
            (400, AbortOutcome.REFUSED),
            (404, AbortOutcome.OVER),
            (409, AbortOutcome.OVER),
        ):
            result = self.abort(status, 'Nova says why')
            self.assertEqual(outcome, result.outcome)
            self.assertIn('Nova says why', result.text)

    def test_one_that_may_still_begin_is_not_over(self) -> None:
        """A nova-compute that starts may find it in its queue."""
        accepted = MigrationStatus('vm', 'accepted', uuid='m', id=7)
        for status in (400, 409):
            self.wire.delete(f'{IN_PROGRESS}/7', status_code=status)
            result = self.live_migration.abort_migration('vm', accepted)
            self.assertEqual(AbortOutcome.REFUSED, result.outcome)
        self.wire.delete(f'{IN_PROGRESS}/7', status_code=404)
        result = self.live_migration.abort_migration('vm', accepted)
        self.assertEqual(AbortOutcome.OVER, result.outcome)

    def test_other_errors(self) -> None:
        error = self.fails(self.abort, 503)
        self.assertTrue(error.kwargs['transient'])

    def test_before_there_is_a_migration(self) -> None:
        result = self.live_migration.abort_migration(
            'vm', MigrationStatus('vm', 'accepted')
        )
        self.assertEqual(AbortOutcome.REFUSED, result.outcome)


class TestForceComplete(test_client.NovaTestCase):
    MIGRATION = MigrationStatus('vm', 'running', uuid='m', id=7)

    def force(self, status: int, text: str = '') -> str:
        self.wire.post(
            f'{IN_PROGRESS}/7/action',
            status_code=status,
            json={'fault': {'code': status, 'message': text}},
        )
        return self.live_migration.force_complete('vm', self.MIGRATION)

    def test_it_is_asked_for(self) -> None:
        self.assertEqual('', self.force(202))
        (request,) = self.keystone.requests('/migrations/7/action')
        self.assertEqual({'force_complete': None}, request.json())

    def test_nova_refuses(self) -> None:
        for status in (400, 403, 404, 409):
            self.assertIn('Nova says why', self.force(status, 'Nova says why'))

    def test_other_errors(self) -> None:
        error = self.fails(self.force, 503)
        self.assertIsNone(error.kwargs['sent'])


class TestTimes(base.BaseTestCase):
    def test_without_a_zone_it_is_utc(self) -> None:
        self.addCleanup(time.tzset)
        self.useFixture(fixtures.EnvironmentVariable('TZ', 'Asia/Tokyo'))
        time.tzset()
        for text in (
            '2023-11-14T22:00:00',
            '2023-11-14T22:00:00.000000',
            '2023-11-14T22:00:00Z',
            '2023-11-14T23:00:00+01:00',
        ):
            self.assertEqual(1699999200.0, schema.seconds_of(text))
        self.assertEqual(0.0, schema.seconds_of(None))
        self.assertEqual('2023-11-14T22:00:00Z', rows.time_of(1699999200.9))


def _ends(move: Any) -> tuple[str, str]:
    return move.source, move.destination
