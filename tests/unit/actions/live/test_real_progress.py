# SPDX-License-Identifier: Apache-2.0
"""Are real migrations, as Nova told them each second, judged rightly?"""

import json

import testscenarios
from oslotest import base

from kronos.actions.live.passes import MIB, Passes, PassLook
from tests import places

FOLDER = places.TOP / 'tests' / 'fixtures' / 'migrations'


def passes_of(name: str) -> tuple[list[tuple[int, int]], Passes]:
    """Number of the pass and how many were in vain, look by look."""
    recorded = json.loads((FOLDER / f'{name}.json').read_text())
    found = Passes()
    known = []
    for row in recorded['rows']:
        told = dict(zip(recorded['columns'], row, strict=False))
        if told.get('memory_total'):
            done, left = told['memory_processed'], told['memory_remaining']
            found.note(PassLook(told['seconds'], done, left))
        known.append((found.number, found.in_vain()))
    return known, found


class TestRecorded(testscenarios.TestWithScenarios, base.BaseTestCase):
    scenarios = [  # noqa: RUF012
        (name, {'name': name})
        for name in sorted(file.stem for file in FOLDER.glob('*.json'))
    ]
    name: str

    def test_what_has_an_end_is_never_in_vain(self) -> None:
        """Half a second sends what one guest writes; Nova grants that."""
        known, _ = passes_of(self.name)
        vain = max(in_vain for _, in_vain in known)
        if self.name == 'no_end':
            self.assertGreaterEqual(vain, 3)
        else:
            self.assertLess(vain, 3)

    def test_its_speed(self) -> None:
        """As it was limited, when it was recorded."""
        _, found = passes_of(self.name)
        limits = {'idle': 4, 'busy': 6, 'writing_slowly': 10, 'no_end': 12}
        self.assertIsNotNone(found.bandwidth)
        speed = (found.bandwidth or 0) / MIB
        self.assertAlmostEqual(limits[self.name], speed, delta=2.5)
