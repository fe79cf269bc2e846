# SPDX-License-Identifier: Apache-2.0
"""The settings, and what each mode of planning decides itself."""

import dataclasses
import itertools

from oslotest import base

from kronos.engine.extension import PLAIN
from kronos.engine.settings import (
    PHASES_OF_MODE,
    PhaseSelection,
    PlanMode,
    Settings,
    SwapMoves,
)
from kronos.extensions.cells.cell_drain import CellDrain
from kronos.extensions.cells.extension import Cells
from kronos.extensions.cells.options import CellOptions
from kronos.extensions.recovery.options import RecoveryOptions
from kronos.policies.models import Mode

DECIDED = (
    'rebalance',
    'evacuate',
    'enforce_hard_affinity',
    'enforce_soft_affinity',
    'unlimited',
    'drain_hosts',
    'cooldown_seconds',
)
HOSTS = ['h1']
BEFORE = (
    (True, True, True, True, True, ['h9'], 7.0),
    (False, False, False, False, False, None, 0.0),
)


def decided(mode: PlanMode, asked: PhaseSelection) -> tuple[object, ...]:
    """What a mode makes of settings, whatever they were before."""
    first, second = (_decided(mode, asked, one) for one in BEFORE)
    assert first == second
    return first


def _decided(
    mode: PlanMode, asked: PhaseSelection, before: tuple[object, ...]
) -> tuple[object, ...]:
    found = Settings(**dict(zip(DECIDED, before, strict=True)))  # type: ignore
    found.set_mode(mode, asked)
    return tuple(getattr(found, name) for name in DECIDED)


class TestModes(base.BaseTestCase):
    def test_each_has_its_row(self) -> None:
        self.assertEqual([*PlanMode], [*PHASES_OF_MODE])

    def test_policies(self) -> None:
        """Only spread and pack take those of one mode alone."""
        self.assertEqual(
            [Mode.SPREAD, Mode.PACK, None, None, None, None],
            [row.policies for row in PHASES_OF_MODE.values()],
        )

    def test_nothing_asked_for(self) -> None:
        asked = PhaseSelection()
        for mode, wanted in (
            ('spread', (True, False, False, False, False, None, 0.0)),
            ('pack', (True, False, False, False, False, None, 0.0)),
            ('evacuate', (False, True, False, False, True, None, 0)),
            ('affinity', (False, False, True, False, False, None, 0.0)),
        ):
            self.assertEqual(wanted, decided(PlanMode(mode), asked), mode)

    def test_all_asked_for(self) -> None:
        asked = PhaseSelection(True, True, True, HOSTS, 60.0)
        for mode, wanted in (
            ('spread', (True, True, True, True, False, None, 60.0)),
            ('pack', (True, True, True, True, False, None, 60.0)),
            ('evacuate', (False, True, False, False, True, HOSTS, 0)),
            ('affinity', (False, False, True, True, False, None, 60.0)),
        ):
            self.assertEqual(wanted, decided(PlanMode(mode), asked), mode)

    def test_a_cell_drain(self) -> None:
        """It has a budget, and needs no zone to be the same."""
        asked = PhaseSelection(
            drain_hosts=HOSTS,
            cooldown_seconds=60.0,
            extension=Cells(CellDrain('old', ['new'])),
        )
        found = Settings(restrict_to_az=True)
        found.set_mode(PlanMode.CELL_DRAIN, asked)
        self.assertIs(asked.extension, found.extension)
        self.assertEqual(
            (False, 0.0, 10, True, None),
            (
                found.restrict_to_az,
                found.cooldown_seconds,
                found.max_migrations,
                found.evacuate,
                found.drain_hosts,
            ),
        )
        found.set_mode(PlanMode.EVACUATE, asked)
        self.assertEqual(PLAIN, found.extension)

    def test_each_phase_is_asked_for_by_itself(self) -> None:
        for flags in itertools.product((False, True), repeat=3):
            _, *found = decided(PlanMode.SPREAD, PhaseSelection(*flags))
            self.assertEqual([*flags], found[:3])

    def test_what_is_no_matter_of_the_mode_stays(self) -> None:
        found = Settings(keep_hosts=3, swap_moves=SwapMoves.ANY)
        found.set_mode(PlanMode.PACK, PhaseSelection())
        self.assertEqual(3, found.keep_hosts)
        self.assertIs(SwapMoves.ANY, found.swap_moves)

    def test_selection(self) -> None:
        """What is configured, but never which hosts are drained."""
        found = Settings(
            evacuate=True,
            enforce_soft_affinity=True,
            cooldown_seconds=5.0,
            drain_hosts=HOSTS,
        )
        self.assertEqual(
            PhaseSelection(True, False, True, None, 5.0), found.selection()
        )


class TestSettings(base.BaseTestCase):
    def test_swap_moves_was_a_flag_once(self) -> None:
        self.assertIs(SwapMoves.SAFE, SwapMoves(True))
        self.assertIs(SwapMoves.NONE, SwapMoves(False))
        self.assertRaises(ValueError, SwapMoves, 'perhaps')

    def test_enforces_and_ceilings(self) -> None:
        plain = Settings()
        self.assertFalse(plain.enforces or plain.uses_ceilings)
        for name in ('enforce_hard_affinity', 'enforce_soft_affinity'):
            one = dataclasses.replace(plain, **{name: True})
            self.assertTrue(one.enforces and one.uses_ceilings, name)
        one = Settings(evacuate=True)
        self.assertFalse(one.enforces)
        self.assertTrue(one.uses_ceilings)


class TestOptions(base.BaseTestCase):
    """Of extensions, which have classes of their own."""

    def test_those_as_by_default_are_left_out(self) -> None:
        """Settings are equal that plan alike, in whatever order set."""
        cells = CellOptions(cell_move_lossy=True)
        recovery = RecoveryOptions(max_closed_hosts=2)
        first, second = Settings(), Settings()
        for options in (recovery, cells):
            first.set_options(options)
        for options in (CellOptions(), cells, recovery):
            second.set_options(options)
        self.assertEqual(first, second)
        self.assertEqual(cells, first.options(CellOptions))
        for options in (CellOptions(), RecoveryOptions()):
            first.set_options(options)
        self.assertEqual(Settings(), first)

    def test_a_copy_is_left_alone(self) -> None:
        first = Settings()
        dataclasses.replace(first).set_options(RecoveryOptions(2))
        self.assertEqual(RecoveryOptions(), first.options(RecoveryOptions))
