# SPDX-License-Identifier: Apache-2.0
"""Is each name found by its mark, and does each text have one?"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from oslotest import base

from kronos.common.names.name_marks import HostName, Name, Text, Uuid, ZoneName
from kronos.engine.extension import Extension
from kronos.engine.types import Host, Instance
from kronos.extensions.cells.cell_drain import CellDrain
from kronos.recordings.anonymize import marked
from kronos.recordings.recording import Recording


@dataclass
class Inner:
    zone: ZoneName | None = None
    told: Text = ''


@dataclass
class Outer:
    name: HostName
    number: int = 0
    by_uuid: dict[Uuid, list[HostName]] = field(default_factory=dict)
    mixed: list[HostName | Inner] = field(default_factory=list)
    inner: Inner | None = None
    services: dict[HostName, Inner] | None = None
    asked: object = None


@dataclass
class Forgotten:
    """Of somebody who added a field."""

    name: HostName
    owner: str = ''
    aliases: list[str] = field(default_factory=list)
    inner: dict[Uuid, 'Deep'] = field(default_factory=dict)


@dataclass
class Deep:
    person: str | None = None


def unmarked(kind: type, seen: set[Any]) -> Iterator[str]:
    """The fields with texts that have no mark, of all that an object has."""
    if kind in seen:
        return
    seen.add(kind)
    for name, hint in marked.hints_of(kind).items():
        todo = [hint]
        for part in todo:
            if part is str:
                yield f'{kind.__name__}.{name}'
            elif dataclasses.is_dataclass(part):
                yield from unmarked(part, seen)  # type: ignore[arg-type]
            else:
                todo += marked.inner(part)


class TestMarks(base.BaseTestCase):
    def test_each_text_of_a_recording(self) -> None:
        """A field that comes later is the name of something, or is not."""
        seen: set[Any] = set()
        self.assertEqual([], [*unmarked(Recording, seen)])
        self.assertLessEqual({Host, Instance, Extension}, seen)

    def test_each_text_that_an_extension_of_kronos_is_asked(self) -> None:
        """A recording has it as an object: its type says nothing of it."""
        self.assertEqual([], [*unmarked(CellDrain, set())])

    def test_a_text_that_was_forgotten(self) -> None:
        self.assertEqual(
            ['Forgotten.owner', 'Forgotten.aliases', 'Deep.person'],
            [*unmarked(Forgotten, set())],
        )


class TestNames(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.value = Outer(
            'h1',
            7,
            {'u1': ['h2', 'h3'], 'u2': []},
            ['h4', Inner('z1', 'a text')],
            Inner(None, 'h1'),
            {'h5': Inner('z2')},
            Inner('z3'),
        )

    def test_collected(self) -> None:
        found = marked.collected(self.value)
        self.assertEqual(
            {
                Name.HOST: {'h1', 'h2', 'h3', 'h4', 'h5'},
                Name.UUID: {'u1', 'u2'},
                Name.ZONE: {'z1', 'z2', 'z3'},
            },
            {kind: names for kind, names in found.items() if names},
        )

    def test_renamed(self) -> None:
        """A copy; what is no name stays."""
        was = dataclasses.replace(self.value)
        now = marked.renamed(
            self.value, lambda kind, name: f'{kind.name}-{name}'
        )
        self.assertEqual(
            Outer(
                'HOST-h1',
                7,
                {'UUID-u1': ['HOST-h2', 'HOST-h3'], 'UUID-u2': []},
                ['HOST-h4', Inner('ZONE-z1', 'a text')],
                Inner(None, 'h1'),
                {'HOST-h5': Inner('ZONE-z2')},
                Inner('ZONE-z3'),
            ),
            now,
        )
        self.assertEqual(was, self.value)

    def test_without_texts(self) -> None:
        """Names stay; of other texts, marked or not, nothing does."""
        self.value.inner = Inner('z1', 'of a person')
        found = marked.without_texts(self.value)
        self.assertEqual(Inner('z1', ''), found.inner)
        self.assertEqual((['h4', Inner('z1', '')]), found.mixed)
        person = Forgotten('h', 'Smith', ['S'], {'u': Deep('John')})
        self.assertEqual(
            Forgotten('h', '', [''], {'u': Deep('')}),
            marked.without_texts(person),
        )

    def test_what_is_not_followed(self) -> None:
        """A container of another kind is an error, not a name that stays."""

        @dataclass
        class Sets:
            hosts: frozenset[HostName]

        self.assertRaises(TypeError, marked.collected, Sets(frozenset({'h'})))

    def test_tuples(self) -> None:
        @dataclass
        class Tuples:
            hosts: tuple[HostName, ...]

        renamed = marked.renamed(
            Tuples(('h', 'i')), lambda _, name: name.upper()
        )
        self.assertEqual(('H', 'I'), renamed.hosts)
