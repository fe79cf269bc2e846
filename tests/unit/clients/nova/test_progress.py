# SPDX-License-Identifier: Apache-2.0
"""How far has a migration come?"""

from typing import Any

from oslotest import base

from kronos.clients.nova.progress import Progress

GIB = 2**30
MIB = 2**20


def row(*figures: int | None) -> dict[str, Any]:
    names = [
        f'{what}_{which}_bytes'
        for what in ('memory', 'disk')
        for which in ('total', 'processed', 'remaining')
    ]
    return dict(zip(names, figures, strict=True))


class TestProgress(base.BaseTestCase):
    def test_figures(self) -> None:
        progress = Progress.of(row(400, 350, 100, 80, 0, 80))
        self.assertEqual(Progress(400, 350, 100, 80, 0, 80), progress)
        assert progress is not None
        self.assertEqual((350, 180), (progress.done, progress.remaining))

    def test_a_driver_that_tells_nothing(self) -> None:
        self.assertIsNone(Progress.of(row(*[None] * 6)))
        self.assertIsNone(Progress.of({}))

    def test_a_driver_that_tells_part(self) -> None:
        progress = Progress.of(row(400, None, 100, None, None, None))
        assert progress is not None
        self.assertEqual((0, 100), (progress.done, progress.remaining))

    def test_all_is_there(self) -> None:
        progress = Progress.of(row(0, 0, 0, 0, 0, 0))
        assert progress is not None
        self.assertEqual((0, 0), (progress.done, progress.remaining))

    def test_text(self) -> None:
        for figures, text in (
            (
                (4 * GIB, 2 * GIB, 2.8 * GIB, 10 * GIB, 0, 10 * GIB),
                '1.2 of 4.0 GiB memory, 0 of 10 GiB disk',
            ),
            (
                (512 * MIB, 0, 384 * MIB, 0, 0, 0),
                '0.12 of 0.50 GiB memory',
            ),
            ((5 * MIB, 0, 0, None, None, None), '0.00 of 0.00 GiB memory'),
            # The guest writes faster than it is copied.
            ((GIB, 9 * GIB, 2 * GIB, 0, 0, 0), '0.0 of 1.0 GiB memory'),
            ((GIB, 0, None, 0, 0, 0), 'unknown of 1.0 GiB memory'),
            ((0, 0, 0, 0, 0, 0), 'no figures'),
        ):
            self.assertEqual(text, str(Progress(*figures)))
