# SPDX-License-Identifier: Apache-2.0
"""Is a server in ERROR told by its guest, and put right where that is safe?"""

from kronos.actions.live import recovery
from kronos.clients.prometheus.client import PrometheusClient
from kronos.common import exceptions
from kronos.engine.types import Reading, Sample
from tests.unit.actions.live import base

RUNS = 'its guest runs on h1 all the same (nova-compute has asked'
COMMAND = f'"openstack server set --state active --auto-approve {base.UUID}"'


class ErrorTestCase(base.MoveTestCase):
    """Nova loses sight of the migration and puts the server into ERROR."""

    def setUp(self):
        super().setUp()
        self.states = {}
        self.instance.script = ('running', 'running', 'error')
        self.cloud.on_look = self.break_server

    def break_server(self, migration):
        self.instance.status = 'ERROR'

    def fail(self, *words, error=exceptions.MigrationFailed):
        run = self.run_of(guest_states=self.asked)

        def move():
            run.begin()
            run.carry_out()

        return str(self.fails(error, *words, run=move))

    def asked(self, uuid):
        """What the exporters tell; None: they cannot be asked."""
        if self.states is None:
            raise exceptions.PrometheusError(url='url', reason='away')
        return self.states


class TellingTestCase(ErrorTestCase):
    def test_the_guest_runs(self):
        text = self.fail('the instance is ERROR on h1', RUNS, COMMAND)
        self.assertNotIn('exporter', text)
        self.assertEqual('ERROR', self.instance.status)

    def test_its_exporter_agrees(self):
        self.states = {'h1': 1.0, 'h2': 5.0}
        self.fail('and its exporter reports the same)', COMMAND)

    def test_the_guest_does_not_run(self):
        self.instance.guest = 'shutdown'
        text = self.fail('its guest does not run on h1')
        self.assertNotIn(COMMAND, text)

    def test_its_exporter_contradicts(self):
        self.states = {'h1': 3.0}
        text = self.fail('its guest does not run on h1')
        self.assertNotIn(COMMAND, text)

    def test_it_runs_at_the_destination_too(self):
        self.states = {'h1': 1.0, 'h2': 1.0}
        text = self.fail('its guest is seen running on h2', 'both hypervisors')
        self.assertNotIn(COMMAND, text)

    def arrive(self, migration):
        self.break_server(migration)
        self.cloud.swapped = {base.UUID: {'h2': {'VCPU': 1}}}

    def test_it_runs_where_it_holds_its_room(self):
        """No command that takes that away is printed."""
        self.states = {'h1': 5.0, 'h2': 1.0}
        self.cloud.on_look = self.arrive
        text = self.fail('its guest is seen running on h2')
        self.assertNotIn('heal_allocations', text)

    def test_it_runs_and_holds_room_elsewhere(self):
        self.states = {'h1': 1.0, 'h2': 5.0}
        self.cloud.on_look = self.arrive
        self.fail(RUNS, 'heal_allocations')

    def test_nobody_can_tell(self):
        path = f'{base.NOVA}/servers/{base.UUID}/diagnostics'
        for status in (501, 404, 500):
            with self.subTest(status):
                self.cloud.answers['GET', path] = [status] * 9
                text = self.fail('it is unknown whether its guest runs on h1')
                self.assertNotIn(COMMAND, text)
            self.instance.status = 'ACTIVE'

    def test_another_conflict_says_nothing_of_the_guest(self):
        path = f'{base.NOVA}/servers/{base.UUID}/diagnostics'
        self.cloud.answers['GET', path] = [409]
        self.fail('it is unknown whether its guest runs on h1')

    def test_an_exporter_that_is_away(self):
        self.states = None
        self.fail(RUNS, COMMAND)

    def test_it_is_asked_of_no_other(self):
        self.cloud.on_look = lambda migration: None
        text = self.fail('migration error: conductor_live_migrate_instance')
        self.assertNotIn('guest', text)
        self.assertFalse(
            [path for _, path in self.cloud.calls if 'diagnostics' in path]
        )


