# SPDX-License-Identifier: Apache-2.0
"""Which hosts can be emptied by filling others? (B11-B16)"""

from kronos.engine.draft import Draft, PhaseEnd
from kronos.engine.settings import Settings
from kronos.engine.types import StopReason


class Pack:
    def __init__(self, draft: Draft, settings: Settings) -> None:
        self._draft = draft

    def run(self) -> PhaseEnd:
        return PhaseEnd(StopReason.PACKED, 'no further host can be emptied')
