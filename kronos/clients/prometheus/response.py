# SPDX-License-Identifier: Apache-2.0
"""The JSON of Prometheus' HTTP API."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired

import pydantic
from typing_extensions import TypedDict

from kronos.clients import answers, schema
from kronos.clients.prometheus import remedies
from kronos.engine import types


class AnswerError(Exception):
    """No answer, or not what was asked for; the text says why.

    :param status: HTTP status, where that is the reason
    :param remedy: what to do about the connection; '': the query is at fault
    :param wait: seconds that the server asks to wait
    """

    def __init__(
        self,
        text: str,
        status: int | None = None,
        remedy: str = '',
        wait: float = 0.0,
    ) -> None:
        self.status = status
        self.remedy = remedy
        self.wait = wait
        super().__init__(text)


class TransientError(AnswerError):
    """Worth another try."""


class TooMuchError(TransientError):
    """The answer is too long, or takes too long; less of it may come."""


@dataclass
class Series:
    """One element of a range query: (Unix seconds, value) pairs."""

    label: str
    points: list[tuple[float, float]]
    series: str = ''
    """The whole label set as text."""


_Point = tuple[pydantic.FiniteFloat, schema.Number]
"""Unix seconds and a value."""


class _Instant(TypedDict):
    metric: dict[str, str]
    value: NotRequired[_Point]


class _Range(TypedDict):
    metric: dict[str, str]
    values: NotRequired[list[_Point]]


class _Vector(TypedDict):
    result: list[_Instant]


class _Matrix(TypedDict):
    result: list[_Range]


_INFO = 'PromQL info:'
_SHAPES = {'vector': _Vector, 'matrix': _Matrix}


def data_of(body: Any) -> dict[str, Any]:
    """The ``data`` of a successful answer.

    :raises AnswerError: with Prometheus' own message
    """
    if not isinstance(body, dict) or 'status' not in body:
        raise AnswerError(
            'the answer does not come from Prometheus; check the address and '
            'its prefix',
            remedy=remedies.ADDRESS,
        )
    if body['status'] != 'success':
        raise AnswerError(_complaint(body))
    data = body.get('data')
    if not isinstance(data, dict):
        raise AnswerError(
            f'the answer contains no data, but {answers.described(data)}'
        )
    return data


def incomplete(body: Mapping[str, Any]) -> list[str]:
    """Why series may be missing from an answer; [] if none is.

    VictoriaMetrics says so by ``isPartial``, Thanos and Prometheus by
    ``warnings``. Their ``infos`` are of the query alone, and so are the
    warnings by which Prometheus 2.48 to 2.54 gave them.
    """
    reasons = []
    if body.get('isPartial') not in (None, False):
        reasons.append('isPartial: a storage node did not answer')
    warnings = body.get('warnings') or []
    if not isinstance(warnings, list):
        warnings = [answers.described(warnings)]
    lines = map(answers.line_of, warnings)
    return reasons + [line for line in lines if not line.startswith(_INFO)]


def complaint_of(text: str) -> str:
    """What the body of an HTTP error says, in one short line."""
    body = _refusal(text)
    return answers.line_of(text) if body is None else _complaint(body)


def is_complaint(text: str) -> bool:
    """Whether the body of an HTTP error is Prometheus' own."""
    body = _refusal(text)
    return body is not None and body.get('status') == 'error'


def _refusal(text: str) -> dict[str, Any] | None:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) and 'error' in body else None


def _complaint(body: Mapping[str, Any]) -> str:
    kind, said = (
        answers.line_of(text)
        if isinstance(text, str)
        else answers.described(text)
        for text in (body.get('errorType', 'error'), body.get('error', ''))
    )
    return f'{kind}: {said}'


def vector(data: Mapping[str, Any], label: str) -> list[types.Sample]:
    """The samples of an instant vector, in the order of the answer.

    NaN and Inf stay what they are; duplicates stay both. One without the
    label has none: to PromQL that is an empty one.

    :raises AnswerError: another type
    """
    return [
        types.Sample(
            label=row['metric'].get(label, ''),
            value=_value_of(row, 'value')[1],
            timestamp=row['value'][0],
            series=text_of(row['metric']),
        )
        for row in _result(data, 'vector')
    ]


def matrix(
    data: Mapping[str, Any], label: str, skips_unlabelled: bool = False
) -> list[Series]:
    """The series of a range query.

    :raises AnswerError: another type, or a series without the label, unless
        these are skipped
    """
    return [
        Series(
            label=_label_of(row['metric'], label),
            points=_value_of(row, 'values'),
            series=text_of(row['metric']),
        )
        for row in _result(data, 'matrix')
        if label in row['metric'] or not skips_unlabelled
    ]


def _result(data: Mapping[str, Any], expected: str) -> list[dict[str, Any]]:
    kind = data.get('resultType')
    if kind != expected:
        raise AnswerError(
            f'the query returns a {answers.line_of(kind)}, not a {expected}; '
            'it must return one value per series, such as an aggregation '
            '"by" a label'
        )
    try:
        body = schema.parse(_SHAPES[expected], data)
    except schema.UnexpectedError as error:
        raise AnswerError(
            f'the answer is not what was expected: {error}'
        ) from None
    result: list[dict[str, Any]] = body['result']
    return result


def _value_of(row: Mapping[str, Any], key: str) -> Any:
    if key not in row:
        raise AnswerError(
            f'{text_of(row["metric"])} is a native histogram; calculate a '
            'number from it, for example with histogram_avg()'
        )
    return row[key]


def _label_of(metric: Mapping[str, str], label: str) -> str:
    if label not in metric:
        names = ', '.join(sorted(set(metric) - {'__name__'})) or 'none'
        raise AnswerError(
            f'the series {text_of(metric)} has no label "{label}"; its '
            f'labels: {names}. Keep the label with "by", or name another '
            'one in the policy'
        )
    return metric[label]


def text_of(metric: Mapping[str, str]) -> str:
    """A label set as PromQL writes it."""
    labels = ', '.join(
        f'{name}={json.dumps(value)}'
        for name, value in sorted(metric.items())
        if name != '__name__'
    )
    return f'{metric.get("__name__", "")}{{{labels}}}'


def is_number(sample: types.Sample) -> bool:
    return math.isfinite(sample.value)
