# SPDX-License-Identifier: Apache-2.0
"""Is it told what a move is for that gains nothing?"""

from oslotest import base

from kronos.engine.planning import move_reasons
from kronos.engine.types import MigrationPhase, MigrationStep


def steps(*gains: float, phase: MigrationPhase = MigrationPhase.SPREAD):
    found = []
    before = 1.0
    for number, one in enumerate(gains, start=1):
        found.append(
            MigrationStep(
                scope='alpha',
                phase=phase,
                instance=f'u{number}',
                instance_name=f'vm{number}',
                source='h1',
                destination='h2',
                memory_mb=1024,
                imbalance_before={'cpu': before},
                imbalance_after={'cpu': before - one},
                combined_before=before,
                combined_after=before - one,
            )
        )
        before -= one
    return found


class TestPlateaus(base.BaseTestCase):
    def test_rows(self) -> None:
        """Each with the next move that gains."""
        for gains, texts in (
            (
                (0.0, 0.0, 0.0, 0.25, 0.0, 0.125),
                [
                    'Moves 1 to 3 have no gain by themselves, but prepare '
                    'later ones: the next gain is that of move 4, 0.2500.',
                    'Move 5 has no gain by itself, but prepares later ones: '
                    'the next gain is that of move 6, 0.1250.',
                ],
            ),
            (
                (0.0, -0.125, 0.0, 0.25),
                [
                    'Moves 1 and 3 have no gain by themselves, but prepare '
                    'later ones: the next gain is that of move 4, 0.2500.'
                ],
            ),
            ((0.25, 0.125, 0.0), []),
        ):
            self.assertEqual(texts, move_reasons.plateaus(steps(*gains)))

    def test_halves_of_an_exchange(self) -> None:
        """They have each other."""
        found = steps(0.0, 0.25)
        found[1].requires = 'u1'
        self.assertEqual([], move_reasons.plateaus(found))

    def test_other_phases(self) -> None:
        found = steps(0.0, 0.0, phase=MigrationPhase.EVACUATE) + steps(0.25)
        self.assertEqual([], move_reasons.plateaus(found))
