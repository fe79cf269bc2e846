# SPDX-License-Identifier: Apache-2.0
"""Are the words of choices those of options and of old recordings?"""

from oslotest import base

from kronos.options import choices
from kronos.options.choices import SwapMoves, UnexplainedLoad
from kronos.options.row import Choice


class TestChoices(base.BaseTestCase):
    def test_operators_may_choose_each_but_the_literal_rule(self) -> None:
        hidden = [
            word
            for kind in vars(choices).values()
            if isinstance(kind, type) and issubclass(kind, Choice)
            for word in kind
            if not word.meaning
        ]
        self.assertEqual([UnexplainedLoad.IGNORED], hidden)

    def test_exchanges_were_a_flag(self) -> None:
        self.assertIs(SwapMoves.SAFE, SwapMoves(True))
        self.assertIs(SwapMoves.NONE, SwapMoves(False))
        self.assertRaises(ValueError, SwapMoves, 'sometimes')
