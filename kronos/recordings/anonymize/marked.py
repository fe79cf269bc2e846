# SPDX-License-Identifier: Apache-2.0
"""The marked names of a recording: found and replaced by the types of fields.

Each text of the classes that a recording is made of has a mark
(:mod:`kronos.common.names.name_marks`); nothing here knows one of the classes.
"""

import builtins
import dataclasses
import functools
import sys
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from kronos.common.names.name_marks import Name

T = TypeVar('T')
Visit = Callable[[Name, str], str]
"""What becomes of a name."""
NAMES = frozenset(Name) - {Name.NONE}


def collected(value: Any) -> dict[Name, set[str]]:
    """All names in an object, by what they are names of."""
    names: dict[Name, set[str]] = {kind: set() for kind in Name}

    def visit(kind: Name, name: str) -> str:
        names[kind].add(name)
        return name

    renamed(value, visit)
    return names


def renamed(value: T, visit: Visit) -> T:
    """A copy of an object, with other names."""
    return cast(T, _renamed(type(value), value, visit, NAMES))


def without_texts(value: T) -> T:
    """A copy of an object whose other texts, marked or not, are empty.

    Of an extension's object no list says which of them may be told.
    """
    kinds = frozenset({Name.NONE})
    return cast(T, _renamed(type(value), value, lambda *_: '', kinds))


def mark_of(hint: Any) -> Name | None:
    """The mark of a type; None: it has none."""
    marks = getattr(hint, '__metadata__', ())
    return next((mark for mark in marks if isinstance(mark, Name)), None)


@functools.cache
def hints_of(kind: type) -> dict[str, Any]:
    """The types of the fields of a dataclass, with their marks.

    Those of other attributes of its class may be known to a checker alone.
    """
    hints: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        own = types.SimpleNamespace(__annotations__=_annotations(base, kind))
        module = vars(sys.modules[base.__module__])
        hints |= typing.get_type_hints(own, module, include_extras=True)
    return hints


def _annotations(base: type, kind: type) -> dict[str, Any]:
    fields = {field.name for field in _fields(kind)}
    own = vars(base).get('__annotations__', {})
    return {name: hint for name, hint in own.items() if name in fields}


def inner(hint: Any) -> list[Any]:
    """The types that a type is made of."""
    if dataclasses.is_dataclass(hint):
        return list(hints_of(cast(type, hint)).values())
    return [] if mark_of(hint) else list(typing.get_args(hint))


def _fields(kind: type) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(cast(Any, kind))


@functools.cache
def _has(hint: Any, kinds: frozenset[Name]) -> bool:
    """Whether something of a type may hold a name of these kinds."""
    if mark := mark_of(hint):
        return mark in kinds
    if hint is str:
        return Name.NONE in kinds
    if hint is object:  # what an audit asks of an extension: any class's
        return True
    return any(_has(part, kinds) for part in inner(hint))


def _renamed(
    hint: Any, value: Any, visit: Visit, kinds: frozenset[Name]
) -> Any:
    def part_of(hint: Any, value: Any) -> Any:
        return _renamed(hint, value, visit, kinds)

    if value is None or not _has(hint, kinds):
        return value
    if hint is str:
        return visit(Name.NONE, value)
    if mark := mark_of(hint):
        return visit(mark, value)
    if hint is object:
        return part_of(type(value), value)
    if dataclasses.is_dataclass(hint):
        changes = {
            name: part_of(of_field, getattr(value, name))
            for name, of_field in hints_of(cast(type, hint)).items()
            if _has(of_field, kinds)
        }
        return dataclasses.replace(value, **changes)
    inside = typing.get_args(hint)
    match typing.get_origin(hint):
        case typing.Union | types.UnionType:
            return part_of(_arm(inside, value), value)
        case builtins.dict:
            of_key, of_value = inside
            return {
                part_of(of_key, key): part_of(of_value, part)
                for key, part in value.items()
            }
        case builtins.list | builtins.tuple as kind:  # of any length
            return kind(part_of(inside[0], part) for part in value)
    raise TypeError(f'names in a {hint} are not found')


def _arm(arms: Iterable[Any], value: Any) -> Any:
    """Which of the types of a union a value has."""
    for arm in arms:
        plain = typing.get_args(arm)[0] if mark_of(arm) else arm
        if isinstance(value, typing.get_origin(plain) or plain):
            return arm
    raise TypeError(f'{type(value)} is none of them')
