# SPDX-License-Identifier: Apache-2.0
"""The pictures of the dashboard in the documents.

``python -m tests.lab.board.picture`` makes them anew. Prometheus and promtool
must be installed; nothing of the lab has to run.
"""

import json
import pathlib
import re
import urllib.parse
import urllib.request
from typing import Any

from tests import dashboards, places
from tests.dashboards import Panel, Query
from tests.lab import backfilled
from tests.lab.board import drawing
from tests.lab.board.day import END, Day
from tests.lab.board.drawing import Series

FOLDER = places.TOP / 'doc' / 'source' / 'images'
COMMAND = 'python -m tests.lab.board.picture'
STEP = 900
START = END - 24 * 3600


def ask(url: str, path: str, **parameters: Any) -> list[dict[str, Any]]:
    """What Prometheus answers.

    :raises AssertionError: it does not take the query
    """
    data = urllib.parse.urlencode(parameters).encode()
    request = urllib.request.Request(f'{url}/api/v1/{path}', data)
    with urllib.request.urlopen(request, timeout=60) as response:
        answer = json.load(response)
    rows: list[dict[str, Any]] = answer['data']['result']
    return rows


def series(url: str, query: Query) -> list[Series]:
    """What a panel shows of a query over the day, by name."""
    text = dashboards.filled(query.expression)
    if query.instant:
        rows = ask(url, 'query', query=text, time=END)
    else:
        rows = ask(
            url, 'query_range', query=text, start=START, end=END, step=STEP
        )
    found = []
    for row in rows:
        values = row['values'] if 'values' in row else [row['value']]
        points = [
            (moment, float(value)) for moment, value in values
            if value != 'NaN'
        ]  # fmt: skip
        if points:
            name = _name(query.legend, row['metric'])
            found.append(Series(name, points, row['metric']))
    if query.expression.startswith('topk'):
        return sorted(found, key=lambda row: (-row.points[-1][1], row.name))
    return sorted(found, key=lambda row: (row.name, [*row.labels.values()]))


def _name(legend: str, labels: dict[str, str]) -> str:
    return re.sub(
        r'\{\{(\w+)\}\}', lambda match: labels.get(match[1], ''), legend
    )


def make() -> dict[pathlib.Path, str]:
    """The pictures as they are now, by the file."""
    rows: list[tuple[Panel, list[Series]]] = []
    with backfilled.serve(Day().text()) as url:
        for panel in dashboards.panels(dashboards.read()):
            answers = [series(url, query) for query in panel.queries]
            rows.append((panel, sum(answers, [])))
    return {
        FOLDER / f'dashboard-{name}.svg': drawing.draw(
            rows, START, END, scheme
        )
        for name, scheme in drawing.SCHEMES.items()
    }


if __name__ == '__main__':
    for file, text in make().items():
        file.write_text(text)
        print(file.name, len(text))
