# SPDX-License-Identifier: Apache-2.0
"""Validators that end at a first fault, for what others wrote.

pydantic gathers every fault before it raises: some kilobytes that unpack to
four million wrong rows would take gigabytes of memory. A list ends at its
first wrong element here, a mapping at its first wrong portion. Recordings and
the answers of services are validated by it, and their first faults told.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import pydantic
import pydantic_core
from pydantic_core import core_schema

T = TypeVar('T')

PORTION = 100
"""Entries of a mapping that are validated in one go."""
_SHOWN = 120
"""Characters of a place, and of what is wrong there."""
_NO_SCHEMAS = frozenset(
    {'cls', 'config', 'default', 'metadata', 'serialization'}
)
"""Keys of pydantic's schemas whose values are none."""
_CORE_NAMES = {'extra': 'extra_fields_behavior'}


def adapter(
    kind: type[T],
    config: pydantic.ConfigDict | None = None,
    most: int | None = None,
) -> pydantic.TypeAdapter[T]:
    """A ``TypeAdapter`` that ends early.

    :param kind: as for ``TypeAdapter``; no model of pydantic, which brings
        a validator of its own
    :param config: likewise
    :param most: elements of a list, and entries of a mapping
    """
    types = pydantic.TypeAdapter(kind, config=config)
    core: Any = {
        _CORE_NAMES.get(name, name): value
        for name, value in (config or {}).items()
    }
    types.validator = pydantic_core.SchemaValidator(
        _Ending(most).early(types.core_schema), core
    )
    return types


def of(error: pydantic.ValidationError) -> tuple[str, str, Any]:
    """The first fault: where, such as ``[3].vcpus``, what, and the value."""
    first = error.errors(include_url=False, include_context=False)[0]
    where = ''.join(
        f'[{part}]' if isinstance(part, int) else f'.{clip(part)}'
        for part in first['loc']
    )
    return clip(where.lstrip('.')), clip(first['msg']), first['input']


def sentence(error: pydantic.ValidationError) -> str:
    """The same as ``[3].vcpus: Input should be an integer``, no value."""
    where, what, _ = of(error)
    return f'{where}: {what}' if where else what


def clip(text: str) -> str:
    """On one line, and not endless."""
    line = ' '.join(text[: 2 * _SHOWN].split())
    return line if len(line) <= _SHOWN else f'{line[:_SHOWN]}...'


@dataclass(frozen=True)
class Portions:
    """The mark of a mapping in a model of pydantic, which ends early, too.

    :param most: entries
    """

    most: int | None = None

    def __get_pydantic_core_schema__(
        self, source: Any, handler: pydantic.GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return _in_portions(handler(source), self.most)


class _Ending:
    """Makes schemas whose lists, mappings and rows end early."""

    def __init__(self, most: int | None) -> None:
        self._most = most

    def early(self, schema: Any) -> Any:
        """The same schema, with that."""
        if isinstance(schema, list | tuple):
            return [self.early(part) for part in schema]
        if not isinstance(schema, dict):
            return schema
        kind = schema.get('type')
        copied = {
            key: value if key in _NO_SCHEMAS else self._inner(key, value)
            for key, value in schema.items()
        }
        if kind == 'list':
            copied['fail_fast'] = True
            if self._most is not None:
                copied.setdefault('max_length', self._most)
        elif kind == 'dict':
            return _in_portions(copied, self._most)
        elif kind == 'dataclass':
            return _of_known_fields(copied)
        return copied

    def _inner(self, key: str, value: Any) -> Any:
        if key == 'fields' and isinstance(value, Mapping):
            # By names of fields, which may be those of a schema's keys.
            return {name: self.early(field) for name, field in value.items()}
        return self.early(value)


def _in_portions(schema: Any, most: int | None) -> core_schema.CoreSchema:
    def portions(value: Any, validate: Callable[[Any], Any]) -> Any:
        if not isinstance(value, dict) or len(value) <= PORTION:
            return validate(value)
        if most is not None and len(value) > most:
            value.clear()  # pydantic makes another one for the error
            raise pydantic_core.PydanticCustomError(
                'too_long', f'it has more than {most} entries'
            )
        values: dict[Any, Any] = {}
        entries = iter(value.items())
        while portion := dict(itertools.islice(entries, PORTION)):
            values |= validate(portion)
        return values

    return core_schema.no_info_wrap_validator_function(portions, schema)


def _of_known_fields(schema: dict[str, Any]) -> Any:
    """A row that may have no other fields, looked at when it is whole.

    Each field too many would be a fault of its own.
    """
    config = schema.get('config', {})
    if config.get('extra_fields_behavior') != 'forbid':
        return schema
    schema['config'] = config | {'extra_fields_behavior': 'allow'}
    fields = frozenset(schema['fields'])

    def checked(row: Any) -> Any:
        if len(vars(row)) > len(fields):
            name = next(name for name in vars(row) if name not in fields)
            raise pydantic_core.ValidationError.from_exception_data(
                type(row).__name__,
                [
                    {
                        'type': 'unexpected_keyword_argument',
                        'loc': (name,),
                        'input': None,
                    }
                ],
            )
        return row

    # What refers to it is to find the whole.
    reference = schema.pop('ref', None)
    return core_schema.no_info_after_validator_function(
        checked, cast(core_schema.CoreSchema, schema), ref=reference
    )
