# SPDX-License-Identifier: Apache-2.0
"""The table of what holds in which phase."""

from oslotest import base

from kronos.engine.phase_rules import SoftGroups, rules_of
from kronos.engine.settings import Settings, SoftRules
from kronos.engine.types import MigrationPhase
from kronos.extensions.cells.cell_drain import CellDrain, CellPhase
from kronos.extensions.cells.extension import Cells
from kronos.policies.models import Mode

EVACUATE, AFFINITY = MigrationPhase.EVACUATE, MigrationPhase.AFFINITY
SPREAD, PACK = MigrationPhase.SPREAD, MigrationPhase.PACK
RELIEVE = MigrationPhase.RELIEVE
CELL_DRAIN = CellPhase.CELL_DRAIN
OF_CELLS = Cells(CellDrain('old', ['new']))


class TestRules(base.BaseTestCase):
    def test_each_phase(self) -> None:
        """From draining hosts, from counting ones, ceilings, return guard."""
        wanted = {
            CELL_DRAIN: (True, False, True, False),
            EVACUATE: (True, False, True, False),
            AFFINITY: (True, True, True, False),
            RELIEVE: (False, True, True, True),
            SPREAD: (False, True, False, True),
            PACK: (False, True, True, True),
        }
        self.assertEqual({*MigrationPhase, *CellPhase}, set(wanted))
        for phase, row in wanted.items():
            found = rules_of(phase, Mode.SPREAD, Settings(extension=OF_CELLS))
            self.assertIs(phase, found.phase)
            self.assertEqual(
                row,
                (
                    found.from_draining,
                    found.from_counting,
                    found.ceilings,
                    found.return_guard,
                ),
            )

    def test_the_young(self) -> None:
        """Spread and pack spare them; a relief takes them at last."""
        settings = Settings(extension=OF_CELLS)
        for phase in [*MigrationPhase, *CellPhase]:
            rules = rules_of(phase, Mode.SPREAD, settings)
            self.assertIs(phase in (SPREAD, PACK), rules.spares_young)
            self.assertIs(rules.return_guard, rules.spares_moved)

    def test_thresholds(self) -> None:
        """Of mode spread alone; a drain may be let exceed them."""
        plain = Settings(extension=OF_CELLS)
        lenient = Settings(drain_may_exceed_threshold=True, extension=OF_CELLS)
        for phase in [*MigrationPhase, *CellPhase]:
            found = rules_of(phase, Mode.PACK, plain)
            self.assertFalse(found.thresholds_object)
            found = rules_of(phase, Mode.SPREAD, plain)
            self.assertTrue(found.thresholds_object)
            found = rules_of(phase, Mode.SPREAD, lenient)
            drains = phase in (CELL_DRAIN, EVACUATE)
            self.assertIs(not drains, found.thresholds_object)

    def test_soft_groups(self) -> None:
        priced = Settings(soft_rules=SoftRules.PENALTY)
        repaired = Settings(
            soft_rules=SoftRules.PENALTY, enforce_soft_affinity=True
        )
        for phase in MigrationPhase:
            for mode, settings, wanted in (
                (Mode.SPREAD, Settings(), ()),
                (Mode.SPREAD, priced, (EVACUATE, SPREAD)),
                (Mode.PACK, priced, ()),
                (Mode.SPREAD, repaired, ()),
            ):
                found = rules_of(phase, mode, settings).soft_groups
                self.assertIs(
                    SoftGroups.PRICED if phase in wanted else SoftGroups.VETO,
                    found,
                    (phase, mode, settings),
                )

    def test_soft_groups_leave_a_cell(self) -> None:
        """One by one, whatever the settings are."""
        for mode in Mode:
            found = rules_of(
                CELL_DRAIN, mode, Settings(extension=OF_CELLS)
            ).soft_groups
            self.assertIs(SoftGroups.PRICED, found)

    def test_repeats(self) -> None:
        for repeats in (False, True):
            found = rules_of(
                SPREAD, Mode.SPREAD, Settings(repeat_moves=repeats)
            )
            self.assertIs(repeats, found.may_repeat)
