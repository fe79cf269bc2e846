# SPDX-License-Identifier: Apache-2.0
"""Is what Nova leaves broken told apart, mended, and told in few words?"""

import shlex

import testscenarios

from kronos.actions.core import watcher_action
from kronos.clients.nova.server_details import Details, Port, Volume
from kronos.common import exceptions, plain_text
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.extensions.cells.actions import repair
from tests.builders.hostile_names import HOSTILE
from tests.unit.extensions.cells.actions import base

REBOOT = f'openstack server reboot --hard {base.UUID}'
RESET = f'openstack server set --state active {base.UUID}'
START = f'openstack server start {base.UUID}'
STOP = f'openstack server stop {base.UUID}'
NO_HOST = (
    'refused by Nova: No valid host was found. No valid host found for cold '
    'migrate'
)
INFO_CACHE = f'Info cache for instance {base.UUID} could not be found.'
BUSY, IN_ERROR, OFF, STOPPED = (
    'Nova left it busy for ever',
    'Nova left it in ERROR',
    'Nova left it powered off',
    'it had been stopped',
)


PORT = (
    '# if a port of it has no active binding, of Neutron: PUT '
    '/v2.0/ports/port/bindings/o1/activate'
)
UNBIND = '# of Neutron, if it is there: DELETE /v2.0/ports/port/bindings/'


def copies(cell):
    return repair.copy_commands(base.UUID, cell)


class BrokenEndsTestCase(base.CellMoveTestCase):
    """A move that Nova gives up, as it says itself."""

    def breaks(self, where, fault, error=exceptions.MigrationFailed):
        """The words of the whole move that breaks there."""
        self.server.breaks = where
        raised = self.fails(error)
        self.assertIs(fault, faults.of_error(raised))
        self.assertEqual(1, len(self.requests))
        self.assertEqual('failed', self.document['outcome'])
        self.assertEqual(str(raised), self.document['message'])
        self.shown = watcher_action.message_of(raised)
        return str(raised)

    def is_before(self, is_stopped=False):
        status, power = ('SHUTOFF', 4) if is_stopped else ('ACTIVE', 1)
        self.assertEqual(('o1', status, None, power), self.place())


class TestMended(testscenarios.TestWithScenarios, BrokenEndsTestCase):
    # What each end is called, what is done, and what without cell_recover
    # is told.

    # Where, and why; of a server that ran: what is done, and the words; the
    # same of one that was stopped.
    scenarios = [
        (name, {'why': why, 'ran': ran, 'stopped': stopped})
        for name, why, ran, stopped in (
            ('prep', INFO_CACHE, [(BUSY, RESET)],
             [(BUSY, RESET), (STOPPED, STOP)]),
            ('power_off', 'it does not stop', [], []),
            ('snapshot', 'Glance does not answer', [(OFF, REBOOT)], []),
            ('destroy', 'the domain is busy', [(IN_ERROR, REBOOT)],
             [(IN_ERROR, REBOOT), (STOPPED, STOP)]),
            ('finish', 'the volume cannot be connected',
             [(IN_ERROR, REBOOT)], [(IN_ERROR, REBOOT), (STOPPED, STOP)]),
            ('restart', f'Conflict updating instance {base.UUID}. Expected: '
             "{'task_state': ['resize_migrating']}",
             [(IN_ERROR, REBOOT)], [(IN_ERROR, REBOOT), (STOPPED, STOP)]),
        )
    ]  # fmt: skip

    def setUp(self):
        super().setUp()
        self.where = self.id().partition('(')[2].partition(')')[0]

    def check(self, told):
        self.assertEqual(told, self.breaks(self.where, Fault.MIGRATION_FAILED))

    def mended(self, steps):
        words = [
            f'{what}; mended by "{command.rpartition(" ")[0]}"'
            for what, command in steps
        ]
        self.check(
            '; '.join([*words, f'Nova: {self.why}'])
            if steps
            else f'Nova gave it up: {self.why}',
        )
        self.assertEqual(
            [f'{what}: {command}' for what, command in steps],
            self.document['mended'],
        )
        # A guest that was made anew may be without its ports.
        was_lost = (IN_ERROR, REBOOT) in steps
        self.assertEqual([PORT] if was_lost else [], self.document['commands'])
        self.assertEqual(
            [f'mend {n}' for n, _step in enumerate(steps, 1)],
            [one for one in self.document['requests'] if 'mend' in one],
        )

    def only_told(self, steps):
        self.settings.recovers = False
        what, command = steps[0] if steps else ('', '')
        self.check(
            f'{what}; "{command}" mends it; Nova: {self.why}'
            if steps
            else f'Nova gave it up: {self.why}',
        )
        commands = [command for _what, command in steps]
        was_lost = (IN_ERROR, REBOOT) in steps
        self.assertEqual(
            commands + ([PORT] if was_lost else []), self.document['commands']
        )
        self.assertEqual([], self.document['mended'])
        self.assertEqual(['migrate'], self.asked)
        self.assertIn(command, self.shown)

    def test_one_that_ran(self):
        self.mended(self.ran)
        self.is_before()

    def test_one_that_was_stopped(self):
        self.stop_server()
        self.mended(self.stopped)
        self.is_before(is_stopped=True)

    def test_only_told(self):
        self.only_told(self.ran)

    def test_only_told_of_one_that_was_stopped(self):
        self.stop_server()
        self.only_told(self.stopped)


