# SPDX-License-Identifier: Apache-2.0
"""Moves between two cells of a real Nova that end well, or are taken back."""

from typing import Any

from tests.functional.nova import cell_runs


class _Moves(cell_runs.CellRunTestCase):
    def there(
        self, *, is_stopped: bool = False, is_volume_backed: bool = False
    ) -> None:
        """It is moved and confirmed."""
        uuid, status, before = self._made(is_stopped, is_volume_backed)
        found = self.moved(uuid)
        self.assertIsNone(found.error, found.error)
        self.assertIn('cell1/old1 -> cell2/new1', found.remark)
        self.assertEqual('moved', found.document['outcome'])
        self.is_clean(uuid, 'new1', status, before)
        self.assertEqual(1, self.requests(uuid))

    def back(
        self, *, is_stopped: bool = False, is_volume_backed: bool = False
    ) -> None:
        """A check of it fails there, so it is taken back."""
        uuid, status, before = self._made(is_stopped, is_volume_backed)
        self.is_healthy = False
        found = self.moved(uuid, verify_query=cell_runs.QUERY)
        self.assertEqual('cell_check_failed', found.fault, found.error)
        self.assertIn('taken back', str(found.error))
        self.assertEqual('failed', found.document['outcome'])
        self.is_clean(uuid, 'old1', status, before)
        self.assertEqual(1, self.requests(uuid))

    def _made(
        self, is_stopped: bool, is_volume_backed: bool
    ) -> tuple[str, str, dict[str, Any]]:
        uuid = self.server(
            port=self.neutron.port_1['id'],
            is_stopped=is_stopped,
            is_volume_backed=is_volume_backed,
        )
        status = 'SHUTOFF' if is_stopped else 'ACTIVE'
        return uuid, status, self.picture(uuid)


class TestMoves(_Moves):
    def test_an_image_backed_one_that_runs(self) -> None:
        self.there()

    def test_a_volume_backed_one_that_is_stopped(self) -> None:
        self.there(is_stopped=True, is_volume_backed=True)

    def test_back_with_an_image_backed_one_that_is_stopped(self) -> None:
        self.back(is_stopped=True)

    def test_back_with_a_volume_backed_one_that_runs(self) -> None:
        self.back(is_volume_backed=True)
