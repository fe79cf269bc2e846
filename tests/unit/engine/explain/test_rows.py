# SPDX-License-Identifier: Apache-2.0
"""Do the rows say what a verdict says, in what JSON can hold?"""

import json
import math

from oslotest import base

from kronos.engine.explain import rows
from kronos.engine.explain.proposals import Proposal
from kronos.engine.explain.remedies import Remedy
from kronos.engine.explain.verdicts import Verdict
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import AggregateResult, StopReason


class TestRows(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.result = AggregateResult('agg', StopReason.STUCK, 'stuck')
        self.verdict = Verdict(
            'v',
            'a',
            'b',
            Code.INSTANCE_LOCKED,
            'it is locked',
            [
                Reason('it is locked', Code.INSTANCE_LOCKED),
                Reason('too full', Code.WORSENS_POLICY, 'cpu', 0.5),
            ],
            gain=math.inf,
        )

    def test_a_verdict(self) -> None:
        row = rows.of_verdict(self.result, self.verdict)
        self.assertEqual(
            ('instance_locked', 'Unlock it.', [], None, None),
            (
                row['code'],
                row['remedy'],
                row['try'],
                row['gain'],
                row['if_lifted'],
            ),
        )
        self.assertEqual(['worsens_policy'], [o['code'] for o in row['also']])
        json.dumps(row, allow_nan=False)

    def test_a_proposal(self) -> None:
        """Each reason has its remedy; the arguments are those of all."""
        proposal = Proposal(
            self.verdict,
            [Remedy('Unlock it.'), Remedy('Raise threshold.cpu to 0.6.')],
            arguments=['--set', 'threshold.cpu=0.6'],
        )
        row = rows.of_proposal(self.result, proposal)
        self.assertEqual(['--set', 'threshold.cpu=0.6'], row['try'])
        [other] = row['also']
        self.assertEqual('Raise threshold.cpu to 0.6.', other['remedy'])
        self.assertEqual([], other['try'])
        self.assertIsNone(row['if_lifted'])
