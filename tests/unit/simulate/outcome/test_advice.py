# SPDX-License-Identifier: Apache-2.0
"""Is the best of what was tried advised?"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.simulate.outcome import advice
from kronos.simulate.outcome.advice import Advice, Answer, Trial
from kronos.simulate.variants import Request
from tests.builders import loads, simulations
from tests.unit.simulate.outcome.test_results import made


class TestTrials(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.load = loads.load(
            simulations.noisy(30, 12), np.arange(12) % 3, [8.0] * 3
        )

    def test_windows(self) -> None:
        trials = advice.windows(self.load, Request())
        self.assertEqual(
            ['now', 'avg:900', 'avg:1800', 'avg:3600', 'avg:7200'],
            [trial.value for trial in trials],
        )
        shown = trials[3].column.audits[0].windows['cpu']
        self.assertEqual(
            ['avg:3600', 'avg:3600'], [str(shown.servers), str(shown.hosts)]
        )
        self.assertLess(trials[3].error or 9, trials[0].error or 0)

    def test_the_window_in_force(self) -> None:
        """It is among the tried ones, whatever its function is."""
        trials = advice.windows(
            self.load, Request(base=[('window.cpu', 'quantile:0.9:1200')])
        )
        self.assertEqual(
            ['now', 'avg:900', 'quantile:0.9:1200', 'avg:1800'],
            [trial.value for trial in trials][:4],
        )

    def test_nothing_is_known(self) -> None:
        """Nobody uses anything, or the load is shorter than half an hour."""
        for usage in (np.zeros((30, 12)), np.ones((3, 12))):
            load = loads.load(usage, np.arange(12) % 3, [8.0] * 3)
            error = self.assertRaises(
                ConfigurationError, advice.windows, load, Request()
            )
            self.assertIn('to compare windows', str(error))

    def test_others(self) -> None:
        best = advice.windows(self.load, Request())[3]
        trials = advice.others(
            self.load, Request(), Answer(best, made('best'))
        )
        self.assertEqual(
            {'threshold', 'max_migrations', 'cooldown'},
            {trial.question for trial in trials},
        )
        for trial in trials:
            [audit] = trial.column.audits
            self.assertEqual('avg:3600', str(audit.windows['cpu'].servers))

    def test_pack(self) -> None:
        request = Request(strategies=['pack'])
        self.assertTrue(advice.fills_hosts(self.load, request))
        [first, *_] = advice.windows(self.load, request)
        trials = advice.others(self.load, request, Answer(first, made('best')))
        self.assertIn('capacity_threshold', {t.question for t in trials})


class TestJudgement(base.BaseTestCase):
    def judged(
        self,
        *outcome: object,
        fills: bool = False,
        errors: Sequence[float | None] = (None, None, None),
        question: str = 'window',
    ) -> Advice:
        column = simulations.column(
            loads.load(np.ones((4, 2)), [0, 1], [4.0, 4.0])
        )
        results = [
            made(str(number), **fields)  # type: ignore[arg-type]
            for number, fields in enumerate(outcome)
        ]
        trials = [
            Trial(question, result.name, result.name, column, error)
            for result, error in zip(results, errors, strict=False)
        ]
        return Advice(advice.judged(trials, results, fills))

    def best(self, *outcome: object, fills: bool = False) -> str:
        answers = self.judged(*outcome, fills=fills).answers
        [best] = [each.trial.value for each in answers if each.is_best]
        return best

    def test_least_imbalance(self) -> None:
        self.assertEqual(
            '1',
            self.best(
                {'imbalance': 0.49, 'moves': 286},
                {'imbalance': 0.41, 'moves': 60},
                {'imbalance': 0.45, 'moves': 10},
            ),
        )

    def test_fewer_moves_where_it_is_nearly_as_good(self) -> None:
        self.assertEqual(
            '1',
            self.best(
                {'imbalance': 0.400, 'moves': 100},
                {'imbalance': 0.405, 'moves': 20},
            ),
        )

    def test_the_better_forecast_where_nothing_is_to_be_moved(self) -> None:
        judged = self.judged({'moves': 0}, {'moves': 0}, errors=(0.4, 0.2))
        self.assertEqual(
            [False, True], [each.is_best for each in judged.answers]
        )

    def test_policies_that_are_not_planned_by(self) -> None:
        """What they come to decides nothing."""
        column = simulations.column(
            loads.load(np.ones((4, 2)), [0, 1], [4.0, 4.0])
        )
        series = [np.full(3, value, np.float32) for value in (0.2, 0.3)]
        results = [made('0'), made('1')]
        for result, cpu, other in zip(
            results, series, series[::-1], strict=True
        ):
            result.imbalance = {'cpu': cpu, 'ram': 3 * other}
        trials = [Trial('window', each.name, '', column) for each in results]
        answers = advice.judged(trials, results, False)
        self.assertEqual([True, False], [each.is_best for each in answers])

    def test_packing_may_not_let_cpu_be_lacking(self) -> None:
        self.assertEqual(
            '1',
            self.best(
                {'in_use': 30, 'not_given': 0.05},
                {'in_use': 43, 'not_given': 0.001},
                {'in_use': 60, 'not_given': 0.0},
                fills=True,
            ),
        )

    def test_which_threshold_is_reached(self) -> None:
        judged = self.judged({}, {}, question='threshold')
        for answer, balanced in zip(judged.answers, (1, 3), strict=True):
            answer.result.ends = Counter(
                balanced=balanced, budget=4 - balanced, cooldown=9
            )
        [text] = advice.sentences(judged, False)
        self.assertIn(
            'the least that half of the plans reach is 1: 75% do', text
        )
        judged.answers[1].result.ends['budget'] = 9
        [text] = advice.sentences(judged, False)
        self.assertIn(
            'no threshold that was tried is reached by half of the plans: '
            '0 is by 25%',
            text,
        )

    def test_sentences(self) -> None:
        judged = self.judged(
            {'imbalance': 0.49, 'moves': 286},
            {'imbalance': 0.41, 'moves': 60},
        )
        self.assertEqual(
            [
                'window: 1; 60 moves a day at an imbalance of 0.410 '
                '(0: 286 moves a day at an imbalance of 0.490).'
            ],
            advice.sentences(judged, False),
        )
        document = advice.document(judged, False)
        self.assertEqual(
            [False, True], [each['is_best'] for each in document['trials']]
        )