class TestRefused(BrokenEndsTestCase):
    """By the scheduler: nothing was touched."""

    def check(self):
        told = self.breaks(
            'scheduler', Fault.DESTINATION_REFUSED, exceptions.PreFlightError
        )
        self.assertEqual(NO_HOST, told)
        self.assertEqual(([], []), (
            self.document['mended'], self.document['commands']
        ))  # fmt: skip

    def test_one_that_ran(self):
        self.check()
        self.is_before()

    def test_one_that_was_stopped(self):
        self.stop_server()
        self.check()
        self.is_before(is_stopped=True)

    def test_after_something_was_touched(self):
        """Then it is a failure of the server, which rests for a while."""
        self.cloud.failures['req-00000000-0000-0000-0000-000000000001'] = (
            'No valid host after all'
        )
        self.server.breaks = 'snapshot'
        self.fails(exceptions.MigrationFailed, OFF)


class TestPoweredOff(BrokenEndsTestCase):
    def test_after_the_power_sync(self):
        """Nova has seen that the guest is off, and calls it SHUTOFF."""
        self.clock.at(1021, lambda: vars(self.server).update(status='SHUTOFF'))
        self.assertEqual(
            f'{OFF}; mended by "openstack server start"; Nova: Glance does '
            'not answer',
            self.breaks('snapshot', Fault.MIGRATION_FAILED),
        )
        self.is_before()


class TestCopies(BrokenEndsTestCase):
    """What no API deletes."""

    def test_one_that_is_in_the_other_cell(self):
        told = self.breaks('copy', Fault.CELL_COPY_LEFT)
        self.assertTrue(
            told.startswith(
                'a hidden copy of it is in new: see "Repairs" of the guide; '
                'Remote error: DBDuplicateEntry'
            ),
            told,
        )
        self.assertEqual(copies('new'), self.document['commands'])
        self.is_before()

    def test_one_that_a_confirmation_left(self):
        told = self.breaks('confirm', Fault.CELL_COPY_LEFT)
        self.assertEqual(
            f'{IN_ERROR}; mended by "openstack server reboot --hard"; it is '
            'in new, but a copy of it is left in old: see "Repairs" of the '
            'guide',
            told,
        )
        self.assertEqual(
            [*copies('old'), f'{UNBIND}o1'], self.document['commands']
        )
        self.assertEqual(('n1', 'ACTIVE', None, 1), self.place())

    def test_the_same_of_one_that_was_stopped(self):
        self.stop_server()
        self.breaks('confirm', Fault.CELL_COPY_LEFT)
        self.assertEqual(('n1', 'SHUTOFF', None, 4), self.place())
        self.assertEqual(['reboot', 'stop'], self.asked[2:])

    def test_only_told(self):
        self.settings.recovers = False
        self.breaks('confirm', Fault.CELL_COPY_LEFT)
        self.assertEqual(
            [REBOOT, *copies('old'), f'{UNBIND}o1'], self.document['commands']
        )
        self.assertIn(REBOOT, self.shown)
        self.assertEqual(('n1', 'ERROR', None, 1), self.place())


