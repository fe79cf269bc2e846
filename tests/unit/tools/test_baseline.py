# SPDX-License-Identifier: Apache-2.0
"""The comparison of what two versions plan and explain."""

import contextlib
import gzip
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import sys
from typing import Any

import fixtures
from oslotest import base

TOOL = pathlib.Path(__file__).resolve().parents[3] / 'tools/baseline'


def tool() -> Any:
    """The program as a module."""
    loader = importlib.machinery.SourceFileLoader('baseline', str(TOOL))
    spec = importlib.util.spec_from_loader('baseline', loader)
    assert spec is not None
    baseline = importlib.util.module_from_spec(spec)
    loader.exec_module(baseline)
    # Its processes find what they are to do by this name.
    sys.modules['baseline'] = baseline
    return baseline


class TestCompare(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.tool = tool()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.first = self.keep('first', {'steps': [{'to': 'a'}], 'gain': 0.5})

    def keep(self, name: str, document: Any) -> pathlib.Path:
        """A directory with one answer."""
        baseline = self.folder / name
        baseline.mkdir()
        with gzip.open(baseline / 'one.json.gz', 'wt') as file:
            json.dump({'spread plan': {'document': document}}, file)
        return baseline

    def compare(self, second: pathlib.Path) -> tuple[int, str]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = self.tool.compare(self.first, second)
        return code, out.getvalue()

    def test_the_same(self) -> None:
        code, told = self.compare(self.first)
        self.assertEqual((0, '0 of 1 answers differ\n'), (code, told))

    def test_added_keys(self) -> None:
        steps = [{'to': 'a', 'code': 'planned'}]
        second = self.keep('second', {'steps': steps, 'gain': 0.5, 'new': 1})
        self.assertEqual(0, self.compare(second)[0])

    def test_another_step(self) -> None:
        second = self.keep('second', {'steps': [{'to': 'b'}], 'gain': 0.5})
        code, told = self.compare(second)
        self.assertEqual(1, code)
        self.assertIn('document.steps.0.to\n  - "a"\n  + "b"\n', told)

    def test_one_more_step(self) -> None:
        steps = [{'to': 'a'}, {'to': 'b'}]
        second = self.keep('second', {'steps': steps, 'gain': 0.5})
        self.assertEqual(1, self.compare(second)[0])

    def test_a_key_that_is_gone(self) -> None:
        second = self.keep('second', {'steps': [{'to': 'a'}]})
        self.assertEqual(1, self.compare(second)[0])

    def test_an_answer_that_is_missing(self) -> None:
        second = self.folder / 'second'
        second.mkdir()
        self.assertEqual(1, self.compare(second)[0])

    def test_nothing_at_all(self) -> None:
        """An empty directory proves nothing."""
        self.first = self.folder / 'empty'
        self.first.mkdir()
        self.assertEqual(1, self.compare(self.first)[0])


class TestRecord(base.BaseTestCase):
    def test_answers(self) -> None:
        """Of an example and a cluster that is made up, in every mode."""
        name = 'kronos.engine.planning.search.local.neighbourhood.ROUNDS'
        self.useFixture(fixtures.MonkeyPatch(name, 5))
        baseline = tool()
        baseline.OWN = ('kronos/examples/uneven/meta.json',)
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        with contextlib.redirect_stdout(io.StringIO()):
            baseline.record(folder / 'one', 1, [])
            self.assertEqual(
                0, baseline.compare(folder / 'one', folder / 'one')
            )
        for name in ('given-000', 'made-000'):
            answers = baseline._read(folder / 'one' / f'{name}.json.gz')
            self.assertEqual(
                {'spread', 'pack', 'evacuate', 'affinity'},
                {question.split()[0] for question in answers},
            )
            plan = answers['spread plan']
            self.assertEqual(0, plan['status'], plan)
            self.assertNotEqual([], plan['document']['scopes'])

    def test_overrides(self) -> None:
        """Those of every policy, and of the options; plans alone."""
        baseline = tool()
        baseline.OWN = ('kronos/examples/uneven/meta.json',)
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        sets = ['threshold.*=0.4', 'search=greedy']
        asking = baseline.Asking(['spread'], sets, plans_only=True)
        with contextlib.redirect_stdout(io.StringIO()):
            baseline.record(folder / 'one', 0, [], asking)
        answers = baseline._read(folder / 'one' / 'given-000.json.gz')
        self.assertEqual(['spread plan'], [*answers])
        document = answers['spread plan']['document']
        names = {one['name'] for one in document['scopes'][0]['policies']}
        self.assertEqual(
            {'optimal_limit', 'search', *(f'threshold.{n}' for n in names)},
            {*document['overrides']},
        )
