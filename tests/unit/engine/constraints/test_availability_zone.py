# SPDX-License-Identifier: Apache-2.0
"""Are zones kept, those that tenants ask for and those of restrict_to_az?"""

from kronos.engine import edits
from kronos.engine.constraints.availability_zone import (
    PinnedZone,
    SameZone,
    zone_of,
)
from tests.builders import constraints
from tests.unit.engine.constraints import scope_case


class TestZones(scope_case.ScopeTestCase):
    def test_pinned_zone(self) -> None:
        """A hard rule, whatever restrict_to_az says."""
        self.snapshot.instances['v'].pinned_availability_zone = 'az1'
        self.assertIn('an unknown one', self.reason())
        self.snapshot.hosts['b'].availability_zone = 'az2'
        self.assertIn('pinned to availability zone az1', self.reason())
        self.snapshot.hosts['b'].availability_zone = 'az1'
        self.assertIsNone(self.reason())

    def test_restrict_to_az(self) -> None:
        """The zone may come from the service of the host alone."""
        self.snapshot.hosts['a'].availability_zone = 'az1'
        (self.snapshot.services or {})['b'].zone = 'az2'
        self.assertIsNone(self.reason())
        self.settings.restrict_to_az = True
        self.assertIn('zone az2, not az1', self.reason())
        (self.snapshot.services or {})['b'].zone = 'az1'
        self.assertIsNone(self.reason())

    def test_relaxations(self) -> None:
        self.snapshot.instances['v'].pinned_availability_zone = 'az1'
        self.snapshot.hosts['b'].availability_zone = 'az2'
        self.settings.restrict_to_az = True
        for kind in (PinnedZone, SameZone):
            given = constraints.given(self.snapshot, self.settings)
            reason = kind.build(given).why_not(0, 1)
            self.assertIn(reason.code, kind.codes)
            case = constraints.relaxed(
                kind,
                self.snapshot,
                self.settings,
                reason,
                edits.Pair('v', 'a', 'b'),
            )
            again = kind.build(constraints.given(case.snapshot, case.settings))
            self.assertTrue(again is None or not again.why_not(0, 1))

    def test_the_zone_of_a_host(self) -> None:
        """Of its aggregate first, then of its service."""
        self.assertEqual('', zone_of(self.snapshot, 'a'))
        (self.snapshot.services or {})['a'].zone = 'az2'
        self.assertEqual('az2', zone_of(self.snapshot, 'a'))
        self.snapshot.hosts['a'].availability_zone = 'az1'
        self.assertEqual('az1', zone_of(self.snapshot, 'a'))
        self.snapshot.services = None
        self.assertEqual('', zone_of(self.snapshot, 'b'))
