# SPDX-License-Identifier: Apache-2.0
"""Does the protocol of publishing and turns keep its promises in any case?

Every state of its model is looked at, also those after a crash, and after a
message that was delivered twice. Each mistake that is planted is seen.
"""

from oslotest import base

from tests.protocol import explorer
from tests.protocol.state import State
from tests.protocol.steps import Mistake, Protocol
from tests.protocol.symmetry import canonical

TWO_STARTED = 'two started plans move one server'
MOVED_TWICE = 'a server is moved twice'
TOO_MANY = 'more moves leave the host at a time than may'
WAITS = 'somebody waits for ever'

PUBLISHING = (
    (Mistake.NO_LOCK, 1, TWO_STARTED),
    (Mistake.NO_MARK, 3, TWO_STARTED),
    (Mistake.LATE_BASIS, 1, TWO_STARTED),
    (Mistake.NOT_CHECKED, 1, TWO_STARTED),
)
"""Mistakes that two engines suffer from, by the nodes of the database."""
MOVES = (
    (Mistake.LATE_TURN, TOO_MANY),
    (Mistake.NOT_RENEWED, MOVED_TWICE),
    (Mistake.NEVER_OLD, WAITS),
    (Mistake.NEVER_OVER, WAITS),
)
"""Those that two appliers suffer from."""


class TestStates(base.BaseTestCase):
    def assert_holds(self, nodes: int, *sizes: int) -> int:
        """Every promise holds; returns how many states there are."""
        protocol = Protocol(nodes)
        seen = explorer.explore(protocol, protocol.start(*sizes))
        self.assertEqual(('', []), (seen.fault, seen.trace))
        return seen.states

    def test_two_engines_and_appliers(self) -> None:
        self.assertGreater(self.assert_holds(1, 2, 2, 2), 10_000)

    def test_three_plans(self) -> None:
        states = self.assert_holds(1, 2, 2, 3, 0)
        self.assertGreater(states, 10_000)

    def test_a_cluster(self) -> None:
        self.assertGreater(self.assert_holds(3, 2, 1, 2), 10_000)

    def test_planted_mistakes(self) -> None:
        for mistake, nodes, fault in PUBLISHING:
            protocol = Protocol(nodes, mistake)
            seen = explorer.explore(protocol, protocol.start(2, 1, 2))
            self.assertEqual(fault, seen.fault, mistake)

    def test_planted_mistakes_of_moves(self) -> None:
        for mistake, fault in MOVES:
            protocol = Protocol(1, mistake)
            seen = explorer.explore(protocol, protocol.start(1, 2, 2))
            self.assertEqual(fault, seen.fault, mistake)

    def test_every_mistake_is_planted(self) -> None:
        planted = {mistake for mistake, *_ in (*PUBLISHING, *MOVES)}
        self.assertEqual(set(Mistake), planted)


class TestPrivateSteps(base.BaseTestCase):
    """What the search takes at once changes nothing for anybody else."""

    def test_order(self) -> None:
        for sizes in ((2, 1, 1), (1, 2, 1), (1, 1, 2)):
            protocol = Protocol()
            start = protocol.start(*sizes)
            seen, to_do = {start}, [start]
            while to_do:
                state = to_do.pop()
                self.check(protocol, state)
                for _, after in protocol.steps(state):
                    after = canonical(after, protocol.idle)
                    if after not in seen:
                        seen.add(after)
                        to_do.append(after)

    def check(self, protocol: Protocol, state: State) -> None:
        """A private step may come before or after each step of another."""
        private = protocol.private_step(state)
        if private is None:
            return
        name, first = private
        later = dict(protocol.steps(first))
        who = name.partition(':')[0]
        for other, after in protocol.steps(state):
            is_own = other.startswith(f'{who}:')
            if is_own or other.endswith(explorer.LOOKS):
                continue
            step = dict(protocol.steps(after)).get(name)
            # Who was killed does nothing more.
            if step is None and 'killed' not in other:
                self.fail(f'{other} hinders {name}')
            if step is not None:
                self.assertEqual(
                    canonical(step, protocol.idle),
                    canonical(later[other], protocol.idle),
                    f'{other}, {name}',
                )
