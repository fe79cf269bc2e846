# SPDX-License-Identifier: Apache-2.0
"""Are the ends of a move looked at in the same way by every action?"""

from kronos.actions.core import checks, concurrency
from kronos.common import exceptions
from kronos.engine import faults, types
from kronos.engine.faults import Fault
from tests.unit.actions.live import base


class HostsTestCase(base.MoveTestCase):
    def refused(self, where, **service):
        row = types.ComputeService('h1', state='up', **service)
        error = self.assertRaises(
            exceptions.PreFlightError, checks.check_host, row, where, 'h1'
        )
        return faults.of_error(error)

    def test_a_destination_that_was_disabled(self):
        self.assertIs(
            Fault.DESTINATION_DISABLED,
            self.refused(checks.DESTINATION, status='disabled'),
        )

    def test_a_source_that_was_disabled(self):
        """It is no reason to stay there."""
        row = types.ComputeService('h1', state='up', status='disabled')
        checks.check_host(row, checks.SOURCE, 'h1')

    def test_a_host_that_is_down(self):
        for where, fault in (
            (checks.SOURCE, Fault.SOURCE_NOT_UP),
            (checks.DESTINATION, Fault.DESTINATION_NOT_UP),
        ):
            error = self.assertRaises(
                exceptions.PreFlightError, checks.check_host, None, where, 'h1'
            )
            self.assertIs(fault, faults.of_error(error))
            self.assertIn(f'{where} h1', str(error))

    def test_members(self):
        for aggregate, members in (
            ('alpha', ['h1', 'h2']),
            (types.UNASSIGNED, ['h3']),
            ('gone', []),
        ):
            is_inside = concurrency.scope_of(self.client, aggregate)
            names = ('', 'h1', 'h2', 'h3')
            self.assertEqual(members, [*filter(is_inside, names)])


class AtSourceTestCase(base.MoveTestCase):
    def stale(self, instance):
        error = self.assertRaises(
            exceptions.StaleTask,
            checks.require_at_source,
            instance,
            self.task,
            'server',
        )
        return faults.of_error(error), str(error)

    def test_there(self):
        instance = self.client.get_instance(base.UUID)
        self.assertIs(
            instance, checks.require_at_source(instance, self.task, 'server')
        )

    def test_gone(self):
        self.assertEqual(
            (Fault.INSTANCE_GONE, 'the server is gone'), self.stale(None)
        )

    def test_elsewhere(self):
        self.instance.host = 'h3'
        self.assertEqual(
            (
                Fault.INSTANCE_ELSEWHERE,
                'the server has left h1; it is on h3 now',
            ),
            self.stale(self.client.get_instance(base.UUID)),
        )
