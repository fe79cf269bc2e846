# SPDX-License-Identifier: Apache-2.0
"""Does a plan that makes room end with its numbers and its proof?"""

from typing import Any

from oslotest import base

from kronos.extensions.room.certificates import Certificate, Claim, Verdict
from kronos.extensions.room.planning import texts
from kronos.extensions.room.room import Proof, RoomOutcome


def fewest(slots: int, **more: Any) -> str:
    proof = Certificate(Claim.FEWEST, more.get('bound', 4))
    more = {'bound': 4, 'certificate': proof, **more}
    outcome = RoomOutcome({'f': 2}, {'f': 0}, {'f': slots}, {'f': 9}, **more)
    return texts.sentence(outcome)


class TestSentence(base.BaseTestCase):
    def test_fewest(self) -> None:
        end = 'room for 2 servers of f after 4 migrations'
        for more, text in (
            ({'proof': Proof.OPTIMAL}, f'{end}; no plan requires fewer'),
            (
                {'proof': Proof.BOUND, 'bound': 3},
                f'{end}; every plan requires at least 3',
            ),
            ({'proof': Proof.NONE}, f'{end}, {texts.NO_PROOF}'),
        ):
            self.assertEqual(text, fewest(2, moves=4, **more))

    def test_not_made(self) -> None:
        for more, text in (
            ({'bound': 0}, 'the scope already has room'),
            (
                {'proof': Proof.BOUND, 'bound': 3},
                'at least 3 migrations would',
            ),
            ({'proof': Proof.NONE}, 'it was sought without a proof'),
            (
                {'proof': Proof.NOT_KNOWN, 'bound': 3},
                'limit; at least 3 migrations would be needed',
            ),
            (
                {'proof': Proof.IMPOSSIBLE, 'nearest': {'f': 1}},
                'at most 1 server of f can get room',
            ),
            (
                {'bound': 3, 'budget': 2, 'nearest': {'f': 1}},
                'requires at least 3 migrations, but the plan may have 2',
            ),
        ):
            self.assertIn(text, fewest(0, **more))

    def test_who_has_to_stay(self) -> None:
        for number, text in (
            (1, 'if a could move: locked'),
            (3, 'if a could move, and 2 more: locked'),
        ):
            staying = dict.fromkeys('abc'[:number], 'locked')
            proof, nearest = Proof.IMPOSSIBLE, {'f': 1}
            sentence = fewest(0, proof=proof, nearest=nearest, staying=staying)
            self.assertIn(f'there would be room {text}', sentence)

    def test_most(self) -> None:
        for proof, text in (
            (Proof.OPTIMAL, 'no plan with as many migrations has more'),
            (Proof.BOUND, 'no plan with as many migrations has over 5'),
            (Proof.NONE, texts.NO_PROOF),
        ):
            outcome = RoomOutcome(
                {'f': 0}, {'f': 1}, {'f': 3}, {'f': 9}, 2, proof, 5
            )
            sentence = texts.sentence(outcome)
            self.assertIn('slots of f: 1 -> 3 after 2 migrations', sentence)
            self.assertIn(text, sentence)

    def test_what_no_prices_prove(self) -> None:
        more = {'proof': Proof.OPTIMAL, 'moves': 4, 'bound': 4}
        for certificate, text in (
            (None, '(proven by the exact program only)'),
            (
                Certificate(Claim.FEWEST, 3),
                'program only: prices prove at least 3 migrations)',
            ),
        ):
            sentence = fewest(2, certificate=certificate, **more)
            self.assertTrue(sentence.endswith(text), sentence)

    def test_checked(self) -> None:
        claim = Certificate(Claim.MOST, 5, 2)
        for holds, end in ((True, 'is proven: x'), (False, 'not proven: x')):
            text = texts.checked(claim, Verdict(holds, 'x'))
            self.assertTrue(text.endswith(end), text)
            self.assertIn('"at most 5 slots with 2 migrations"', text)

    def test_several(self) -> None:
        self.assertEqual(
            '3 servers of a and 1 server of b', texts.servers({'a': 3, 'b': 1})
        )
