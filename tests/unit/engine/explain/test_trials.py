# SPDX-License-Identifier: Apache-2.0
"""Is a trial the plan of the whole cycle, and made but once?

a 0.8, b 0.3, c 0.5; threshold 0.1. Moving web (0.2) from a to b leaves 0.6,
0.5, 0.5.
"""

import dataclasses
from typing import Any

from oslotest import base

from kronos.engine.edits import Pair
from kronos.engine.explain.remedies import Remedy
from kronos.engine.explain.trials import Trial, Trials
from kronos.engine.explain.verdicts import Verdict
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import CycleInput
from tests.builders.scopes import PLAIN, policy, scope, vm

POLICIES = [policy('cpu', threshold=0.1)]
HOSTS = {'a': [0.8], 'b': [0.3], 'c': [0.5]}


class TrialsTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.asked: list[list[str]] = []
        vms = [vm('web', 'a', [0.2]), vm('tiny', 'a', [0.05])]
        self.snapshots = [
            scope(POLICIES, HOSTS, vms, name=name) for name in ('one', 'two')
        ]
        self.trials = Trials('two', 3, self.prepare)

    def prepare(self, remedy: Remedy) -> CycleInput | None:
        self.asked.append(remedy.arguments())
        if 'refused' in remedy.overrides:
            return None
        settings = Settings(**PLAIN, max_migrations=remedy.max_migrations)
        return CycleInput(self.snapshots, POLICIES, settings)

    def made(self, *arguments: Any) -> Trial:
        found = self.trials.of(*arguments)
        assert found is not None
        return found

    def verdict(self, uuid: str) -> Verdict:
        return Verdict(uuid, 'a', 'b', Code.BUDGET_USED, '')

    def test_earlier_scopes_are_planned_too(self) -> None:
        """What the first one moves is not there any more for the second."""
        trial = self.made(Remedy('', max_migrations=1))
        self.assertEqual([], trial.moves('web'))
        self.assertFalse(trial.makes(self.verdict('web')))
        self.assertEqual(['one'], [each.scope for each in trial.case.earlier])

    def test_a_plan_that_makes_the_move(self) -> None:
        self.trials = Trials('one', 3, self.prepare)
        trial = self.made(Remedy('', max_migrations=1))
        [(number, step)] = trial.moves('web')
        self.assertEqual((1, 'b'), (number, step.destination))
        self.assertTrue(trial.makes(self.verdict('web')))
        judged = trial.judged(self.verdict('web'))
        assert judged is not None
        self.assertIs(Code.PLANNED, judged.code)

    def test_what_is_not_there(self) -> None:
        trial = self.made(Remedy('', max_migrations=1))
        gone = dataclasses.replace(self.verdict('web'), destination='z')
        self.assertIsNone(trial.judged(gone))
        self.trials = Trials('three', 3, self.prepare)
        self.assertIsNone(self.trials.of(Remedy('', max_migrations=1)))

    def test_the_same_is_tried_once(self) -> None:
        first = self.made(Remedy('in words', max_migrations=2))
        self.assertIs(first, self.made(Remedy('', max_migrations=2)))
        self.assertEqual([['--max-migrations', '2']], self.asked)

    def test_a_reason_that_is_lifted(self) -> None:
        """In the input, for no argument unlocks an instance."""
        self.trials = Trials('one', 3, self.prepare)
        self.snapshots[0].instances['web'].locked = True
        remedy = Remedy('', max_migrations=1)
        self.assertEqual([], self.made(remedy).moves('web'))
        lifted = [
            (
                Reason('it is locked', Code.INSTANCE_LOCKED),
                Pair('web', 'a', 'b'),
            )
        ]
        trial = self.made(remedy, lifted)
        self.assertTrue(trial.makes(self.verdict('web')))

    def test_a_reason_that_is_lifted_in_all_scopes(self) -> None:
        """Then the first one that has the instance moves it."""
        for snapshot in self.snapshots:
            snapshot.instances['web'].locked = True
        reason = Reason('it is locked', Code.INSTANCE_LOCKED)
        trial = self.made(
            Remedy('', max_migrations=1), [(reason, Pair('web', 'a', 'b'))]
        )
        self.assertEqual([], trial.moves('web'))
        [move] = trial.case.earlier
        self.assertEqual('web', move.instance.uuid)

    def test_what_a_replay_refuses(self) -> None:
        self.assertIsNone(self.trials.of(Remedy('', {'refused': '1'})))
