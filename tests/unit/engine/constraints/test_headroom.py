# SPDX-License-Identifier: Apache-2.0
"""Does an instance only go where there is room?"""

from oslotest import base

from kronos.engine import edits
from kronos.engine.constraints.headroom import HeadroomConstraint
from kronos.engine.settings import Settings
from kronos.engine.types import (
    Event,
    Headroom,
    Instance,
    Origin,
    Outcome,
    Snapshot,
)
from tests.builders import constraints, scopes


class TestHeadroom(base.BaseTestCase):
    def _constraint(
        self, room: dict[str, Headroom] | None
    ) -> HeadroomConstraint:
        snapshot = scopes.scope([], {'a': [], 'b': []}, [])
        snapshot.hosts['b'].headroom = room
        return HeadroomConstraint(
            [Instance('v', 'a', vcpus=2, memory_mb=1024, disk_gb=10).demand],
            list(snapshot.hosts.values()),
            ['VCPU', 'MEMORY_MB', 'DISK_GB'],
        )

    def test_reasons(self) -> None:
        full = {
            'VCPU': Headroom(16, 14),
            'MEMORY_MB': Headroom(4096, 3072),
            'DISK_GB': Headroom(100, 90),
        }
        table = [
            ({}, ''),
            ({'VCPU': Headroom(16, 15)}, 'needs 2 VCPU, 1 are free'),
            ({'MEMORY_MB': Headroom(4096, 3073)}, '1023 are free'),
            ({'DISK_GB': Headroom(100, 91)}, 'needs 10 DISK_GB, 9 are free'),
            ({'VCPU': Headroom(16, 20)}, 'needs 2 VCPU, 0 are free'),
        ]
        for more, words in table:
            reason = self._constraint({**full, **more}).why_not(0, 1)
            with self.subTest(more=more, reason=reason):
                self.assertEqual(bool(words), bool(reason))
                self.assertIn(words, reason or '')
        del full['DISK_GB']
        self.assertIn('0 are free', self._constraint(full).why_not(0, 1))

    def test_unknown_room_is_not_its_matter(self) -> None:
        self.assertIsNone(self._constraint(None).why_not(0, 1))

    def test_room_follows_the_plan(self) -> None:
        """What enters takes room at once; what leaves gives it."""
        constraint = self._constraint(
            {
                'VCPU': Headroom(16, 14),
                'MEMORY_MB': Headroom(4096, 0),
                'DISK_GB': Headroom(100, 0),
            }
        )
        constraint.follow(0, 0, 1)
        self.assertIn('0 are free', constraint.why_not(0, 1))
        constraint.follow(0, 1, 0)
        self.assertIsNone(constraint.why_not(0, 1))

    def _scope(self) -> Snapshot:
        """b has room for one of the two."""
        snapshot = scopes.scope(
            [],
            {'a': [], 'b': []},
            [scopes.vm(uuid, 'a', [], disk_gb=10) for uuid in 'uv'],
        )
        room = {'VCPU': 9, 'MEMORY_MB': 1024, 'DISK_GB': 5}
        scopes.give_room(snapshot, {'b': room})
        return snapshot

    def test_disk_counts_where_it_is_asked_for(self) -> None:
        for check in (False, True):
            given = constraints.given(
                self._scope(), Settings(check_disk=check)
            )
            refused = not HeadroomConstraint.build(given).column(1)[0]
            self.assertEqual(check, refused)

    def test_room_for_all(self) -> None:
        given = constraints.given(self._scope())
        constraint = HeadroomConstraint.build(given)
        both, one = given.host_of * 0 + [0, 1], given.host_of[:1]
        self.assertTrue(constraint.takes_all(one, 1))
        self.assertFalse(constraint.takes_all(both, 1))

    def test_who_is_on_its_way_has_its_room(self) -> None:
        """Where Placement does not hold it yet."""
        for origin, free in ((Origin.WATCHER, False), (Origin.NOVA, True)):
            snapshot = self._scope()
            snapshot.events.append(
                Event('u', 'a', 'b', Outcome.UNDER_WAY, 1.0, origin)
            )
            given = constraints.given(snapshot)
            constraint = HeadroomConstraint.build(given)
            self.assertEqual(free, constraint.why_not(1, 1) is None)

    def test_relaxation(self) -> None:
        """Just as much more room as it lacks, class by class."""
        snapshot, settings = self._scope(), Settings(check_disk=True)
        given = constraints.given(snapshot, settings)
        constraint = HeadroomConstraint.build(given)
        constraint.follow(0, 0, 1)
        reasons = constraint.reasons(1, 1)
        self.assertEqual(
            [('MEMORY_MB', 1024.0), ('DISK_GB', 15.0)],
            [(reason.about, reason.value) for reason in reasons],
        )
        for reason in reasons:
            self.assertIn(reason.code, HeadroomConstraint.codes)
            case = constraints.relaxed(
                HeadroomConstraint,
                snapshot,
                settings,
                reason,
                edits.Pair('v', 'a', 'b'),
            )
            snapshot = case.snapshot
        again = HeadroomConstraint.build(constraints.given(snapshot, settings))
        again.follow(0, 0, 1)
        self.assertEqual([], again.reasons(1, 1))
