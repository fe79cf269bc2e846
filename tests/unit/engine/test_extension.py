# SPDX-License-Identifier: Apache-2.0
"""The extension: what the trunk hears of one that wants nothing."""

import ast
import copy
import dataclasses
import inspect
import re
import tokenize

from oslotest import base

from kronos.engine import extension
from kronos.engine.constraints.constraint_set import CONSTRAINTS
from kronos.engine.extension import PLAIN, Extension
from kronos.engine.settings import (
    PHASES_OF_MODE,
    PhaseSelection,
    PlanMode,
    Settings,
)
from kronos.engine.types import AggregateResult, PlanningInput, StopReason
from tests import places
from tests.builders import cells


class TestPlain(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.snapshot = cells.cells([cells.server('a')])
        self.asked = self.snapshot, Settings(evacuate=True)

    def test_who_takes_part(self) -> None:
        host = self.snapshot.hosts['o1']
        self.assertEqual([], PLAIN.host_reasons(host, self.asked[1]))
        self.assertIsNone(PLAIN.to_empty(*self.asked))
        self.assertIsNone(PLAIN.stopped(*self.asked))
        self.assertIsNone(PLAIN.movable(*self.asked))
        instance = self.snapshot.instances['a']
        self.assertIsNone(PLAIN.demand(instance, *self.asked))
        self.assertEqual(set(), PLAIN.under_way(*self.asked))
        self.assertFalse(PLAIN.closes_hosts)

    def test_what_is_planned(self) -> None:
        before = copy.deepcopy(self.asked[1])
        PLAIN.prepare(self.asked[1])
        self.assertEqual(before, self.asked[1])
        self.assertEqual(CONSTRAINTS, PLAIN.constraints(CONSTRAINTS))
        self.assertEqual({}, PLAIN.phases)

    def test_what_becomes_of_it(self) -> None:
        result = AggregateResult('alpha', StopReason.DONE, 'all is planned')
        before = copy.deepcopy(result)
        PLAIN.note(result, *self.asked)
        case = PlanningInput(self.snapshot, [], self.asked[1])
        self.assertEqual([], PLAIN.follow(case, result, lambda _: result))
        self.assertEqual([], PLAIN.closings(result, *self.asked))
        self.assertEqual({}, PLAIN.answer(result, 'a'))
        self.assertEqual(before, result)


class TestExtension(base.BaseTestCase):
    def test_it_imports_nothing(self) -> None:
        """Every room asks it, the lowest as well."""
        tree = ast.parse(inspect.getsource(extension))
        names = [
            node.module or ''
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
        ]
        self.assertFalse([name for name in names if 'kronos' in name])

    def test_a_copy_is_the_same(self) -> None:
        """Settings are compared, and copied, with theirs."""
        self.assertEqual(Settings(), copy.deepcopy(Settings()))
        other = dataclasses.replace(PLAIN, asked=['what'])
        self.assertNotEqual(PLAIN, other)

    def test_modes(self) -> None:
        """Only a mode of an extension takes what the audit brings along."""
        asked = PhaseSelection(extension=Extension('asked'))
        for mode, row in PHASES_OF_MODE.items():
            found = Settings(extension=Extension('before'))
            found.set_mode(mode, asked)
            wanted = asked.extension if row.is_extended else PLAIN
            self.assertEqual(wanted, found.extension, mode)
        for mode in (PlanMode.RECOVER, PlanMode.CELL_DRAIN):
            self.assertRaises(
                ValueError, Settings().set_mode, mode, PhaseSelection()
            )
        self.assertEqual(
            [PlanMode.RECOVER, PlanMode.CELL_DRAIN],
            [one for one, row in PHASES_OF_MODE.items() if row.is_extended],
        )


class TestWords(base.BaseTestCase):
    """Who reads how a spread is planned meets no other feature."""

    rooms = (
        'engine/constraints',
        'engine/eligibility',
        'engine/explain',
        'engine/planning',
        'engine/scheduling',
        'engine/scoring',
        'engine/simulation',
        'planners',
        'snapshots',
        'strategies',
        'watcher_db',
    )
    words = re.compile(
        '(?<!can)cell|quota|flavor|restart|recover', re.IGNORECASE
    )
    own = frozenset(
        {
            # A live migration stays in its cell, and a cell may be down.
            'CELL_CROSSED',
            'CellSource',
            'HOST_CELL_DOWN',
            'SameCell',
            '_cell_source',
            'cell',
            'cell_source',
            'cells',
            'is_of_down_cell',
            # What a policy says of instances without a series.
            'FLAVOR_VCPU_RATIO',
            # The slots of flavors that every audit counts.
            'flavor',
            'flavors',
            'slot_flavor',
            'watched_flavors',
        }
    )
    """What is the trunk's own; it may only shrink."""

    def test_names(self) -> None:
        found = set()
        for room in self.rooms:
            for path in (places.TOP / 'kronos' / room).rglob('*.py'):
                with path.open('rb') as file:
                    found |= {
                        token.string
                        for token in tokenize.tokenize(file.readline)
                        if token.type == tokenize.NAME
                        and self.words.search(token.string)
                    }
        self.assertEqual(self.own, found)
