# SPDX-License-Identifier: Apache-2.0
"""Does a status ask Nova only for what it tells?"""

from kronos.common import exceptions
from kronos.extensions.maintenance.closing_reason import Step
from kronos.extensions.maintenance.host_states import State
from tests.unit.extensions.maintenance.client import maintained


class TestRunReader(maintained.MaintainedTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.begin()
        self.plan_next(
            efficacy_indicators=[{'name': 'hosts_done', 'value': 0.0}]
        )
        self.servers = {'h1': ['ACTIVE', 'SHUTOFF'], 'h2': ['ACTIVE']}

    def counts(self, host: str | None = None) -> list[int | None]:
        reader = self.reader()
        status = reader.status(reader.run(None), host)
        return [row.running for row in status.hosts]

    def test_servers_of_closed_hosts(self) -> None:
        self.assertEqual([None, None, None], self.counts())
        self.close('h1', Step.EMPTYING)
        self.assertEqual([1, None, None], self.counts())
        self.assertEqual([1, 1, None], self.counts('h2'))
        self.assertEqual([1, None, 0], self.counts('h3'))

    def test_states(self) -> None:
        self.close('h1', age=4000.0)
        self.close_by_hand('h2')
        reader = self.reader()
        status = reader.status(reader.run('r1'))
        self.assertEqual(
            [State.LATE, State.FOREIGN, State.TO_DO],
            [row.state for row in status.hosts],
        )

    def test_a_host_of_another_run(self) -> None:
        error = self.assertRaises(
            exceptions.KronosException, self.counts, 'h4'
        )
        self.assertIn('the run r1 has no host h4; ', str(error))