class TestRevert(BrokenEndsTestCase):
    """The way back fails."""

    def setUp(self):
        super().setUp()
        self.server.volumes = ['v1']
        self.server.loses = ('v1',)

    def test_mended(self):
        self.assertEqual(
            f'taken back; the way back failed; {IN_ERROR}; mended by '
            '"openstack server reboot --hard"; volumes lost: v1',
            self.breaks('revert', Fault.CELL_CHECK_FAILED),
        )
        self.is_before()

    def test_of_one_that_was_stopped(self):
        self.stop_server()
        self.breaks('revert', Fault.CELL_CHECK_FAILED)
        self.is_before(is_stopped=True)

    def test_only_told(self):
        self.settings.recovers = False
        self.breaks('revert', Fault.CELL_CHECK_FAILED)
        self.assertEqual([REBOOT], self.document['commands'])
        self.assertIn(REBOOT, self.shown)


class TestEndless(BrokenEndsTestCase):
    """A conductor died: only an administrator can mend that."""

    def setUp(self):
        super().setUp()
        self.settings.timing.move_timeout = 100

    def test_what_is_told(self):
        told = self.breaks(
            'conductor', Fault.CELL_STUCK, exceptions.MigrationTimeout
        )
        self.assertEqual(
            'not over after 100 s (cell_move_timeout). If its conductor '
            f'died: "openstack server set --state error {base.UUID}", then '
            'the rest of "Repairs"; it is RESIZE (resize_migrating) on o1, '
            'and Nova cannot abort it',
            told,
        )
        self.assertIn(f'--state error {base.UUID}"', self.shown)
        migration = self.cloud.moves[0].uuid
        self.assertEqual(
            [
                '# only if no nova-conductor is working on it any more:',
                f'openstack server set --state error {base.UUID}',
                REBOOT,
                *copies('new'),
                f'openstack resource provider allocation delete {migration}',
                'nova-manage placement heal_allocations --instance '
                f'{base.UUID} --force',
                'openstack image delete image-one-resize-temp',
                PORT,
                f'{UNBIND}n1',
            ],
            self.document['commands'],
        )
        self.assertEqual(['migrate'], self.asked)

    def test_nova_does_not_answer(self):
        self.clock.at(
            1010, lambda: self.cloud.down.add(('GET', '/nova/v2.1/'))
        )
        self.server.breaks = 'conductor'
        self.fails(
            exceptions.MigrationTimeout, 'it is RESIZE (resize_prep) on o1'
        )

    def test_nova_has_never_answered(self):
        self.settings.timing.move_timeout = 10
        self.cloud.on_accepted = lambda action: self.cloud.down.add(
            base.MIGRATIONS
        )
        self.server.breaks = 'conductor'
        self.fails(
            exceptions.MigrationTimeout,
            'Nova does not answer, and Nova cannot abort it',
        )

    def commands(self):
        self.breaks('conductor', Fault.CELL_STUCK, exceptions.MigrationTimeout)
        return self.document['commands']

    def test_one_that_was_stopped(self):
        """A reboot makes it run."""
        self.stop_server()
        commands = self.commands()
        self.assertEqual(commands.index(REBOOT) + 1, commands.index(STOP))

    def test_where_it_was_to_go(self):
        """Nova chooses the host of a resize."""
        self.resizes()
        for host in ('o1', 'o2'):
            self.cloud.services[host]['status'] = 'disabled'
        self.server.lands = 'n2'
        self.assertIn(f'{UNBIND}n2', self.commands())

    def test_glance_is_away(self):
        self.cloud.down.add(('GET', '/glance'))
        self.assertIn(
            'openstack image list --name one-resize-temp', self.commands()
        )

    def test_glance_is_away_and_the_name_is_hostile(self):
        """A tenant calls a server what an administrator is to run."""
        self.cloud.down.add(('GET', '/glance'))
        for name in HOSTILE:
            before = Details(base.UUID, name)
            [command] = repair.images(self.context, before)
            words = shlex.split(command)
            self.assertEqual(['openstack', 'image', 'list'], words[:3])
            self.assertEqual(
                f'{plain_text.line(name)}-resize-temp',
                words[-1].removeprefix('--name='),
            )
            self.assertEqual(1, len(command.splitlines()))

    def test_hosts_with_hostile_names(self):
        before = Details(
            base.UUID,
            status='ACTIVE',
            ports=[Port('p', 'mac')],
            volumes=[Volume('v')],
        )
        for name in HOSTILE:
            for text in (
                *repair.reconnections(before, name),
                *repair.unbindings(before, name),
            ):
                self.assertEqual(1, len(text.splitlines()))
                if not text.startswith('#'):
                    self.assertIn(len(shlex.split(text)), (4, 6))


