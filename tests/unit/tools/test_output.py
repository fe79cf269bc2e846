# SPDX-License-Identifier: Apache-2.0
"""Is what failed found in the output of a run of all tests?"""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import sys
import types
from typing import Any

import fixtures
from oslotest import base

TOOL = pathlib.Path(__file__).parents[3] / 'tools' / 'test'
NOISY = """
import sys
import unittest
import warnings

print('said while it is loaded', file=sys.stderr)


class TestIt(unittest.TestCase):
    def test_it(self):
        for _ in range(15):
            print('a line of a log', file=sys.stderr)
            warnings.warn('deprecated', stacklevel=1)
        {last}
"""


def tool() -> types.ModuleType:
    """The script, which has no suffix, as a module."""
    loader = importlib.machinery.SourceFileLoader('tool_test', str(TOOL))
    spec = importlib.util.spec_from_loader('tool_test', loader)
    assert spec is not None
    found = importlib.util.module_from_spec(spec)
    loader.exec_module(found)
    return found


class TestOutput(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(sys.path.remove, str(TOOL.parent))
        self.tool: Any = tool()
        self.tool.TOP = self.useFixture(fixtures.TempDir()).path
        self.top = self.tool.TOP = pathlib.Path(self.tool.TOP)
        self.checks = self.tool.Checks()

    def run_suite(self, last: str) -> str:
        (self.top / 'suite').mkdir()
        (self.top / 'suite' / '__init__.py').touch()
        (self.top / 'suite' / 'test_it.py').write_text(
            NOISY.replace('{last}', last)
        )
        output = self.top / 'output'
        env = {**os.environ, 'PATH': f'{pathlib.Path(sys.executable).parent}'}
        env.pop('PYTHONPATH', None)
        said = io.StringIO()
        with output.open('wb+') as file, contextlib.redirect_stdout(said):
            said.buffer = io.BytesIO()  # type: ignore[attr-defined]
            self.checks.stestr('it', './suite', env, output=file)
        return output.read_text() + said.getvalue()

    def test_a_green_test_prints_one_line(self) -> None:
        text = self.run_suite('pass')
        self.assertEqual([], self.checks.failed)
        self.assertEqual(1, self.checks.counts['Passed'])
        [(_, name)] = self.checks.took
        self.assertEqual('it: suite.test_it.TestIt.test_it', name)
        lines = [line for line in text.splitlines() if 'test_it' in line]
        self.assertEqual(1, len(lines), text)
        for noise in ('a line of a log', 'deprecated', 'while it is loaded'):
            self.assertNotIn(noise, text)

    def test_what_failed_is_told_at_the_end(self) -> None:
        text = self.run_suite('self.fail("for this reason")')
        self.assertIn('a line of a log', text)
        self.assertIn('said while it is loaded', text)
        [suite, test] = self.checks.failed
        self.assertEqual('it', suite)
        self.assertIn('for this reason', test)
        [command] = self.checks.again
        self.assertTrue(command.endswith(' last'))

    def test_the_documents_say_where_the_site_is(self) -> None:
        program = self.top / 'sphinx-build'
        for code, times in ((0, 1), (1, 0)):
            program.write_text(f'#!/bin/sh\nexit {code}\n')
            program.chmod(0o755)
            env = {'PATH': f'{self.top}:{os.environ["PATH"]}'}
            with contextlib.redirect_stdout(io.StringIO()) as said:
                self.tool.docs(self.checks, env)
            for source in ('doc', 'releasenotes'):
                page = f'file://{self.top}/.lab/html/{source}/index.html'
                self.assertEqual(times, said.getvalue().count(page))


class TestBudget(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(sys.path.remove, str(TOOL.parent))
        self.tool: Any = tool()
        self.checks = self.tool.Checks()
        self.now = 0.0
        self.tool.time = types.SimpleNamespace(monotonic=lambda: self.now)

    def spend(self, minutes: float, budget: float | None = 2) -> list[str]:
        """What is printed of a part that takes so long."""
        with self.checks.part('lint', budget):
            self.now += 60 * minutes
        return list(self.checks.parts)

    def test_kept(self) -> None:
        self.assertEqual(['lint: 1.9 min of 2'], self.spend(1.9))

    def test_exceeded(self) -> None:
        """Machines differ: nothing fails by its time."""
        self.assertEqual(
            ['lint: 2.1 min of 2 (over its budget)'], self.spend(2.1)
        )
        self.assertEqual([], self.checks.failed)

    def test_without_one(self) -> None:
        self.assertEqual(['lint: 1000.0 min'], self.spend(1000, None))
