# SPDX-License-Identifier: Apache-2.0
"""A Prometheus at the wire that has a past: what its HTTP API answers.

Its expressions are not evaluated: each query has series of its own, whose
values are a function of time.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib import parse

import requests
import responses

URL = 'https://metrics.example.org'
Value = Callable[[float], float | None]
"""Of a series at a moment; None: it has none."""


class PastPrometheus:
    """Answers queries and range queries.

    :param now: Unix seconds
    """

    def __init__(self, now: float) -> None:
        self.now = now
        self.series: dict[str, list[tuple[dict[str, str], Value]]] = {}
        """By query; an unknown one gives nothing."""
        self.most_samples = 10**9
        """Of an answer, as ``--query.max-samples``."""
        self.cut_after = 10**9
        """So many range queries are answered; then the process is gone."""
        self.requests: list[tuple[str, dict[str, str]]] = []

    def add(self, query: str, label: str, values: Mapping[str, Value]) -> None:
        """Let a query have series, by the value of a label."""
        self.series[query] = [
            ({label: name}, value) for name, value in values.items()
        ]

    @property
    def ranges(self) -> list[dict[str, str]]:
        """The range queries so far."""
        return [query for path, query in self.requests if 'range' in path]

    def answer(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        """The status and the body."""
        self.requests.append((path, query))
        if path.endswith('query_range'):
            if len(self.ranges) > self.cut_after:
                raise requests.ConnectionError('cut')
            return self._range(query)
        text = query['query']
        count = re.fullmatch(r'count\((?:\((.*)\) > 0|(.*))\)', text, re.S)
        if count:
            present = [
                value
                for _, value in self._of(count[1] or count[2])
                if (value(self.now) or 0) > (0 if count[1] else -1)
            ]
            rows: list[Any] = [({}, len(present))] if present else []
        else:
            rows = [
                (metric, value(self.now))
                for metric, value in self._of(text)
                if value(self.now) is not None
            ]
        return _success(
            'vector',
            [
                {'metric': metric, 'value': [self.now, _text(value)]}
                for metric, value in rows
            ],
        )

    def _range(self, query: dict[str, str]) -> tuple[int, Any]:
        start, end, step = (
            float(query[name]) for name in ('start', 'end', 'step')
        )
        moments = [
            start + number * step
            for number in range(math.floor((end - start) / step + 1e-9) + 1)
        ]
        result = []
        for metric, value in self._of(query['query']):
            values = [
                [moment, _text(number)]
                for moment in moments
                if (number := value(moment)) is not None
            ]
            if values:
                result.append({'metric': metric, 'values': values})
        if sum(len(row['values']) for row in result) > self.most_samples:
            return 422, {
                'status': 'error',
                'errorType': 'execution',
                'error': 'query processing would load too many samples into '
                'memory in query execution',
            }
        return _success('matrix', result)

    def _of(self, query: str) -> list[tuple[dict[str, str], Value]]:
        return self.series.get(query.strip(), [])

    def at(self, wire: responses.RequestsMock) -> None:
        """Answer at a wire."""

        def reply(request: Any) -> tuple[int, dict[str, str], str]:
            query = dict(parse.parse_qsl(request.body))
            path = parse.urlsplit(request.url).path
            status, body = self.answer(path, query)
            return status, {}, json.dumps(body)

        for name in ('query', 'query_range'):
            wire.add_callback('POST', f'{URL}/api/v1/{name}', reply)


def _text(value: float | None) -> str:
    number = math.nan if value is None else value
    if math.isfinite(number):
        return str(number)
    return 'NaN' if math.isnan(number) else f'{number:+}'.replace('i', 'I')


def _success(kind: str, result: list[Any]) -> tuple[int, Any]:
    return 200, {
        'status': 'success',
        'data': {'resultType': kind, 'result': result},
    }
