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
    return cast(T, _renamed(type(value), value, visit))


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
def _has_names(hint: Any) -> bool:
    """Whether something of a type may hold a name."""
    if mark := mark_of(hint):
        return mark is not Name.NONE
    if hint is object:  # what an audit asks of an extension: any class's
        return True
    return any(_has_names(part) for part in inner(hint))


def _renamed(hint: Any, value: Any, visit: Visit) -> Any:
    if value is None or not _has_names(hint):
        return value
    if mark := mark_of(hint):
        return visit(mark, value)
    if hint is object:
        return renamed(value, visit)
    if dataclasses.is_dataclass(hint):
        changes = {
            name: _renamed(of_field, getattr(value, name), visit)
            for name, of_field in hints_of(cast(type, hint)).items()
            if _has_names(of_field)
        }
        return dataclasses.replace(value, **changes)
    parts = typing.get_args(hint)
    match typing.get_origin(hint):
        case typing.Union | types.UnionType:
            return _renamed(_arm(parts, value), value, visit)
        case builtins.dict:
            of_key, of_value = parts
            return {
                _renamed(of_key, key, visit): _renamed(of_value, part, visit)
                for key, part in value.items()
            }
        case builtins.list:
            return [_renamed(parts[0], part, visit) for part in value]
    raise TypeError(f'names in a {hint} are not found')


def _arm(arms: Iterable[Any], value: Any) -> Any:
    """Which of the types of a union a value has."""
    for arm in arms:
        plain = typing.get_args(arm)[0] if mark_of(arm) else arm
        if isinstance(value, typing.get_origin(plain) or plain):
            return arm
    raise TypeError(f'{type(value)} is none of them')
