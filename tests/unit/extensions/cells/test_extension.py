# SPDX-License-Identifier: Apache-2.0
"""What the extension that empties a cell answers to the trunk."""

from oslotest import base

from kronos.engine.constraints.availability_zone import PinnedZone
from kronos.engine.constraints.cell import SameCell
from kronos.engine.constraints.constraint_set import CONSTRAINTS
from kronos.engine.constraints.hypervisor_version import HypervisorVersion
from kronos.engine.constraints.vtpm import VtpmTraits
from kronos.engine.planning import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.extensions.cells.cell_drain import CellPhase
from kronos.extensions.cells.planning.quota import Quota
from kronos.extensions.cells.planning.target_cell import TargetCell
from tests.builders import cells


class TestCells(base.BaseTestCase):
    def test_hosts(self) -> None:
        """Those of the source cell are emptied, and take nothing."""
        snapshot, settings = cells.cells([]), cells.settings()
        own = settings.extension
        self.assertEqual({*cells.OLD}, own.to_empty(snapshot, settings))
        for name, host in snapshot.hosts.items():
            codes = [one.code for one in own.host_reasons(host, settings)]
            wanted = [Code.HOST_DRAINED] if name in cells.OLD else []
            self.assertEqual(wanted, codes, name)
            self.assertEqual([], own.host_reasons(host, Settings()))

    def test_constraints(self) -> None:
        """In the places of those that hold for live migrations alone."""
        own = cells.settings().extension.constraints(CONSTRAINTS)
        for kind, instead in ((SameCell, TargetCell), (VtpmTraits, Quota)):
            self.assertEqual(CONSTRAINTS.index(kind), own.index(instead))
            self.assertNotIn(kind, own)
        self.assertNotIn(HypervisorVersion, own)
        self.assertIn(PinnedZone, own)
        unpinned = cells.settings(unpin_az=True).extension
        self.assertNotIn(PinnedZone, unpinned.constraints(CONSTRAINTS))

    def test_closings(self) -> None:
        """Of a plan that moves something, where the audit asks for them."""
        for closes in (False, True):
            settings = cells.settings(close_source=closes)
            self.assertIs(closes, settings.extension.closes_hosts)
            for servers in ([], [cells.server('a')]):
                [found] = propose.propose(
                    [cells.cells(servers)], [cells.CPU], settings
                ).scopes
                wanted = cells.OLD if closes and servers else ()
                self.assertEqual(
                    [*wanted], [one.host for one in found.closings]
                )

    def test_phase(self) -> None:
        """Nothing else is planned, whatever was asked for besides."""
        snapshot = cells.cells([cells.server('a'), cells.server('b', 'n1')])
        [found] = propose.propose(
            [snapshot], [cells.CPU], cells.settings()
        ).scopes
        [step] = found.steps
        self.assertIs(CellPhase.CELL_DRAIN, step.phase)
        self.assertEqual('leaves cell old, which is being emptied', step.why)
