# SPDX-License-Identifier: Apache-2.0
"""Is a mark read as it was written, and never believed blindly?"""

import json

from oslotest import base

from kronos.extensions.cells.actions.checkpoint import (
    CellMoveStage,
    Checkpoint,
    PlanStanding,
)

WHOLE = Checkpoint(
    1763752294.5,
    'ACTIVE',
    before={'uuid': 'a'},
    earlier=['m1'],
    request='req-1',
    migration='m2',
    stage=CellMoveStage.CONFIRMING,
    refused='no',
)


class TestCheckpoint(base.BaseTestCase):
    def test_there_and_back(self):
        text = json.dumps(WHOLE.document())
        self.assertEqual(WHOLE, Checkpoint.of(json.loads(text)))

    def test_keys(self):
        """Rows of appliers of before are read, and theirs read these."""
        self.assertEqual(
            {
                'at': 1763752294.5,
                'status': 'ACTIVE',
                'before': {'uuid': 'a'},
                'known': ['m1'],
                'request': 'req-1',
                'migration': 'm2',
                'stage': 'confirming',
                'refused': 'no',
            },
            WHOLE.document(),
        )

    def test_the_least(self):
        self.assertEqual(
            Checkpoint(5.0, 'SHUTOFF'),
            Checkpoint.of({'at': 5, 'status': 'SHUTOFF'}),
        )

    def test_none(self):
        for told in (
            {},
            {'at': 5},
            {'status': 'ACTIVE'},
            {'at': '5', 'status': 'ACTIVE'},
            {'at': 5, 'status': None},
            {'at': float('nan'), 'status': 'ACTIVE'},
            {'at': True, 'status': 'ACTIVE'},
        ):
            self.assertIsNone(Checkpoint.of(told), told)

    def test_parts_that_make_no_sense(self):
        """They are as if they were not there."""
        told = {
            'at': 5,
            'status': 'ACTIVE',
            'before': 'x',
            'known': 'm1',
            'request': 7,
            'migration': None,
            'stage': 'done',
            'refused': ['no'],
        }
        self.assertEqual(Checkpoint(5.0, 'ACTIVE'), Checkpoint.of(told))


class TestPlanStanding(base.BaseTestCase):
    def standing(self, *marks):
        found = PlanStanding.of(
            {'at': 5, 'status': 'ACTIVE', **one} for one in marks
        )
        return found.is_accepted, found.refused

    def test_nothing_was_asked(self):
        self.assertEqual((False, ''), self.standing())
        self.assertEqual((False, ''), self.standing({}, {}))

    def test_one_was_taken(self):
        """Then another one's refusal is its own affair."""
        self.assertEqual((True, ''), self.standing({}, {'request': 'req-1'}))
        self.assertEqual(
            (True, ''), self.standing({'refused': 'no'}, {'request': 'r'})
        )

    def test_one_was_refused(self):
        self.assertEqual(
            (False, 'closed'), self.standing({}, {'refused': 'closed'})
        )

    def test_two_servers_were_refused(self):
        marks = [
            {
                'at': 5,
                'status': 'ACTIVE',
                'refused': 'closed',
                'before': {'uuid': uuid},
            }
            for uuid in ('a', 'a', 'b')
        ]
        found = [PlanStanding.of(marks[:count]) for count in (1, 2, 3)]
        self.assertEqual(
            [False, False, True], [one.is_refused for one in found]
        )
        self.assertEqual({'a', 'b'}, found[-1].servers)

    def test_rows_that_make_no_sense(self):
        found = PlanStanding.of([{}, {'request': 'req-1'}])
        self.assertEqual(PlanStanding(False), found)
