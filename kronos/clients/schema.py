# SPDX-License-Identifier: Apache-2.0
"""The checks of answers against their schemas, in one place.

A schema is a type that pydantic understands, mostly a TypedDict. What it
does not name is dropped, so nothing is held that nobody asked for.
"""

import datetime
import functools
import json
import math
import re
from typing import Annotated, Any, NotRequired, TypeAlias

import pydantic
from typing_extensions import TypedDict

from kronos.clients import answers
from kronos.common import first_fault

Text: TypeAlias = str | None
Whole = Annotated[int, pydantic.Field(ge=-(2**63), lt=2**63)]
"""What a database can hold."""
Ratio = Annotated[float, pydantic.Field(ge=0, le=3.5e38)]
"""Placement keeps 32 bits of it."""

_SURROGATE = re.compile(rb'\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]')
"""Half of a pair, or both: escaped, or in bytes that Python lets pass."""


class UnexpectedError(ValueError):
    """A body is not of its schema; the text says where, and what came."""


def seconds_of(text: str | None) -> float:
    """Unix seconds of a time in OpenStack's format; 0 for none."""
    if not text:
        return 0.0
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return moment.timestamp()


def json_of(content: bytes) -> Any:
    """The JSON of a body, in texts that can be written.

    Half of a surrogate pair, which JSON may spell and UTF-8 has no bytes
    for, becomes a question mark: a tenant may have written it.

    :raises ValueError: it is no JSON
    :raises RecursionError: it is nested too deeply
    """
    body = json.loads(content)
    if _SURROGATE.search(content) is None:
        return body
    text = json.dumps(body, ensure_ascii=False)
    return json.loads(text.encode(errors='replace'))


def parse(schema: Any, body: Any) -> Any:
    """A body, without what its schema does not name.

    :raises UnexpectedError: it is not of that schema
    """
    try:
        return _adapter(schema).validate_python(body)
    except pydantic.ValidationError as error:
        where, what, value = first_fault.of(error)
        raise UnexpectedError(
            f'{where or "the whole"}: {what}; it is {answers.described(value)}'
        ) from None


def page(key: str, row: Any) -> Any:
    """The schema of one page of a listing.

    :param key: under which the rows are
    :param row: their schema
    """
    return _page(key, row)


class PageLink(TypedDict):
    rel: NotRequired[Text]


@functools.cache
def _page(key: str, row: Any) -> Any:
    links = NotRequired[list[PageLink] | None]
    fields = {key: list[row], f'{key}_links': links, 'links': links}
    return TypedDict('Page', fields)  # type: ignore[operator]


@functools.cache
def _adapter(schema: Any) -> pydantic.TypeAdapter[Any]:
    return first_fault.adapter(schema)


def _moment(text: str) -> str:
    """:raises ValueError: it is no time"""
    if text and not math.isfinite(seconds_of(text)):
        raise ValueError('it is not a time')
    return text


Moment = Annotated[str, pydantic.AfterValidator(_moment)] | None
"""A time in ISO 8601, of Nova or of Watcher."""


def _number(value: object) -> float:
    """A number as Prometheus writes it: "1.5", "NaN", "+Inf".

    :raises ValueError: it is none
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError('it is not a number')
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError('it is too large') from error


def _property(value: object) -> str:
    """The text of a scalar; of nothing else is it known what it means."""
    return str(value) if isinstance(value, (str, int, float)) else ''


Property = Annotated[str, pydantic.BeforeValidator(_property)]
Number = Annotated[float, pydantic.BeforeValidator(_number)]
