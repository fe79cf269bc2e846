# SPDX-License-Identifier: Apache-2.0
"""What does a run read of a cloud, and when does it refuse?"""

from typing import Any

from oslotest import base

from kronos.common import exceptions
from kronos.engine.settings import Settings
from kronos.engine.types import ComputeService, Host, Reading
from kronos.extensions.maintenance import maintenance
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.extension import MaintenanceRun
from kronos.extensions.maintenance.maintenance import Maintenance, RunView
from kronos.extensions.maintenance.readings.done_hosts import RunQueries
from kronos.extensions.maintenance.readings.reader import MaintenanceReader
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.reader import Look
from kronos.snapshots.scopes import Cloud
from tests.unit.extensions.maintenance.readings import test_done_hosts

AUDIT = 'a0d17000-1111-4111-8111-111111111111'


class TestReader(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.hosts = {name: Host(name) for name in ('a', 'b', 'c')}
        self.gathered = CloudInventory(
            Cloud(self.hosts, {}, []),
            {
                name: ComputeService(name, state='up', status='enabled')
                for name in self.hosts
            },
        )

    def read(
        self,
        *hosts: str,
        done: Reading | None = None,
        closed: tuple[str, ...] = (),
        elsewhere: dict[str, str] | None = None,
    ) -> RunView:
        nova: Any = None  # it is not asked
        spec = Maintenance('r', hosts)
        reader = MaintenanceReader(
            RunQueries('done', ''),
            lambda run: closed,
            lambda run: elsewhere or {},
        )
        answers = test_done_hosts.Prometheus(
            done=done or test_done_hosts.reading()
        )
        settings = Settings(extension=MaintenanceRun(spec))
        scope = {'agg': [self.hosts['a'], self.hosts['b']]}
        reader.read(Look(self.gathered, scope, nova, answers, settings, print))
        return maintenance.view_of(self.gathered.beside)

    def test_before(self) -> None:
        self.assertEqual(
            maintenance.NOT_QUERIED,
            maintenance.view_of(self.gathered.beside).unknown,
        )

    def test_done(self) -> None:
        view = self.read('a', 'b', done=test_done_hosts.reading(a=1.0))
        self.assertEqual(RunView('', ['a'], ['a']), view)

    def test_opened_by_hand(self) -> None:
        """The run closed it, and it is enabled and not done."""
        done = test_done_hosts.reading(a=1.0)
        view = self.read('a', 'b', done=done, closed=('a', 'b', 'c'))
        self.assertEqual(['b'], view.opened)

    def test_an_unknown_host(self) -> None:
        for name in ('x', 'c'):
            error = self.assertRaises(
                exceptions.ConfigurationError, self.read, 'a', name
            )
            self.assertIn(f'hosts: "{name}" is no host of a', str(error))
        self.assertNotIn(maintenance.NAME, self.gathered.beside)

    def test_a_host_is_gone_while_the_run_goes_on(self) -> None:
        assert self.gathered.services is not None
        reason = ClosingReason('r', Step.EMPTYING, 0.0, AUDIT)
        self.gathered.services['a'] = ComputeService(
            'a', state='up', status='disabled', disabled_reason=str(reason)
        )
        view = self.read('a', 'x')
        self.assertEqual(['x'], view.missing)
        self.assertIn('no scope of the audit: x', self.gathered.warnings[-1])

    def close(self, host: str, run: str) -> None:
        assert self.gathered.services is not None
        reason = ClosingReason(run, Step.EMPTYING, 0.0, AUDIT)
        self.gathered.services[host] = ComputeService(
            host, state='up', status='disabled', disabled_reason=str(reason)
        )

    def refused(self, *hosts: str, **more: Any) -> str:
        error = self.assertRaises(
            exceptions.ConfigurationError, self.read, *hosts, **more
        )
        self.assertNotIn(maintenance.NAME, self.gathered.beside)
        return str(error)

    def test_a_host_of_another_run(self) -> None:
        """Which has closed it, or will."""
        text = self.refused('a', 'b', elsewhere={'b': 's', 'c': 't'})
        self.assertIn('hosts: "b" is in run "s" already', text)
        self.close('a', 's')
        self.assertIn('"a" is in run "s" already', self.refused('a', 'b'))

    def test_a_run_that_has_begun_goes_on(self) -> None:
        self.close('a', 'r')
        view = self.read('a', 'b', elsewhere={'b': 's'})
        self.assertEqual([], view.missing)

    def test_as_watcher_remembers(self) -> None:
        """Not because some hosts are done: those may be of the other run."""
        others = {'b': 's'}
        done = test_done_hosts.reading(a=1.0)
        self.refused('a', 'b', done=done, elsewhere=others)
        view = self.read('a', 'b', done=done, closed=('a',), elsewhere=others)
        self.assertEqual(['a'], view.done)

    def test_a_host_that_somebody_else_has_closed(self) -> None:
        """Its state says so; the run may begin with the others."""
        assert self.gathered.services is not None
        self.gathered.services['a'] = ComputeService(
            'a', state='up', status='disabled', disabled_reason='mine'
        )
        self.assertEqual(RunView(), self.read('a', 'b'))
