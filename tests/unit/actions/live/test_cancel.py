# SPDX-License-Identifier: Apache-2.0
"""Does a cancel stop the migration, and only it, in every state?"""

import testscenarios

from kronos.actions.live import monitor
from kronos.common import exceptions
from tests.unit.actions.live import base

LONG = 200


class CancelInStateTestCase(
    testscenarios.TestWithScenarios, base.MoveTestCase
):
    scenarios = [
        (status, {'status': status})
        for status in ('accepted', 'queued', 'preparing', 'running')
    ]

    def test_is_aborted_in_nova(self):
        self.instance.script = (*[self.status] * 3, *['running'] * LONG)

        def cancel(look):
            self.cancelled = True

        self.cloud.on_look = cancel
        self.fails(exceptions.MigrationCancelled, 'its plan was cancelled')
        self.assertTrue(self.cloud.migrations[0].aborted)
        self.assertEqual('h1', self.instance.host)


class CancelTestCase(base.MoveTestCase):
    def cancel_at(self, status):
        def cancel(look):
            self.cancelled = self.cancelled or look.status == status

        self.cloud.on_look = cancel

    def test_completed_instead(self):
        self.instance.script = (
            'running',
            *['post-migrating'] * 9,
            'completed',
        )
        self.cancel_at('post-migrating')
        self.assertEqual(monitor.INSTEAD, self.run_move())
        self.assertEqual('h2', self.instance.host)

    def test_failed_meanwhile(self):
        self.instance.script = ('running', *['post-migrating'] * 9, 'failed')
        self.cancel_at('post-migrating')
        self.fails(
            exceptions.MigrationCancelled,
            'its plan was cancelled; the migration ended as failed',
        )

    def test_refused_and_then_taken(self):
        """Nova may take the wish at the next look."""
        self.instance.script = ('running',) * LONG
        self.cancel_at('running')
        path = ('DELETE', f'{base.NOVA}/servers')
        self.cloud.answers[path] = [400, 400]
        self.fails(exceptions.MigrationCancelled, 'its plan was cancelled')
        self.assertEqual(3, len(self.aborts))
        self.assertEqual(('h1', None), self.place())

    def test_nova_away_meanwhile(self):
        self.instance.script = ('running',) * LONG
        faults = {('DELETE', '/nova'), ('GET', '/nova')}

        def cancel(look):
            if not self.cancelled:
                self.cancelled = True
                self.cloud.down.update(faults)
                self.clock.at(self.clock.now + 300, self.cloud.down.clear)

        self.cloud.on_look = cancel
        self.fails(exceptions.MigrationCancelled, 'its plan was cancelled')
        self.assertTrue(self.cloud.migrations[0].aborted)
        self.assertEqual(('h1', None), self.place())

    def test_cannot_be_stopped_any_more(self):
        """It is watched for as long as a migration may take."""
        self.instance.script = ('post-migrating',) * LONG
        self.cancel_at('post-migrating')
        error = self.fails(
            exceptions.MigrationCancelled,
            'its plan was cancelled, but not over in Nova yet: post-migrating',
        )
        self.assertNotIn('tried', str(error))
        self.assertLess(self.clock.now, 1000 + 600 + 200)

    def test_the_server_is_gone(self):
        self.instance.script = ('running',) * LONG

        def delete(look):
            self.cancelled = True
            self.cloud.servers.pop(base.UUID, None)

        self.cloud.on_look = delete
        self.fails(exceptions.MigrationFailed, 'the instance is gone')

    def test_only_its_own_migration_is_aborted(self):
        self.cloud.hosts.append('h4')
        other = self.add_server(2, 'h3')
        foreign = self.move_by_hand(other, 'h4')
        self.instance.script = ('running',) * LONG
        self.cancel_at('running')
        self.fails(exceptions.MigrationCancelled)
        self.assertEqual(
            [f'{base.NOVA}/servers/{base.UUID}/migrations/2'], self.aborts
        )
        self.assertEqual('running', foreign.status)

    def test_allocations_after_it_is_completed_instead(self):
        self.instance.script = (
            'running',
            *['post-migrating'] * 9,
            'completed',
        )
        self.cancel_at('post-migrating')
        self.leave_behind({'h1': {'MEMORY_MB': 1}})
        self.assertIn(
            f'{monitor.INSTEAD}; Placement has its allocations',
            self.run_move(),
        )

    def test_arrived_but_its_row_was_left(self):
        """What Nova has dropped is looked at as closely."""
        self.instance.script = ('post-migrating',) * LONG

        def drop(look):
            self.cancelled = True
            self.instance.task_state = None
            self.instance.host = 'h2'
            self.instance.status = 'ERROR'

        self.cloud.on_look = drop
        self.fails(exceptions.MigrationFailed, 'the instance is ERROR on h2')
