# SPDX-License-Identifier: Apache-2.0
"""The modules of tools/ and tests/: what each is, and what runs it."""

import ast
import graphlib
import sys

from oslotest import base

from tests import places

sys.path.insert(0, str(places.TOP / 'tools'))

from measures import imports  # noqa: E402
from measures.sources import Sources  # noqa: E402

TOOLS = places.TOP / 'tools'
QUESTION = '^(What|Which|How|Why|Who|Where|When|Do|Does|Has|Is|Are|May|In) '


class TestTools(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.sources = Sources.read(TOOLS, '.')

    def test_no_circle(self) -> None:
        """Not even of imports for types alone."""
        graph = imports.graph(self.sources)
        self.assertIn('labkit.cloud', graph['labkit.cleaning'])
        graphlib.TopologicalSorter(graph).prepare()

    def test_a_first_line_says_what_a_module_is(self) -> None:
        for name, module in self.sources.modules.items():
            text = ast.get_docstring(module.tree) or ''
            line = text.partition('\n')[0]
            self.assertRegex(line, '^[A-Z]', name)
            self.assertNotRegex(line, QUESTION, name)
            self.assertNotIn('?', line, name)


class TestAlone(base.BaseTestCase):
    def test_each_module_is_run(self) -> None:
        """Discovery does not find those that run in a process of their own."""
        unit = places.TOP / 'tests' / 'unit'
        texts = [path.read_text() for path in unit.rglob('*.py')]
        names = [path.stem for path in unit.rglob('*_alone.py')]
        self.assertIn('forks_alone', names)
        for name in names:
            calls = sum(f".{name}'" in text for text in texts)
            self.assertTrue(calls, name)
