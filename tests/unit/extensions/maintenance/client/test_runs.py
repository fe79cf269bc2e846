# SPDX-License-Identifier: Apache-2.0
"""Which run does a command mean, and which audit speaks for it?"""

from kronos.common import exceptions
from kronos.extensions.maintenance.client import runs
from kronos.extensions.maintenance.maintenance import Maintenance
from tests.unit.extensions.maintenance.client import maintained
from tests.unit.osc import clouds

OTHER = {'hosts': 'h9', 'run': 'r2'}


class TestRuns(maintained.MaintainedTestCase):
    def named(self, name: str | None = None) -> runs.Run:
        return runs.named(runs.listed(self.client), name)

    def refusal(self, name: str | None = None) -> str:
        error = self.assertRaises(exceptions.KronosException, self.named, name)
        return str(error)

    def test_none(self) -> None:
        self.assertEqual('Watcher has no maintenance run.', self.refusal())
        self.begin(strategy_name='kronos_spread', parameters={})
        self.assertEqual([], runs.listed(self.client))

    def test_by_name(self) -> None:
        self.begin()
        self.begin('SUCCEEDED', parameters=OTHER)
        self.assertEqual('r2', self.named('r2').name)
        self.assertIn('run r3; known: r2, r1', self.refusal('r3'))

    def test_without_a_name(self) -> None:
        """The one that is live; else the newest; never one of several."""
        first = self.begin()
        second = self.begin('CANCELLED', parameters=OTHER)
        self.assertEqual('r1', self.named().name)
        self.watcher.audits[first]['state'] = 'CANCELLED'
        self.assertEqual('r2', self.named().name)
        for uuid in (first, second):
            self.watcher.audits[uuid]['state'] = 'SUSPENDED'
        self.assertIn('2 maintenance runs are live', self.refusal())

    def test_the_audit_that_speaks(self) -> None:
        """A look, and an audit that was cancelled, do not."""
        old = self.begin('CANCELLED')
        live = self.begin(created_at=clouds.ago(90))
        self.begin('SUCCEEDED', audit_type='ONESHOT')
        run = self.named()
        self.assertEqual(live, run.audit.uuid)
        self.assertEqual(maintained.NOW - 120 * 60, run.began)
        self.watcher.audits[live]['state'] = 'CANCELLED'
        self.assertEqual(live, self.named().audit.uuid)
        self.assertNotEqual(old, live)

    def test_parameters_of_another_release(self) -> None:
        self.begin(parameters={'hosts': 'h1', 'run': 'r1', 'new': 1})
        self.begin(parameters=None)
        self.assertEqual([], runs.listed(self.client))

    def test_alone(self) -> None:
        uuid = self.begin()
        for run, hosts, expected in (
            ('r1', ('h9',), f'r1 is live in the audit {uuid}'),
            ('r2', ('h2', 'h9'), 'r1 is live and has h2, too'),
        ):
            error = self.assertRaises(
                exceptions.KronosException,
                runs.require_alone,
                runs.listed(self.client),
                Maintenance(run, hosts),
            )
            self.assertIn(expected, str(error))
        runs.require_alone(runs.listed(self.client), Maintenance('r2', ('x',)))
        self.watcher.audits[uuid]['state'] = 'CANCELLED'
        runs.require_alone(
            runs.listed(self.client), Maintenance('r1', ('h1',))
        )
