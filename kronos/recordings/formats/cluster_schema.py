# SPDX-License-Identifier: Apache-2.0
"""The schema of the format cluster/1."""

import json
from typing import Annotated, Any, TypeVar

import pydantic

from kronos.common import first_fault
from kronos.recordings.safe_files import MAX_ROWS, MAX_TEXT
from kronos.recordings.schema import MOST

FORMAT = 'cluster/1'
Text = Annotated[
    str, pydantic.StringConstraints(min_length=1, max_length=MAX_TEXT)
]
Amount = Annotated[int, pydantic.Field(ge=0, le=MOST)]
Share = Annotated[float, pydantic.Field(ge=0.0)]


class FormatError(Exception):
    """What is wrong, and where; never leaves the readers of the format."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f'{where:.200}: {what:.200}')


class _Row(pydantic.BaseModel):
    """Nothing is coerced; what is not known is passed over."""

    model_config = pydantic.ConfigDict(
        strict=True, extra='ignore', allow_inf_nan=False
    )


_T = TypeVar('_T')
Rows = Annotated[
    list[_T], pydantic.FailFast(), pydantic.Field(max_length=MAX_ROWS)
]
ByPolicy = Annotated[dict[str, _T], first_fault.Portions(MAX_ROWS)]


class PolicyRow(_Row):
    name: Text
    mode: Text
    weight: float
    threshold: float


class ClusterHostRow(_Row):
    name: Text
    scores: ByPolicy[float]
    available: bool
    memory_mb: Amount
    vcpus: Amount


class ClusterInstanceRow(_Row):
    name: Text
    host: Text
    shares: ByPolicy[Share]
    """Of its host's score."""
    memory_mb: Amount
    vcpus: Amount
    movable: bool


class ClusterGroupRow(_Row):
    name: Text
    policy: Text
    members: Rows[Text]


class Document(_Row):
    policies: Rows[PolicyRow]
    hosts: Rows[ClusterHostRow]
    instances: Rows[ClusterInstanceRow]
    groups: Rows[ClusterGroupRow]


_SHOWN = 40
"""Characters of a value that a message repeats."""
_RULES = {
    'missing': 'is missing',
    'model_type': 'must be an object',
    'dict_type': 'must be an object',
    'list_type': 'must be a list',
    'string_type': 'must be a non-empty string',
    'string_too_short': 'must be a non-empty string',
    'string_too_long': 'must be a string of at most {max_length} characters',
    'bool_type': 'must be true or false',
    'float_type': 'must be a finite number',
    'finite_number': 'must be a finite number',
    'int_type': 'must be an integer of at least 0',
    'greater_than_equal': 'must be at least {ge:g}',
    'less_than_equal': 'must be at most {le}',
}
"""By pydantic's name of a fault, in the words of the format."""


def parsed(document: Any) -> Document:
    """A file's JSON as its rows.

    :raises FormatError: names the field and what it must be
    """
    if not isinstance(document, dict):
        raise FormatError('document', 'must be a JSON object')
    if document.get('format') != FORMAT:
        raise FormatError(
            'format',
            f'must be "{FORMAT}", is {_shown(document.get("format"))}',
        )
    try:
        return Document.model_validate(document)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        where, text, value = first_fault.of(error)
        kind = first['type']
        what = _RULES.get(kind, text).format(**first.get('ctx', {}))
        if kind != 'missing':
            what += f', is {_shown(value)}'
        raise FormatError(where, what) from None


def _shown(value: Any) -> str:
    text = ''
    # Piece by piece: it may be most of the file.
    for piece in json.JSONEncoder().iterencode(value):
        text += piece[: _SHOWN + 1]
        if len(text) > _SHOWN:
            return f'{text[: _SHOWN - 3]}...'
    return text
