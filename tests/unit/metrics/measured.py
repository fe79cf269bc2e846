# SPDX-License-Identifier: Apache-2.0
"""A process whose metrics a test reads without a file."""

import types
from typing import Any

from oslotest import base

from kronos.metrics import process
from kronos.metrics.metric import Source


class MeasuredTestCase(base.BaseTestCase):
    """Has a store in this process; no thread writes it."""

    def setUp(self) -> None:
        super().setUp()
        group = types.SimpleNamespace(
            directory='/nowhere', interval=15, per_host=True, scope_ttl=3600
        )
        process.end()
        self.addCleanup(process.end)
        self.store = process.prepare(Source.APPLIER, group)

    def values(self, name: str) -> dict[tuple[str, ...], Any]:
        return {
            labels: value
            for row, labels, value in self.store.values()
            if row.name == name
        }
