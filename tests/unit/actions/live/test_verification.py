# SPDX-License-Identifier: Apache-2.0
"""Is what a migration leaves looked at and told?"""

from kronos.common import exceptions
from kronos.engine.faults import Fault
from tests.unit.actions.live import base

SIZE = {'VCPU': 1, 'MEMORY_MB': 1024}
MIGRATION = 'b0000000-0000-0000-0000-000000000001'
HEAL = (
    f': "nova-manage placement heal_allocations --instance {base.UUID} '
    '--force" corrects them'
)


class VerificationTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 5

    def at_end(self, do):
        """Do something when the migration is about to be over."""

        def look(migration):
            if len(migration.script) == 2:
                do()

        self.cloud.on_look = look


class ArrivalTestCase(VerificationTestCase):
    def test_two_sets_of_allocations(self):
        self.at_end(
            lambda: self.cloud.leftovers.update({base.UUID: {'h1': SIZE}})
        )
        self.assertEqual(
            'Placement has its allocations on h1.example.org and '
            'h2.example.org' + HEAL,
            self.run_move(),
        )
        event, more = self.notices.told[-1]
        self.assertEqual('completed', event)
        self.assertIn('h1.example.org', more['remark'])

    def test_two_sets_for_a_moment(self):
        self.at_end(
            lambda: self.cloud.leftovers.update({base.UUID: {'h1': SIZE}})
        )
        self.clock.at(1035, self.cloud.leftovers.clear)
        self.assertEqual('', self.run_move())

    def test_still_held_by_the_migration(self):
        self.at_end(
            lambda: self.cloud.leftovers.update({MIGRATION: {'h1': SIZE}})
        )
        self.assertEqual(
            'Placement still has allocations for its migration on '
            'h1.example.org: "openstack resource provider allocation delete '
            f'{MIGRATION}" releases them',
            self.run_move(),
        )

    def test_the_other_way_round(self):
        """As Nova leaves it that lost sight of its migration."""

        def wrong():
            self.cloud.allocations = lambda: {
                base.UUID: {'h1': SIZE},
                MIGRATION: {'h2': SIZE},
            }

        self.at_end(wrong)
        self.assertEqual(
            f'Placement has its allocations on h1.example.org{HEAL}; '
            'Placement still has allocations for its migration on '
            'h2.example.org: "openstack resource provider allocation delete '
            f'{MIGRATION}" releases them',
            self.run_move(),
        )

    def test_none_at_all(self):
        self.at_end(self.lose_allocations)
        self.assertEqual(
            'Placement has its allocations on no host' + HEAL, self.run_move()
        )

    def lose_allocations(self):
        self.reply(
            'GET',
            f'/placement/allocations/{base.UUID}',
            lambda query: {'allocations': {}},
        )

    def test_one_set_on_the_wrong_host(self):
        """One is not enough: it has to be that of the destination."""
        real = self.cloud.allocations

        def wrong():
            self.cloud.allocations = lambda: {
                **real(),
                base.UUID: {'h1': SIZE},
            }

        self.at_end(wrong)
        self.assertEqual(
            'Placement has its allocations on h1.example.org' + HEAL,
            self.run_move(),
        )

    def test_placement_away(self):
        self.at_end(lambda: self.cloud.down.add(('GET', '/placement')))
        remark = self.run_move()
        self.assertIn('its allocations are not known: Placement: ', remark)
        self.assertIn('503', remark)
        self.assertEqual('h2', self.instance.host)

    def test_nova_away_says_nothing_of_the_instance(self):
        """It is no failure of the move that nobody can look."""

        def away():
            self.cloud.down.add(('GET', f'{base.NOVA}/servers'))

        self.instance.script = ('running', 'running', 'completed')
        self.at_end(away)
        self.fails(exceptions.NovaClientError, 'completed', 'does not answer')
        self.assertEqual(1, self.requests)

    def test_nova_away_for_a_moment(self):
        faults = {('GET', f'{base.NOVA}/servers')}
        self.at_end(lambda: self.cloud.down.update(faults))
        self.clock.at(1100, self.cloud.down.clear)
        self.assertEqual('', self.run_move())

    def test_the_host_did_not_change(self):
        """Inconsistent, and never tried again."""
        self.instance.script = ('running', 'completed')
        self.cloud._reach = self.stay
        self.fails(
            exceptions.MigrationFailed,
            'inconsistent: the migration is completed, but the instance is '
            'ACTIVE on h1',
        )
        self.assertEqual(1, self.requests)
        self.assertEqual(
            [('started', 0, None), ('failed', 0, True)], self.events()
        )

    def stay(self, migration):
        if migration.status == 'completed':
            self.instance.task_state = None


