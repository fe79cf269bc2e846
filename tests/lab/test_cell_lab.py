# SPDX-License-Identifier: Apache-2.0
"""The lab's second cell, without Kronos: what Nova does there.

======================  ============================  ======================
What fails              The server                    Its migration
======================  ============================  ======================
claim, binding          busy for ever, runs           error, no destination
power-off               as before                     error
snapshot                ACTIVE, but powered off       error
destroy, spawn          ERROR on its source           error
confirm                 ERROR on its destination      error
revert                  ERROR on its source           error
======================  ============================  ======================
"""

from typing import Any

from tests.lab import cells

from labkit import faults  # isort: skip
from labkit.cells import policy  # isort: skip

SOURCE, DESTINATION = 'old1', 'cmp1'
ENDS: dict[str, tuple[Any, ...]] = {
    'claim': ('RESIZE', 'resize_prep', 1, SOURCE),
    'binding': ('RESIZE', 'resize_prep', 1, SOURCE),
    'power-off': ('ACTIVE', None, 1, SOURCE),
    'snapshot': ('ACTIVE', None, 4, 'old2'),
    'destroy': ('ERROR', None, 4, SOURCE),
    'spawn': ('ERROR', None, 4, SOURCE),
    'confirm': ('ERROR', None, 1, DESTINATION),
    'revert': ('ERROR', None, 4, SOURCE),
}
HELD: dict[str, tuple[Any, ...]] = {
    'claim': ('RESIZE', 'resize_prep', 1, SOURCE),
    'binding': ('RESIZE', 'resize_prep', 1, SOURCE),
    'power-off': ('RESIZE', 'resize_migrating', 1, SOURCE),
    'snapshot': ('RESIZE', 'resize_migrating', 1, 'old2'),
    'destroy': ('RESIZE', 'resize_migrating', 1, SOURCE),
    'spawn': ('RESIZE', 'resize_migrated', 4, SOURCE),
    'confirm': ('VERIFY_RESIZE', None, 1, DESTINATION),
    'revert': ('ACTIVE', 'resize_reverting', 4, SOURCE),
}
"""State of a server while the phase takes its time."""
LOOKS = 8
SOURCES, DESTINATIONS = {'snapshot': 'old2'}, {'claim': 'cmp2'}
"""Of servers that are told to fail by a host."""
AFTERWARDS = {'confirm': cells.CONFIRM, 'revert': cells.REVERT}


class ByHandTestCase(cells.CellsTestCase):
    def migrate(self, name: str, host: str = DESTINATION) -> None:
        self.act(name, {'migrate': {'host': host}})


class TestMoves(ByHandTestCase):
    def test_confirmed_or_reverted(self):
        """One stays there, one comes back; nothing of them is lost."""
        self.boot_here({'stays': SOURCE, 'back': SOURCE, 'off': SOURCE})
        self.stop_servers('off')
        before = {name: self.kept(name) for name in self.uuids}
        for name in self.uuids:
            self.migrate(name)
        for name in self.uuids:
            self.wait_server(name, 'VERIFY_RESIZE', None)
            bound = [hosts for *_, hosts in self.ports_of(name).values()]
            self.assertEqual([{SOURCE, DESTINATION}], bound)
            moved = self.migration(name)['uuid']
            self.assertEqual({SOURCE}, set(self.allocations(moved)))
        self.act('back', {cells.REVERT: None})
        for name in ('stays', 'off'):
            self.act(name, {cells.CONFIRM: None}, 204)
        self.wait_server('stays', 'ACTIVE', None)
        self.wait_server('off', 'SHUTOFF', None)
        self.wait_server('back', 'ACTIVE', None)
        self.wait_migration('back', 'reverted')
        self.assert_here(
            {'stays': DESTINATION, 'off': DESTINATION, 'back': SOURCE}, 'off'
        )
        self.assertEqual(
            before, {name: self.kept(name) for name in self.uuids}
        )

    def test_closed_policy(self):
        """Nova knows no such host then."""
        self.boot_here({'one': SOURCE})
        policy.write(is_open=False)
        body = {'migrate': {'host': DESTINATION}}
        answer = self.act('one', body, 400)
        self.assertIn(
            f'Compute host {DESTINATION} could not be found', answer.text
        )
        policy.write(is_open=True)
        self.act('one', body)
        self.wait_server('one', 'VERIFY_RESIZE', None)

    def test_hidden_copy_has_no_guest(self):
        """A source that is restarted leaves a server alone that has left."""
        self.boot_here({'gone': SOURCE, 'here': SOURCE})
        self.migrate('gone')
        self.wait_server('gone', 'VERIFY_RESIZE', None)
        self.lab.restart(SOURCE)
        self.wait(lambda: not self.down(), 'the host to be up')
        # It would refuse to clean up after a guest that runs.
        self.act('gone', {cells.CONFIRM: None}, 204)
        self.wait_server('gone', 'ACTIVE', None)
        self.assert_here({'gone': DESTINATION, 'here': SOURCE})


class TestPhases(ByHandTestCase):
    def test_how_it_fails(self):
        """Each phase takes its time, fails, and leaves the server so."""
        self.boot_here({phase: SOURCES.get(phase, SOURCE) for phase in ENDS})
        rules = {self.key(phase): phase for phase in ENDS}
        self.cloud.set_migrations(
            {
                key: {faults.seconds_of(phase): None, 'fail': phase}
                for key, phase in rules.items()
            }
        )
        for phase in ENDS:
            self.migrate(phase, DESTINATIONS.get(phase, DESTINATION))
        for phase, request in AFTERWARDS.items():
            self.wait_server(phase, 'VERIFY_RESIZE', None)
            code = 204 if phase == 'confirm' else 202
            self.act(phase, {request: None}, code)
        self.assert_held()
        self.cloud.set_migrations(
            {key: {'fail': phase} for key, phase in rules.items()}
        )
        for phase, end in ENDS.items():
            self.wait_migration(phase, 'error')
            self.wait_state(phase, end)
            held = {end[-1]}
            self.wait(
                lambda of=self.uuids[phase], at=held: (
                    set(self.allocations(of)) == at
                ),
                f'{phase}: Placement to be put right',
            )
        self.wait(lambda: not self.copies(), 'snapshots to be deleted')

    def key(self, phase: str) -> str:
        """Of the rule: a host, where no other server goes; else the server.

        By uuid, since Neutron knows no name of a server.
        """
        if phase in SOURCES:
            return f'source:{SOURCES[phase]}'
        if phase in DESTINATIONS:
            return f'destination:{DESTINATIONS[phase]}'
        return self.uuids[phase]

    def assert_held(self) -> None:
        """All are in their phase, however often one looks."""
        for phase, state in HELD.items():
            self.wait_state(phase, state)
        for _ in range(LOOKS):
            found = {phase: self.state(phase) for phase in HELD}
            self.assertEqual(HELD, found)

    def wait_state(self, name: str, state: tuple[Any, ...]) -> None:
        self.wait(lambda: self.state(name) == state, f'{name} to be {state}')
