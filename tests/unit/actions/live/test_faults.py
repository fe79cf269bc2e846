# SPDX-License-Identifier: Apache-2.0
"""Every row of the table of faults, by the real action on a faulty wire."""

from oslo_config import cfg
from watcher.common import exception

from kronos.actions.core import slots
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.eligibility import cooldown
from kronos.engine.faults import CooldownScope, Fault
from kronos.engine.settings import Settings
from kronos.engine.types import Event, Origin, Outcome
from kronos.snapshots import watcher_actions
from tests import places
from tests.builders import policies
from tests.fakes.small_cloud import cloud
from tests.unit.actions.live import base, whole

CONF = cfg.CONF
LONG = 400
PAGE = places.TOP / 'doc/source/migrating.rst'
POLL = 20


class Scenes(whole.WholeMoveTestCase):
    """How each fault comes about, by its code."""

    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = POLL
        self.settings.timing.queue_timeout = 300
        self.settings.timing.stall_timeout = 0
        self.before = self.clock.now

    def answers(self, status, text):
        """What Nova says to the request."""
        real = self.cloud.answer

        def answer(method, path, query, body):
            if method == 'POST':
                self.cloud.bodies.append(body)
                raise cloud.Answer(status, {'fault': {'message': text}})
            return real(method, path, query, body)

        self.cloud.answer = answer

    def when_running(self, do, script=('running',) * LONG):
        """Do something at the third look at the migration."""
        numbers = iter(range(10 * LONG))
        self.instance.script = script
        self.cloud.on_look = lambda one: do() if next(numbers) == 3 else None

    def service(self, host, **change):
        return lambda: self.cloud.services[host].update(change)

    def instance_gone(self):
        del self.cloud.servers[base.UUID]

    def instance_elsewhere(self):
        self.instance.host = 'h3'

    def other_half(self):
        self.action.input_parameters['requires'] = base.UUID[::-1]

    def no_turn(self):
        self.move_by_hand(self.add_server(2, 'h1'), 'h3')

    def host_not_closed(self):
        self.task.source_closed = True

    def window_closed(self):
        self.settings.window_seconds = 20.0
        self.settings.windows = ['Thu 22:00-23:00 UTC']

    def instance_locked(self):
        self.instance.locked = True

    def instance_pinned(self):
        self.instance.metadata = {'kronos:pin': ''}

    def instance_consent(self):
        self.instance.metadata = {'kronos:consent': 'never'}

    def disruption_budget(self):
        self.settings.budgets.project_budget = '1/600'
        self.end(self.move_by_hand(self.add_server(2, 'h1'), 'h3'))

    def instance_not_active(self):
        self.instance.status = 'PAUSED'

    def instance_busy(self):
        self.instance.task_state = 'image_snapshot'

    def instance_allocations(self):
        self.cloud.swapped = {base.UUID: {}}

    def source_not_up(self):
        self.service('h1', state='down')()

    def destination_not_up(self):
        self.service('h2', state='down')()

    def destination_disabled(self):
        self.service('h2', status='disabled')()

    def excludes(self):
        """With the query of an operator, as its options say."""
        CONF.set_override('exclude_hosts_query', 'faulty', 'kronos')
        self.addCleanup(CONF.clear_override, 'exclude_hosts_query', 'kronos')
        for name, value in (
            ('url', self.cloud.prometheus_url),
            ('max_retries', 0),
        ):
            CONF.set_override(name, value, 'kronos_prometheus')
            self.addCleanup(CONF.clear_override, name, 'kronos_prometheus')
        self.action._own_run = self.run_of(
            tell=self.action._tell,
            is_cancelled=self.action._is_cancelled,
            exclusions=self.action._exclusions(),
        )

    def destination_excluded(self):
        self.cloud.faulty = {'h1': 1, 'h2': 2, 'h3': 0}
        self.excludes()

    def destination_full(self):
        self.cloud.capacities['h2'] = (16, 1023)

    def destination_cell(self):
        self.answers(400, 'Compute host h2 could not be found.')

    def hypervisor_older(self):
        self.cloud.versions['h2'] = 7002022

    def destination_refused(self):
        self.instance.script = ('accepted', 'error')
        self.instance.refusal = 'No valid host was found.'

    def host_left_scope(self):
        self.cloud.aggregates['alpha'] = ['h1']

    def group_rule(self):
        other = self.add_server(2, 'h2')
        self.cloud.groups = [
            {
                'id': '0',
                'name': 'apart',
                'policy': 'anti-affinity',
                'rules': {},
                'members': [base.UUID, other.uuid],
            }
        ]

    def instance_refused(self):
        self.answers(
            400, "Operation 'live-migration' not supported for vTPM-enabled"
        )

    def nova_rejected(self):
        self.answers(409, 'Instance is in an odd state.')

    def bad_parameters(self):
        self.action._own_run = None
        self.action.input_parameters['not_before'] = 'soon'

    def conflict(self):
        self.instance.script = ('accepted', 'conflict')
        self.instance.refusal = 'No valid host was found.'

    def migration_failed(self):
        self.instance.script = ('running', 'failed')

    def migration_stalled(self):
        self.settings.timing.stall_timeout = 300
        self.instance.script = ('running',) * LONG

        def stand_still(migration):
            migration.figures = {
                'memory_total_bytes': 4,
                'memory_processed_bytes': 1,
                'memory_remaining_bytes': 3,
            }

        self.cloud.on_look = stand_still

    def inconsistent(self):
        self.instance.script = ('running', 'completed')
        self.cloud._reach = lambda migration: None

    def source_failed(self):
        self.when_running(
            self.service('h1', state='down'),
            (*['running'] * 6, 'failed'),
        )

    def destination_failed(self):
        self.when_running(
            self.service('h2', state='down'),
            (*['running'] * 4, 'failed'),
        )

    def instance_vanished(self):
        self.when_running(
            lambda: self.clock.at(
                self.clock.now + 1,
                lambda: self.cloud.servers.pop(base.UUID, None),
            )
        )

    def too_slow(self):
        self.instance.script = ('running',) * LONG

    def queued_too_long(self):
        self.instance.script = ('queued',) * LONG

    def plan_cancelled(self):
        self.when_running(self.cancel)

    def destination_closed(self):
        self.when_running(self.service('h2', status='disabled'))

    def window_ended(self):
        """The clock of the tests is at 00:16:40 on a Thursday."""
        self.settings.window_seconds = 20.0
        self.settings.windows = ['Thu 00:00-00:20 UTC']
        self.settings.aborts_at_end = True
        self.instance.script = ('running',) * LONG

    def aborted(self):
        self.instance.script = ('running', 'cancelled')
        self.cloud.on_look = lambda look: self.cloud.note_abort(base.UUID)

    def taken_over(self):
        real = self.cloud.answer

        def answer(method, path, query, body):
            if method == 'POST':
                self.cloud.answer = real
                self.instance.script = ('running',) * LONG
                self.live_migration.live_migrate(base.UUID, 'h3')
            return real(method, path, query, body)

        self.cloud.answer = answer

    def dropped(self):
        self.instance.script = ('queued', 'cancelled')

    def given_up(self):
        """Between two tries; else Watcher calls the plan cancelled."""
        self.slots = slots.Slots(self.row.uuid)
        self.build()
        self.dbapi.update_action(
            self.row.uuid,
            {
                'action_type': 'kronos_live_migrate',
                'input_parameters': self.action.input_parameters,
            },
        )
        self.cloud.answers[base.POST] = [429]
        self.clock.at(
            self.clock.now + 10,
            lambda: self.dbapi.update_action(
                self.row.uuid, {'state': 'CANCELLED'}
            ),
        )

    def nova_error(self):
        self.cloud.answers[base.POST] = [503] * LONG

    def placement_error(self):
        self.cloud.down.add(('GET', '/placement'))

    def prometheus_error(self):
        self.cloud.down.add(('POST', '/prometheus'))
        self.excludes()

    def watcher_error(self):
        self.slots.errors = [
            faults.error(Fault.WATCHER_ERROR, 'away') for _ in range(9)
        ]

    def configuration(self):
        self.action._own_run = None
        CONF.set_override('retry_backoff', float('nan'), 'kronos')
        self.addCleanup(CONF.clear_override, 'retry_backoff', 'kronos')

    def unknown(self):
        self.slots.errors = [RuntimeError('nobody knows')]


