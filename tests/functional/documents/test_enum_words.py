# SPDX-License-Identifier: Apache-2.0
"""Does a new word of a policy or an option reach each place that compares it?

Mypy names those that match on it. A comparison goes on in silence with what
was meant for another word: the test of a new word names all of them.
"""

import ast
from collections.abc import Iterator
from enum import StrEnum

from oslotest import base

from kronos.extensions.cells.cell_drain import (
    Confirm,
    CrossCellPolicy,
    MoveOrder,
)
from kronos.options import choices
from kronos.policies import models
from tests import places

WORDS: dict[type[StrEnum], str] = {
    models.Mode: 'spread pack',
    models.LabelType: 'nova_internal_name nova_instance_uuid '
    'nova_display_name',
    models.Fallback: 'skip flavor_vcpu_ratio host_average',
    choices.HostMatch: 'exact short',
    choices.PartialAnswers: 'warn skip',
    choices.TieBreak: 'first variance variance_per_gib',
    choices.SwapMoves: 'none safe any',
    choices.UnexplainedLoad: 'follows stays ignored',
    choices.SearchName: 'greedy best optimal',
    choices.VetoReference: 'step initial',
    choices.SoftRules: 'veto penalty',
    choices.EffectUse: 'off limit damp calibrate',
    choices.ConsentRule: 'honour drain-overrides ignore',
    Confirm: 'auto manual',
    MoveOrder: 'safest hosts',
    CrossCellPolicy: 'open closed unknown',
}
"""Those that each comparison has been looked at for."""


def compared(kind: type[StrEnum]) -> Iterator[str]:
    """Where a word is compared, as ``path:line``, or is a key of a table."""
    for path in sorted((places.TOP / 'kronos').rglob('*.py')):
        text = path.read_text()
        if f'{kind.__name__}.' not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Compare():
                    parts = [node.left, *node.comparators]
                case ast.Dict():
                    parts = [key for key in node.keys if key]
                case _:
                    continue
            for part in parts:
                for inner in ast.walk(part):
                    if (
                        isinstance(inner, ast.Attribute)
                        and isinstance(inner.value, ast.Name)
                        and inner.value.id == kind.__name__
                    ):
                        where = path.relative_to(places.TOP)
                        yield f'{where}:{inner.lineno}'


class TestWords(base.BaseTestCase):
    def test_each_place_was_looked_at(self) -> None:
        for kind, words in WORDS.items():
            if [*kind] != words.split():
                self.fail(
                    f'{kind.__name__} has other words than before. Look at '
                    'each of these places, then change WORDS:\n'
                    + '\n'.join(compared(kind))
                )

    def test_all_of_options_and_policies(self) -> None:
        every = {
            kind
            for module in (choices, models)
            for kind in vars(module).values()
            if isinstance(kind, type)
            and issubclass(kind, StrEnum)
            and kind.__module__ == module.__name__
        }
        self.assertEqual(set(), every - WORDS.keys())

    def test_places(self) -> None:
        """The words of labels are only matched on, which mypy checks."""
        self.assertEqual([], [*compared(models.LabelType)])
        of_fallback = [*compared(models.Fallback)]
        for module in ('engine/scoring/profiles', 'cmd/checks/instances'):
            found = [one for one in of_fallback if module in one]
            self.assertTrue(found, module)
