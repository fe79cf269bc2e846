# SPDX-License-Identifier: Apache-2.0
"""How far is a ratio trusted?"""

from oslotest import base

from kronos.engine.types import EffectRatio


class TestEffectRatio(base.BaseTestCase):
    def test_trust_falls_to_either_side(self) -> None:
        for ratio, trust in (
            (1.0, 1.0),
            (0.4, 0.4),
            (1.6, 0.4),
            (-0.5, 0.0),
            (3.0, 0.0),
        ):
            each = EffectRatio('cpu', ratio)
            self.assertAlmostEqual(trust, each.trust, msg=f'{ratio}')