class TableTestCase(Scenes):
    """What follows is what the table says."""

    def ends(self, fault):
        """Let it come about; the kind of error and Watcher's message."""
        getattr(self, fault.value)()
        part = 'pre_condition'
        try:
            self.action.pre_condition()
            part = 'execute'
            self.action.execute()
        except exception.WatcherException as error:
            return type(error), f'Action failed in {part}: {error}'
        except Exception as error:
            return type(
                error
            ), f'Action failed in {part}: {type(error).__name__}'
        self.fail(f'{fault}: the move succeeded')
        return None

    def check(self, fault):
        row = faults.TABLE[fault]
        kind, message = self.ends(fault)
        if fault is Fault.UNKNOWN:
            self.assertIs(RuntimeError, kind)
        else:
            self.assertIn(f'KRONOS:{row.error}: [{fault}] ', message)
            self.assertEqual(
                row.error == 'StaleTask', kind is exception.ActionSkipped
            )
        self.check_waits(row)
        self.check_tries(fault, row)
        self.check_rests(row, message)

    def test_a_partial_answer(self):
        """The destination may be in the part that is missing."""
        for beside in ({'isPartial': True}, {'warnings': ['store 2']}):

            def partial(beside=beside):
                self.cloud.beside_data = beside
                self.excludes()

            self.prometheus_error = partial
            self.check(Fault.PROMETHEUS_ERROR)

    def check_waits(self, row):
        waited = self.clock.now - self.before
        if row.waits:
            self.assertGreaterEqual(waited, self.settings.preflight_wait)
            self.assertLessEqual(
                waited, self.settings.preflight_wait + 2 * POLL
            )

    def check_tries(self, fault, row):
        told = [event for event, _, final in self.events() if final is False]
        again = 'failed' in told or any(
            'tries again' in text for text in self.log
        )
        # One that is waited for is tried again once Nova was asked; one
        # that was given up was tried again before.
        if not row.waits and fault is not Fault.GIVEN_UP:
            self.assertEqual(row.retried, again, fault)

    def check_rests(self, row, message):
        """What the next audit makes of the message."""
        if row.error == 'StaleTask':
            return
        error_type, code = watcher_actions.error_of(message)
        event = Event(
            'u1',
            'a',
            'b',
            Outcome.FAILED,
            990.0,
            Origin.WATCHER,
            error_type=error_type,
            fault=code,
        )
        snapshot = policies.snapshot(
            {'cpu': {'a': 0.1, 'b': 0.2}},
            instances=[policies.instance('u1', 'a')],
            events=[event],
        )
        snapshot.taken_at = 1000.0

        def reason(**limits):
            cooldowns = cooldown.remember(snapshot, Settings(**limits))
            return cooldowns.unavailable.get('u1', ''), cooldowns.standstill

        quarantined, _ = reason(quarantine_seconds=60.0)
        self.assertEqual(row.quarantines, bool(quarantined), quarantined)
        rests, _ = reason(
            instance_cooldown_seconds=60.0, quarantine_seconds=0.0
        )
        self.assertEqual(row.rests is CooldownScope.BOTH, bool(rests), rests)
        _, standstill = reason(cooldown_seconds=60.0)
        self.assertEqual(
            row.rests is not CooldownScope.NOBODY, bool(standstill)
        )

    def setUp(self):
        super().setUp()
        self.log = []
        real = self.action._tell

        def tell(text):
            self.log.append(text)
            real(text)

        self.action._tell = tell
        self.build()


