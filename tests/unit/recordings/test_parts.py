# SPDX-License-Identifier: Apache-2.0
"""Does a recording keep what an extension says, and nothing of others?"""

from oslotest import base

from kronos.engine.extension import PLAIN
from kronos.engine.settings import PlanMode, Settings
from kronos.extensions.recovery.extension import RECOVERY
from kronos.recordings import parts, replay
from kronos.recordings.parts import RecordingPart
from kronos.snapshots.scopes import ScopeRequest
from tests.builders import recordings


class TestRecordingPart(base.BaseTestCase):
    def test_nothing_is_kept(self) -> None:
        part, gathered = RecordingPart(), recordings.small().gathered
        for kept in (
            part.meta_values(gathered),
            part.request_values(ScopeRequest()),
            part.request_fields(None),
            part.settings_values(Settings()),
            part.files(gathered),
            part.anonymous_fields(gathered.instances[0]),
        ):
            self.assertEqual({}, kept)
        self.assertIsNone(part.extension(None))
        self.assertIsNone(part.chosen(Settings()))
        self.assertIsNone(part.replayed({}, gathered))
        self.assertEqual((), part.extra_specs(gathered))

    def test_each_mode_has_its_extension(self) -> None:
        self.assertEqual(
            {
                'cell_drain': 'cells',
                'maintain': 'maintenance',
                'make_room': 'room',
                'recover': 'recovery',
            },
            parts.by_mode(),
        )
        own = [mode.value for mode in PlanMode]
        self.assertEqual([*own, 'maintain', 'make_room'], replay.modes())

    def test_who_takes_parameters(self) -> None:
        self.assertTrue(parts.takes_parameters('cells'))
        self.assertFalse(parts.takes_parameters('recovery'))
        self.assertFalse(parts.takes_parameters(''))

    def test_who_has_keys(self) -> None:
        self.assertTrue(parts.has_keys(RECOVERY))
        self.assertFalse(parts.has_keys(PLAIN))

    def test_a_request_without_cells(self) -> None:
        self.assertIsNone(parts.chosen(Settings()))
