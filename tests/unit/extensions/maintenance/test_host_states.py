# SPDX-License-Identifier: Apache-2.0
"""What has become of each host, by what the cloud shows alone?"""

from dataclasses import replace
from typing import Any

import ddt
from oslotest import base

from kronos.engine.types import ComputeService, Host, Instance, Snapshot
from kronos.extensions.maintenance import host_states, maintenance
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.host_states import State
from kronos.extensions.maintenance.maintenance import Maintenance, RunView

NOW = 10_000.0
AUDIT = 'a0d17000-1111-4111-8111-111111111111'
ASKED = Maintenance('r', ('a',), host_timeout=100.0, drain_timeout=50.0)


def text(step: Step, age: float = 0.0, run: str = 'r') -> str:
    return str(ClosingReason(run, step, NOW - age, AUDIT))


@ddt.ddt
class TestStates(base.BaseTestCase):
    def state(self, view: RunView, **service: Any) -> State:
        fields = {'state': 'up', 'status': 'enabled'} | service
        snapshot = Snapshot(
            'agg',
            {'a': Host('a')},
            {},
            {},
            {'a': ComputeService('a', **fields)},
            taken_at=NOW,
            beside={maintenance.NAME: view},
        )
        return host_states.of(snapshot, ASKED)['a'].state

    def closed(self, reason: str, *ready: str, **service: Any) -> State:
        view = RunView(done=[*ready], ready=[*ready])
        return self.state(
            view, status='disabled', disabled_reason=reason, **service
        )

    def test_open(self) -> None:
        self.assertIs(State.TO_DO, self.state(RunView()))
        self.assertIs(State.DONE, self.state(RunView(done=['a'])))
        self.assertIs(State.OPENED, self.state(RunView(opened=['a'])))
        self.assertIs(State.DOWN, self.state(RunView(), state='down'))

    def test_gone(self) -> None:
        """In no scope, without a service, or closed by the run."""
        reasons = {'b': '', 'c': text(Step.HANDED_OVER), 'd': 'mine'}
        services = {
            name: ComputeService(
                name,
                state='up',
                status='disabled' if reason else 'enabled',
                disabled_reason=reason,
            )
            for name, reason in reasons.items()
        }
        snapshot = Snapshot('agg', {}, {}, {}, services)
        self.assertEqual([], host_states.gone(snapshot, ASKED))
        view = RunView(missing=['a', 'b', 'c', 'd'])
        snapshot.beside[maintenance.NAME] = view
        self.assertEqual(['a', 'c'], host_states.gone(snapshot, ASKED))

    def test_nobody_knows_who_is_done(self) -> None:
        view = RunView('no answer', done=['a'], ready=['a'])
        self.assertIs(State.TO_DO, self.state(view))
        handed = text(Step.HANDED_OVER)
        for known in (True, False):
            seen = self.state(
                replace(view, unknown='' if known else 'no answer'),
                status='disabled',
                disabled_reason=handed,
            )
            expected = State.RETURNING if known else State.HANDED_OVER
            self.assertIs(expected, seen)

    @ddt.data(
        (Step.EMPTYING, 50.0, State.EMPTYING),
        (Step.EMPTYING, 51.0, State.LATE),
        (Step.HANDED_OVER, 100.0, State.HANDED_OVER),
        (Step.HANDED_OVER, 101.0, State.LATE),
        (Step.RETURNING, 1.0, State.HANDED_OVER),
    )
    @ddt.unpack
    def test_closed(self, step: Step, age: float, state: State) -> None:
        self.assertIs(state, self.closed(text(step, age)))

    def test_done_and_late(self) -> None:
        late = text(Step.HANDED_OVER, 1000.0)
        self.assertIs(State.RETURNING, self.closed(late, 'a'))
        self.assertIs(State.LATE, self.closed(late, 'a', state='down'))

    @ddt.data(
        ('ACTIVE', 0.0, State.OCCUPIED, True),
        ('ACTIVE', 1000.0, State.LATE, True),
        ('SHUTOFF', 0.0, State.HANDED_OVER, False),
    )
    @ddt.unpack
    def test_started_since(
        self, status: str, age: float, state: State, is_emptied: bool
    ) -> None:
        """A server on a host that was handed over leaves it, if it runs."""
        reason = text(Step.HANDED_OVER, age)
        fields = {'state': 'up', 'status': 'disabled'}
        snapshot = Snapshot(
            'agg',
            {'a': Host('a')},
            {'s': Instance('s', 'a', status=status)},
            {},
            {'a': ComputeService('a', **fields, disabled_reason=reason)},
            taken_at=NOW,
            beside={maintenance.NAME: RunView()},
        )
        row = host_states.of(snapshot, ASKED)['a']
        self.assertEqual((state, is_emptied), (row.state, row.is_emptied))
        snapshot.beside[maintenance.NAME] = RunView(done=['a'], ready=['a'])
        row = host_states.of(snapshot, ASKED)['a']
        self.assertIs(State.RETURNING, row.state)
        self.assertFalse(row.is_emptied)

    def test_emptied_first(self) -> None:
        """Whatever the query says: a host with servers is not opened."""
        seen = self.closed(text(Step.EMPTYING), 'a')
        self.assertIs(State.EMPTYING, seen)

    @ddt.data('', 'mine', text(Step.EMPTYING, run='s'), 'KRONOS: at fault')
    def test_somebody_elses(self, reason: str) -> None:
        self.assertIs(State.FOREIGN, self.closed(reason, 'a'))

    def test_unavailable(self) -> None:
        services = {
            name: ComputeService(name, state='up', status=status)
            for name, status in (
                ('a', 'enabled'),
                ('b', 'disabled'),
                ('c', 'enabled'),
            )
        }
        snapshot = Snapshot(
            'agg', {n: Host(n) for n in 'abcd'}, {}, {}, services
        )
        states = host_states.of(snapshot, ASKED)
        self.assertEqual(['b', 'd'], host_states.unavailable(snapshot, states))
