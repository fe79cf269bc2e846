# SPDX-License-Identifier: Apache-2.0
"""Hosts are emptied, handed over and opened again, one audit after another."""

import pathlib

import fixtures

from kronos.extensions.maintenance import closing_reason, outcome
from kronos.extensions.maintenance.audit import additions
from kronos.recordings import load
from kronos.recordings.replay import ReplayOptions, replay
from tests.functional.watcher import maintained

CLOSE = 'kronos_close_for_maintenance'


class TestMaintain(maintained.MaintainTestCase):
    """Two hosts in alpha with a server each; both are maintained."""

    def carried_out(self, audit):
        plan = self.plan(audit)
        self.assertNotEqual([], self.actions(plan), self.message(audit))
        self.start(plan)
        rows = self.actions(plan)
        for row in rows:
            self.assertEqual('SUCCEEDED', row.state, row.status_message)
        return [row.action_type for row in rows]

    def reason(self, host):
        service = self.cloud.services[host]
        self.assertEqual('disabled', service['status'])
        return closing_reason.parsed(service['reason'])

    def test_a_replay_plans_the_same(self):
        """As recorded, and as a run that somebody thinks of."""
        records = self.useFixture(fixtures.TempDir()).path
        self.set('kronos', record_dir=records)
        audit = self.maintain(aggregates='alpha')
        actions = self.actions(self.plan(audit))
        planned = [
            (row.action_type, row.input_parameters['source_node'])
            for row in actions
        ]
        moves = [
            (
                row.input_parameters['resource_id'],
                row.input_parameters['destination_node'],
            )
            for row in actions
            if row.action_type == 'kronos_live_migrate'
        ]
        self.assertEqual(1, len(moves), self.message(audit))
        [path] = pathlib.Path(records).iterdir()
        recording = load.read(str(path))
        spec = {'hosts': ','.join(self.HOSTS), 'run': 'r1'}
        for options in (
            ReplayOptions(),
            ReplayOptions(mode='maintain', parameters=spec),
        ):
            report = replay(recording, options).report
            self.assertEqual(
                moves,
                [(step.instance, step.destination) for step in report.steps],
            )
            [scope] = report.scopes
            run = outcome.of(scope)
            self.assertEqual(
                planned,
                [
                    *((CLOSE, host) for host in run.waves.closing),
                    *(
                        ('kronos_live_migrate', step.source)
                        for step in report.steps
                    ),
                    *(('kronos_hand_over', host) for host in run.handing_over),
                ],
            )
            self.assertIn(additions.summary(scope), self.message(audit))

    def test_all_of_them(self):
        """Each server moves once, but for those of the first host."""
        kinds = []
        for number, _ in enumerate(self.HOSTS, start=1):
            kinds += self.carried_out(self.maintain())
            host = self.closed_host()
            self.assertEqual('handed-over', self.reason(host).step)
            self.assertEqual('r1', self.reason(host).run)
            on_host = [
                s for s in self.cloud.servers.values() if s.host == host
            ]
            self.assertEqual([], on_host)
            self.cloud.faulty[host] = 1.0
            opening = self.carried_out(self.maintain())
            self.assertEqual(['kronos_reopen'], opening)
            self.assertEqual(number, len(self.cloud.faulty))
        self.assertEqual(
            {'enabled'},
            {row['status'] for row in self.cloud.services.values()},
        )
        self.assertIn('2 of 2 hosts done', self.message(self.maintain()))
        self.assertEqual(3, kinds.count('kronos_live_migrate'))
        self.assertEqual(2, kinds.count('kronos_close_for_maintenance'))
        self.assertEqual(2, kinds.count('kronos_hand_over'))
