# SPDX-License-Identifier: Apache-2.0
"""Does the command simulate a load, and say what came of it?"""

import csv
import io
import json
import pathlib
from typing import Any
from unittest import mock

import fixtures
import numpy as np
from oslotest import base

from kronos.cmd import simulate
from kronos.policies import loader
from kronos.simulate import load as loads
from kronos.simulate import runs
from tests import commands
from tests.builders import loads as build
from tests.builders import simulations


class TestSimulate(base.BaseTestCase):
    load: loads.Load

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.load = build.load(
            simulations.noisy(24, 18), np.arange(18) % 3, [4.0] * 3
        )

    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.folder = folder
        self.path = str(folder / 'load')
        loads.write(self.path, self.load)

    def run_it(self, *words: str) -> tuple[int, str, str]:
        """Exit status, stdout, stderr."""
        return commands.run(simulate.main, [self.path, '--jobs', '1', *words])

    def document(self, *words: str) -> dict[str, Any]:
        code, out, error = self.run_it(*words, '-f', 'json')
        self.assertEqual((0, ''), (code, error))
        return dict(json.loads(out))

    def test_columns(self) -> None:
        document = self.document(
            '--set', 'threshold.cpu=0.5', '--set', 'cooldown=0'
        )
        self.assertEqual(
            [
                'as it was',
                'nothing moved',
                'plain rule',
                'as recorded',
                'threshold.cpu=0.5',
                'cooldown=0',
            ],
            [column['name'] for column in document['columns']],
        )
        self.assertIn('moves a day instead of', document['sentence'])
        self.assertEqual(3, document['load']['hosts'])

    def test_table(self) -> None:
        code, out, _ = self.run_it('--watts', '90,130')
        self.assertEqual(0, code)
        self.assertRegex(out, r'^With ')
        self.assertIn('kWh a day', out)
        self.assertIn(
            '(4) as recorded: the policies and options of the load; audits: ',
            out,
        )
        self.assertNotIn('failed moves', out)
        self.assertLessEqual(max(map(len, out.splitlines()[9:])), 80)

    def test_csv(self) -> None:
        _, out, _ = self.run_it('-f', 'csv')
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual(4, len(rows))
        self.assertEqual('as recorded', rows[3]['column'])

    def test_policies(self) -> None:
        path = self.folder / 'other.yaml'
        path.write_text(loader.dump([build.policy(threshold=0.9)]))
        document = self.document('--compare', str(path))
        calm = document['columns'][-1]
        self.assertEqual(str(path), calm['name'])
        self.assertEqual(0, calm['figures']['moves_per_day'])

    def test_windows_and_more(self) -> None:
        document = self.document(
            '--window=cpu=avg:1800',
            '--host-window=cpu=servers',
            '--interval=600',
            '--boots=kronos',
            '--failures=0.5',
            '--seed=3',
            '--strategy=spread',
        )
        audits = document['columns'][3]['audits_by_end']
        self.assertEqual(12, sum(audits.values()))

    def test_page(self) -> None:
        path = self.folder / 'page.html'
        self.document('--html', str(path))
        self.assertIn('nothing moved', path.read_text())

    def test_advice(self) -> None:
        document = self.document('--advise')
        trials = document['advice']['trials']
        best = {
            each['question']: each['value']
            for each in trials
            if each['is_best']
        }
        self.assertEqual(
            {'window', 'threshold', 'max_migrations', 'cooldown'}, set(best)
        )
        code, out, _ = self.run_it('--advise')
        self.assertEqual(0, code)
        self.assertIn(f'window: {best["window"]}; ', out)

    def test_advice_of_a_short_load(self) -> None:
        self.path = str(self.folder / 'short')
        loads.write(
            self.path,
            build.load(simulations.noisy(4, 3), [0, 1, 2], [4.0] * 3),
        )
        code, out, error = self.run_it('--advise')
        self.assertEqual((1, ''), (code, out))
        self.assertIn('too few samples, or too little usage', error)

    def test_wrong_setting(self) -> None:
        code, out, error = self.run_it('--set', 'cooldwn=1')
        self.assertEqual((1, ''), (code, out))
        self.assertIn('did you mean cooldown?', error)

    def test_nothing_is_simulated_for_a_page_that_cannot_be(self) -> None:
        for path, reason in (
            (self.folder, 'Is a directory'),
            (self.folder / 'none' / 'page.html', 'No such file or directory'),
        ):
            with self.subTest(path=path), mock.patch.object(runs, 'Runs'):
                code, out, error = self.run_it('--html', str(path))
                self.assertEqual((1, ''), (code, out))
                self.assertIn(f'{path}: it cannot be written: {reason}', error)
                runs.Runs.assert_not_called()

    def test_wrong_policies(self) -> None:
        path = self.folder / 'other.yaml'
        path.write_text(loader.dump([build.policy('memory')]))
        code, out, error = self.run_it('--compare', str(path))
        self.assertEqual((1, ''), (code, out))
        self.assertIn(
            'policy memory: the load has no usage for it, only for cpu; fetch '
            'a load with --policies FILE',
            error,
        )

    def test_no_load(self) -> None:
        self.path = str(self.folder)
        code, _, error = self.run_it()
        self.assertEqual(1, code)
        self.assertIn('it is not a load: it has no meta.json', error)
        self.path = str(self.folder / 'nowhere')
        self.assertIn('there is no such directory', self.run_it()[2])
        self.path = str(self.folder / 'load' / 'recording')
        self.assertIn('plan it with kronos-replay', self.run_it()[2])

    def test_usage(self) -> None:
        for words, message in (
            ([], 'name the directory of a load'),
            (['x', '--set', 'a'], 'not of the form NAME=VALUE'),
            (['--set', 'a=b', 'x'], 'name LOAD before --set'),
            (['x', '--step=10m'], '--step: it requires --fetch'),
            (['x', '--raw', 'cpu=up', '--anonymize'], '--raw and --anonymize'),
            (['x', '--advise', '--set', 'a=b'], 'remove --set'),
            (
                ['x', '--compare=a', '--compare=a'],
                'the same file is given twice',
            ),
            (
                ['--fetch', '7d', '--out', 'd', '--html', 'f'],
                '--html: simulate the load afterwards',
            ),
            (['x', '--watts', '1'], 'at least two numbers'),
            (['x', '--watts', '1,nan'], 'at least two numbers'),
            (['x', '--jobs', '0'], 'not within 1 and'),
            (['x', '--seed', '-1'], 'seed'),
        ):
            with self.subTest(words=words):
                code, _, error = commands.run(simulate.main, words)
                self.assertEqual(2, code)
                self.assertIn(message, error)