class TestVolumes(BrokenEndsTestCase):
    """A reboot connects no volume that Nova has given up on the host."""

    def refreshed(self):
        self.server.volumes = ['v1', 'v2']
        self.breaks('finish', Fault.MIGRATION_FAILED)
        return [one for one in self.document['commands'] if one != PORT]

    def test_one_that_runs(self):
        refresh = f'nova-manage volume_attachment refresh {base.UUID}'
        self.assertEqual(
            [
                '# if an attachment of its volumes is empty, first, on o1: '
                'nova-manage volume_attachment get_connector > o1.json',
                STOP,
                f'{refresh} v1 o1.json',
                f'{refresh} v2 o1.json',
                START,
            ],
            self.refreshed(),
        )

    def test_one_that_is_stopped(self):
        self.stop_server()
        commands = self.refreshed()
        self.assertEqual(3, len(commands))
        self.assertNotIn(START, commands)


class TestDeleted(BrokenEndsTestCase):
    """What Placement holds for a server that is no more."""

    def deleted(self, until=None):
        held = {'o1': {'VCPU': 1, 'MEMORY_MB': 1024}}

        def delete():
            self.cloud.delete(base.UUID)
            self.cloud.leftovers = {
                base.UUID: held, self.cloud.moves[0].uuid: held,
            }  # fmt: skip

        self.clock.at(1010, delete)
        if until:
            self.clock.at(until, self.cloud_forgets)
        raised = self.fails(exceptions.StaleTask)
        self.assertIs(Fault.INSTANCE_GONE, faults.of_error(raised))
        return str(raised)

    def cloud_forgets(self):
        self.cloud.leftovers.clear()

    def test_nova_gives_it_back(self):
        told = self.deleted(until=1025)
        self.assertEqual('the instance was deleted while it moved', told)
        self.assertEqual([], self.document['commands'])

    def test_nova_does_not(self):
        told = self.deleted()
        delete = 'openstack resource provider allocation delete'
        commands = [
            f'{delete} {base.UUID}', f'{delete} {self.cloud.moves[0].uuid}',
        ]  # fmt: skip
        self.assertEqual(commands, self.document['commands'])
        self.assertIn(f'still in Placement: "{commands[0]}"', told)


class TestMending(BrokenEndsTestCase):
    """What does not help."""

    def test_it_is_refused(self):
        self.server.breaks = 'finish'
        self.cloud.answers[base.ACTION] = [None, 409]
        self.fails(
            exceptions.MigrationFailed,
            f'{IN_ERROR}; "{REBOOT}" was refused: Nova: POST',
        )
        self.assertEqual([REBOOT, PORT], self.document['commands'])

    def test_it_changes_nothing(self):
        self.server.stubborn = ('reboot',)
        self.assertIn(
            f'{IN_ERROR}; "{REBOOT}" did not help: ERROR on o1',
            self.breaks('finish', Fault.MIGRATION_FAILED),
        )
        self.assertEqual([REBOOT, PORT], self.document['commands'])
        # One try, and the time that Nova has for it.
        self.assertEqual(['migrate', 'reboot'], self.asked)
        self.assertEqual(1000.0 + 35 + 120, self.clock.now)

    def test_the_rest_is_left_to_the_operator(self):
        """One thing is mended after the other."""
        self.stop_server()
        self.server.stubborn = ('reboot',)
        self.breaks('finish', Fault.MIGRATION_FAILED)
        self.assertEqual([REBOOT, STOP, PORT], self.document['commands'])

    def test_a_task_that_stays(self):
        self.server.stubborn = ('os-resetState',)
        self.assertIn(
            f'"{RESET}" did not help: RESIZE (resize_prep) on o1',
            self.breaks('prep', Fault.MIGRATION_FAILED),
        )

    def test_nova_goes_away(self):
        self.clock.at(1036, lambda: self.cloud.down.add(('GET', base.SERVER)))
        self.server.stubborn = ('reboot',)
        self.server.breaks = 'finish'
        self.fails(
            exceptions.MigrationFailed,
            f'"{REBOOT}" was requested; Nova returned no details',
        )
        self.assertEqual([REBOOT, PORT], self.document['commands'])

    def test_why_nova_gave_it_up_is_not_known(self):
        self.cloud.down.add(('GET', f'{base.SERVER}/os-instance-actions/req'))
        self.server.breaks = 'finish'
        self.fails(exceptions.MigrationFailed, 'Nova: it gives no reason')
