# SPDX-License-Identifier: Apache-2.0
"""What a search is given besides its simulation."""

from typing import Any

import numpy as np
from oslotest import base

from kronos.engine.eligibility.cooldown import Cooldowns
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.settings import Settings
from kronos.policies.models import Mode
from tests.builders import scopes
from tests.builders.scopes import policy


def given(draining: list[bool], **fields: Any) -> PhaseInput:
    one = policy('cpu', **fields)
    return PhaseInput(
        snapshot=scopes.scope([one], {'a': [0.1], 'b': [0.2]}, []),
        scorecard=Scorecard(),
        policies=[one],
        cooldowns=Cooldowns(),
        fixed={},
        draining=np.array(draining, dtype=bool),
        settings=Settings(),
    )


class TestPhaseInput(base.BaseTestCase):
    def test_sources(self) -> None:
        self.assertEqual([1, 2], given([False, True, True]).sources)
        self.assertEqual([], given([False, False]).sources)

    def test_mode(self) -> None:
        """It is that of the policies."""
        one = given([False, False])
        self.assertEqual((Mode.SPREAD, False), (one.mode, one.packs))
        one = given([False, False], mode='pack', capacity_query='up')
        self.assertEqual((Mode.PACK, True), (one.mode, one.packs))