class StayTestCase(VerificationTestCase):
    def setUp(self):
        super().setUp()
        self.instance.script = ('running', 'running', 'failed')

    def test_untouched(self):
        error = self.fails(exceptions.MigrationFailed)
        self.assertEqual(
            'migration failed: the connection to the host was lost',
            str(error),
        )

    def test_two_sets_of_allocations(self):
        self.leave_behind({'h2': SIZE})
        self.fails(
            exceptions.MigrationFailed,
            'the connection to the host was lost',
            'Placement has its allocations on h1.example.org and '
            'h2.example.org',
        )

    def test_it_has_arrived_all_the_same(self):
        """Nova calls it an error, and the room at the source stays."""
        self.instance.script = ('running', 'running', 'error')
        real = self.cloud._reach

        def arrive(migration):
            real(migration)
            if migration.status == 'error':
                self.instance.host = 'h2'

        self.cloud._reach = arrive
        self.at_end(
            lambda: self.cloud.leftovers.update({base.UUID: {'h1': SIZE}})
        )
        self.fails(
            exceptions.MigrationFailed,
            'ACTIVE on h2',
            'Placement has its allocations on h1.example.org and '
            'h2.example.org',
        )

    def test_one_set_on_the_wrong_host(self):
        self.leave_behind({'h1': {}, 'h2': SIZE})
        self.fails(
            exceptions.MigrationFailed,
            'Placement has its allocations on h2.example.org',
        )

    def test_after_a_refusal(self):
        self.instance.script = ('accepted', 'error')
        self.instance.refusal = 'No valid host was found.'
        self.leave_behind({'h2': SIZE})
        self.fails(
            exceptions.PreFlightError,
            'destination refused: No valid host was found.; Placement has',
        )

    def test_after_an_abort(self):
        self.instance.script = ('running',) * 99
        self.leave_behind({'h2': SIZE})

        def cancel(look):
            self.cancelled = True

        self.cloud.on_look = cancel
        self.fails(
            exceptions.MigrationCancelled,
            'its plan was cancelled; Placement has its allocations',
        )

    def test_placement_away(self):
        self.at_end(lambda: self.cloud.down.add(('GET', '/placement')))
        self.fails(
            exceptions.MigrationFailed,
            'migration failed: the connection',
            'its allocations are not known',
        )

    def test_nova_away(self):
        def away():
            self.cloud.down.add(('GET', f'{base.NOVA}/servers'))

        self.at_end(away)
        self.fails(
            exceptions.MigrationFailed, 'migration failed', 'does not answer'
        )

    def test_gone(self):
        self.at_end(lambda: self.cloud.servers.pop(base.UUID))
        message = str(self.fails(exceptions.MigrationFailed))
        self.assertTrue(message.endswith('the instance is gone'), message)

    def test_gone_and_its_room_is_not(self):
        """Nova forgets the other end of a server that is deleted."""

        def delete():
            self.cloud.servers.pop(base.UUID)
            self.cloud.leftovers.update({MIGRATION: {'h1': SIZE}})

        self.at_end(delete)
        self.fails(
            exceptions.MigrationFailed,
            'the instance is gone; Placement still has allocations for its '
            'migration on h1.example.org: "openstack resource provider '
            f'allocation delete {MIGRATION}"',
        )