class AftermathTestCase(ErrorTestCase):
    """Nova cancels a migration, and a moment later calls that an error."""

    def setUp(self):
        super().setUp()
        self.instance.script = ('running',) * 9
        self.cloud.on_look = lambda migration: None
        self.settings.timing.poll_interval = 2
        self.clock.at(1006, lambda: setattr(self, 'cancelled', True))

    def late(self, seconds):
        """So long after Nova has cancelled the server is in ERROR."""

        def look(migration):
            if migration.status == 'running' and len(migration.script) == 2:
                self.clock.at(
                    self.clock.now + seconds, lambda: self.break_server(None)
                )

        self.cloud.on_look = look

    def cancel(self, *words):
        return self.fail(*words, error=exceptions.MigrationCancelled)

    def test_it_is_waited_for(self):
        self.late(3)
        text = self.cancel('its plan was cancelled', RUNS, COMMAND)
        self.assertTrue(
            text.startswith(
                'in ERROR, its guest runs on h1: "openstack server set '
                '--state active"; '
            ),
            text,
        )

    def test_the_migration_is_an_error_first(self):
        def look(migration):
            if self.cancelled and migration.status == 'running':
                migration.script[1:] = ['error']
                self.clock.at(
                    self.clock.now + 2, lambda: self.break_server(None)
                )

        self.cloud.on_look = look
        self.fail('migration error', RUNS, COMMAND)

    def test_it_is_mended(self):
        self.settings.recover_rows = True
        self.late(3)
        text = self.cancel('its plan was cancelled')
        self.assertTrue(text.startswith('was in ERROR, set to ACTIVE; '), text)
        self.assertEqual('ACTIVE', self.instance.status)

    def test_not_for_ever(self):
        text = self.cancel('its plan was cancelled')
        self.assertNotIn('guest', text)
        self.assertLess(self.clock.now, 1020)


class MendingTestCase(ErrorTestCase):
    def setUp(self):
        super().setUp()
        self.settings.recover_rows = True

    def test_all_agree(self):
        self.fail(RUNS, 'its row was set to ACTIVE (recover_rows)')
        self.assertEqual('ACTIVE', self.instance.status)
        self.assertEqual(('h1', None), self.place())

    def test_exporters_that_cannot_be_asked(self):
        """It may run at the other end, too."""
        self.states = None
        self.fail(RUNS, COMMAND, 'guest_state_query gave no answer')
        self.assertEqual('ERROR', self.instance.status)

    def test_a_guest_that_is_not_seen(self):
        self.instance.guest = 'crashed'
        self.fail('its guest does not run on h1')
        self.assertEqual('ERROR', self.instance.status)

    def test_one_that_has_left_its_source(self):
        def leave(migration):
            self.instance.status, self.instance.host = 'ERROR', 'h2'

        self.cloud.on_look = leave
        self.fail('its guest runs on h2 all the same')
        self.assertEqual('ERROR', self.instance.status)

    def test_allocations_that_are_left(self):
        self.leave_behind({'h2': {'VCPU': 1, 'MEMORY_MB': 1024}})
        self.fail(RUNS, 'Placement has its allocations on')
        self.assertEqual('ERROR', self.instance.status)

    def test_nova_refuses(self):
        path = f'{base.NOVA}/servers/{base.UUID}/action'
        real = self.cloud.answer

        def answer(method, where, query, told):
            if where == path and 'os-resetState' in (told or {}):
                raise base.cloud.Answer(403, {'forbidden': {'message': 'no'}})
            return real(method, where, query, told)

        self.cloud.answer = answer
        self.fail('its row was not repaired (recover_rows): ')


class StatesTestCase(base.MoveTestCase):
    """What the exporters say, host by host."""

    def ask(self, samples, query='state{uuid="UUID"}', error=''):
        reading = Reading(query, samples=samples, error=error)
        asked = []

        class Client(PrometheusClient):
            def __init__(self):
                pass

            def instant_query(self, query, label_key='host', expected=None):
                asked.append((query, label_key))
                return reading

        found = recovery.states_of(Client, query, self.task)('the-uuid')
        return found, asked

    def test_hosts_by_their_targets(self):
        found, asked = self.ask(
            [
                Sample('h1.example.org:9177', 1.0, 0),
                Sample('h2:9177', 5.0, 0),
                Sample('h9:9177', 1.0, 0),
            ]
        )
        self.assertEqual({'h1': 1.0, 'h2': 5.0, 'h9:9177': 1.0}, found)
        self.assertEqual([('state{uuid="the-uuid"}', 'instance')], asked)

    def test_a_label_host_comes_first(self):
        sample = Sample('10.0.0.1:9177', 1.0, 0, '{host="h1",uuid="u"}')
        self.assertEqual({'h1': 1.0}, self.ask([sample])[0])

    def test_turned_off(self):
        self.assertEqual(({}, []), self.ask([], query=''))

    def test_prometheus_is_away(self):
        self.assertRaises(
            exceptions.PrometheusError, self.ask, [], error='no connection'
        )