def _add(fault):
    def test(self):
        self.check(fault)

    setattr(TableTestCase, f'test_{fault.value}', test)


OF_RECOVERY = (
    Fault.HOST_NOT_AT_FAULT,
    Fault.TOO_MANY_AT_FAULT,
    Fault.INSTANCE_RUNS,
    Fault.INSTANCE_WELL,
    Fault.INSTANCE_STOPPED,
    Fault.INSTANCE_RECOVERY_OFF,
    Fault.GUEST_UNKNOWN,
    Fault.RESTART_FAILED,
    Fault.RESTART_TOO_SLOW,
)
"""Of the actions that close a host and restart a server: close.test_run
and restart.test_run have these."""

OF_CELLS = (
    Fault.PLAN_REFUSED,
    Fault.INSTANCE_TIED,
    Fault.ZONE_PINNED,
    Fault.CELL_CLOSED,
    Fault.CELL_REFUSED,
    Fault.FLAVOR_GONE,
    Fault.QUOTA_EXCEEDED,
    Fault.CELL_CHECK_FAILED,
    Fault.CELL_COPY_LEFT,
    Fault.CELL_STUCK,
    Fault.CELL_NOT_CONFIRMED,
    Fault.CELL_NOT_REVERTED,
    Fault.GLANCE_ERROR,
)
"""Of the action that moves a server to another cell: its own tests have
these."""

OF_MAINTENANCE = (
    Fault.HOST_TAKEN_OVER,
    Fault.HOST_OCCUPIED,
    Fault.HOST_NOT_DONE,
    Fault.TOO_MANY_UNAVAILABLE,
)
"""Of the actions that close a host, hand it over and open it:
test_close, test_hand_over and test_reopen have these."""

for _fault in Fault:
    if _fault not in OF_RECOVERY + OF_CELLS + OF_MAINTENANCE:
        _add(_fault)


class DocumentTestCase(base.base.BaseTestCase):
    def test_the_page_has_the_table(self):
        self.assertIn('.. faults-table::', PAGE.read_text())

    def test_every_code_has_its_row(self):
        self.assertEqual(set(Fault), set(faults.TABLE))

    def test_messages_of_older_versions(self):
        for error_type, fault in (
            ('PreFlightError', Fault.DESTINATION_REFUSED),
            ('MigrationFailed', Fault.MIGRATION_FAILED),
            ('MigrationTimeout', Fault.TOO_SLOW),
            ('MigrationCancelled', Fault.PLAN_CANCELLED),
            ('NovaClientError', Fault.NOVA_ERROR),
            ('TurnUnknown', Fault.WATCHER_ERROR),
            ('Odd', Fault.UNKNOWN),
            ('', Fault.UNKNOWN),
        ):
            self.assertIs(fault, faults.of('', error_type))

    def test_the_class_of_an_error_is_the_tables(self):
        for fault, row in faults.TABLE.items():
            if row.error:
                self.assertTrue(hasattr(exceptions, row.error), fault)