class DroppedTestCase(VerificationTestCase):
    """A nova-compute was started again; the rows stay as they were."""

    def setUp(self):
        super().setUp()
        self.settings.max_retries = 0
        self.instance.script = ('preparing',) * 99

        def drop(look):
            self.instance.task_state = None

        self.cloud.on_look = drop

    def held(self, consumer):
        return set(self.placement.allocations_of(consumer))

    def test_an_error_without_a_reason(self):
        """So it is called where the nova-compute came back under way."""
        self.instance.script = ('running', 'running', 'error')

        def restart(look):
            self.cloud.swapped = {
                base.UUID: {'h2': SIZE},
                MIGRATION: {'h1': SIZE},
            }

        self.cloud.on_look = restart
        error = self.fails(
            exceptions.MigrationFailed,
            'migration error: nova-compute on h1 was probably restarted; its '
            'allocations in Placement were put back',
        )
        self.assertEqual(Fault.SOURCE_FAILED, error.kwargs['fault'])

    def test_its_guest_has_moved(self):
        """libvirt went on while the nova-compute was away."""
        self.instance.script = ('running', 'running', 'error')

        def restart(look):
            self.instance.guest = 'shutdown'
            self.cloud.swapped = {
                base.UUID: {'h2': SIZE},
                MIGRATION: {'h1': SIZE},
            }

        self.cloud.on_look = restart
        self.fails(
            exceptions.MigrationFailed,
            'its guest does not run on h1; migration error: ',
            'the instance is ACTIVE on h1, but its guest does not run there: '
            'look at h2; its allocations in Placement are left as they are',
        )
        self.assertNotIn('POST', self.verbs('/placement/allocations'))

    def test_allocations_are_put_back(self):
        """The instance holds its source, the migration nothing."""
        self.fails(
            exceptions.MigrationCancelled,
            'Nova dropped the migration while it was preparing',
            'its allocations in Placement were put back',
        )
        self.assertEqual({'h1.example.org'}, self.held(base.UUID))
        self.assertEqual(set(), self.held(MIGRATION))

    def test_what_ran_is_left_alone(self):
        """Of a migration that ran nobody knows where the guest is."""
        self.instance.script = tuple(
            'running' if one == 'preparing' else one
            for one in self.instance.script
        )
        self.fails(
            exceptions.MigrationFailed,
            'inconsistent: Nova calls the migration running',
            'Placement has its allocations on h2.example.org',
        )
        self.assertEqual({'h2.example.org'}, self.held(base.UUID))

    def test_placement_refuses(self):
        """Something changed meanwhile: it is left alone and told."""
        self.cloud.answers['POST', '/placement/allocations'] = [409]
        self.fails(
            exceptions.MigrationCancelled,
            'Placement has its allocations on h2.example.org',
        )
        self.assertEqual({'h2.example.org'}, self.held(base.UUID))

    def test_other_allocations_are_left_alone(self):
        self.leave_behind({'h3': SIZE})
        self.fails(
            exceptions.MigrationCancelled,
            'Placement has its allocations on h2.example.org and '
            'h3.example.org',
        )
        self.assertNotIn('POST', self.verbs('/placement/allocations'))

    def verbs(self, path):
        return [verb for verb, where in self.cloud.calls if where == path]

    def test_a_cancel_of_what_was_dropped(self):
        def drop(look):
            self.cancelled = True
            self.instance.task_state = None

        self.cloud.on_look = drop
        self.fails(
            exceptions.MigrationCancelled,
            'its plan was cancelled',
            'its allocations in Placement were put back',
        )

    def test_one_that_may_yet_begin_is_not_dropped(self):
        """It is still in the message queue of its nova-compute."""
        self.instance.script = (*['accepted'] * 30, 'running', 'completed')
        self.assertEqual('', self.run_move())
        self.assertEqual(1, self.requests)
