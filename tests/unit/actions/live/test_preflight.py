# SPDX-License-Identifier: Apache-2.0
"""Is a move that has become wrong or pointless caught?"""

from kronos.actions.live import preflight
from kronos.common import exceptions
from kronos.engine.settings import ConsentRule
from tests.unit.actions.live import base


class PreflightTestCase(base.MoveTestCase):
    def check(self):
        return preflight.check(self.client, self.settings)

    def refused(self, *words, error=exceptions.PreFlightError):
        raised = self.assertRaises(error, self.check)
        for word in words:
            self.assertIn(word, str(raised))

    def stale(self, *words):
        self.refused(*words, error=exceptions.StaleTask)

    def test_all_is_well(self):
        self.assertIs(preflight.Readiness.READY, self.check())

    def test_gone(self):
        del self.cloud.servers[base.UUID]
        self.stale('gone')

    def test_already_there(self):
        self.instance.host = 'h2'
        self.assertIs(preflight.Readiness.ARRIVED, self.check())

    def migrate(self, host):
        self.instance.script = ('running',)
        self.live_migration.live_migrate(base.UUID, host)

    def test_on_its_way_already(self):
        self.migrate('h2')
        self.assertIs(preflight.Readiness.UNDER_WAY, self.check())

    def test_on_its_way_elsewhere(self):
        self.migrate('h3')
        self.stale('already being migrated to h3')

    def test_on_its_way_and_nobody_knows_where_to(self):
        """The conductor writes the row seconds after the task state."""
        self.instance.task_state = 'migrating'
        self.refused('task state migrating')

    def test_elsewhere(self):
        self.instance.host = 'h3'
        self.stale('left h1', 'on h3')

    def test_locked(self):
        self.instance.locked = True
        self.refused('locked')

    def test_pinned(self):
        self.instance.metadata = {'kronos:pin': '1'}
        self.refused('kronos:pin')

    def test_consent(self):
        """As the planner has it, by the phase of the action."""
        self.instance.metadata = {'kronos:consent': 'drain'}
        self.task.phase = 'spread'
        self.refused('kronos:consent', 'drain or repair')
        self.task.phase = 'evacuate'
        self.assertIs(preflight.Readiness.READY, self.check())
        self.instance.metadata = {'kronos:consent': 'never'}
        self.refused('kronos:consent', 'forbids moves')
        self.settings.consent = ConsentRule.DRAIN_OVERRIDES
        self.assertIs(preflight.Readiness.READY, self.check())
        self.task.phase = 'affinity'
        self.refused('kronos:consent')
        self.task.phase = 'a phase of another release'
        self.refused('kronos:consent')
        self.settings.consent_projects = ['another']
        self.instance.project_id = 'acme'
        self.assertIs(preflight.Readiness.READY, self.check())
        self.settings.consent_projects = []
        self.settings.consent = ConsentRule.IGNORE
        self.assertIs(preflight.Readiness.READY, self.check())

    def test_not_active(self):
        self.instance.status = 'PAUSED'
        self.refused('PAUSED, not ACTIVE')

    def test_not_running(self):
        """As an audit has it: Nova says ACTIVE of a guest that crashed."""
        row = self.cloud.server_row
        self.cloud.server_row = lambda one: {
            **row(one),
            'OS-EXT-STS:power_state': 4,
        }
        self.refused('its power state is 4 (shut down), not running')

    def test_an_extra_spec_is_a_matter_of_the_audit(self):
        row = self.cloud.server_row

        def special(one):
            found = row(one)
            found['flavor']['extra_specs'] = {'hw:cpu_policy': 'dedicated'}
            return found

        self.cloud.server_row = special
        self.assertIs(preflight.Readiness.READY, self.check())

    def test_busy(self):
        self.instance.task_state = 'rebooting'
        self.cloud.server_row = self._active_row(self.cloud.server_row)
        self.refused('task state rebooting')

    @staticmethod
    def _active_row(row):
        return lambda one: {**row(one), 'status': 'ACTIVE'}

    def test_source_disabled(self):
        self.cloud.services['h1'].update(status='disabled', reason='disk')
        for phase in ('spread', 'pack', 'affinity', 'evacuate'):
            self.task.phase = phase
            self.check()

    def test_source_without_its_hypervisor(self):
        """Nova says that it is up, and disabled: as if it were drained."""
        self.cloud.services['h1'].update(
            status='disabled', reason='AUTO: Connection to libvirt lost: 1'
        )
        self.refused(
            'nova-compute on source h1 has lost its hypervisor (AUTO: '
            'Connection to libvirt lost: 1)'
        )

    def test_source_down_stops_an_evacuation_too(self):
        self.cloud.services['h1'].update(state='down')
        self.task.phase = 'evacuate'
        self.refused('source h1 is down')

    def test_destination_disabled_stops_an_evacuation_too(self):
        self.cloud.services['h2'].update(status='disabled')
        self.task.phase = 'evacuate'
        self.refused('destination h2 is disabled')

    def test_destination_down(self):
        self.cloud.services['h2'].update(state='down')
        self.refused('destination h2 is down')

    def test_destination_unknown(self):
        self.task.destination = 'h9'
        self.refused('destination h9 has no nova-compute service')

    def test_nova_away(self):
        self.cloud.down.add(('GET', '/nova/v2.1/servers'))
        self.refused('503', error=exceptions.NovaClientError)

    def test_a_source_that_was_to_be_closed(self):
        self.task.source_closed = True
        self.stale(
            'source h1 should have been disabled before, but is enabled'
        )
        self.cloud.services['h1']['status'] = 'disabled'
        self.assertIs(preflight.Readiness.READY, self.check())
