# SPDX-License-Identifier: Apache-2.0
"""The table of what is tested in each cohort, with the results.

Standard library only. tools/test runs the suites and keeps what they say, and
./tools/supported makes the table of the documentation of it.
"""

import pathlib
import re
from dataclasses import dataclass

from labkit import cohorts, layout

RESULTS = layout.HOME / 'cohorts'
TOLD = re.compile(
    r'^\{\d+\} (\S+) \[[\d.]+s\] \.\.\. (ok|FAILED|SKIPPED(?:: .*)?)$',
    re.MULTILINE,
)
TABLE = layout.ROOT / 'doc/source/supported-table.inc'
HEADER = """\
.. Made by ./tools/supported of what the tests of each cohort said.

.. list-table::
   :header-rows: 1
   :stub-columns: 1

"""


@dataclass(frozen=True)
class Suite:
    """Tests that share a process."""

    name: str
    folder: str
    tests: str
    """A regular expression."""


SUITES = (
    Suite(
        'plugins of Watcher',
        './tests/unit',
        r'\.unit\.(strategies|planners|actions|watcher_db)\.',
    ),
    # By themselves: the tests of Watcher before 17 bring eventlet along.
    Suite('weighers', './tests/unit/weighers', r'\.weighers\.'),
    Suite(
        'plans',
        './tests/functional/watcher',
        r'\.test_plans\.|\.test_installed_versions\.',
    ),
    Suite('boots', './tests/functional/nova', r'\.TestSpread\.test_boots_'),
)
SCENARIOS = Suite(
    'lab',
    './tests/lab',
    r'\.lab\.test_(cancel|demo|drain|spread|versions|weigher)\.',
)
ROWS = (
    ('Unit tests of strategies, planners and actions', r'\.unit\.(?!weigh)'),
    ('Unit tests of the weighers', r'\.unit\.weighers\.'),
    ('An audit plans moves, which are carried out', r'test_evens_the_hosts'),
    ('A new server lands by the scores', r'\.TestSpread\.test_boots_'),
    ('``./tools/lab demo`` moves servers', r'\.lab\.test_demo\.'),
    ('``kronos_spread`` in the lab', r'\.lab\.test_spread\.'),
    ('``kronos_evacuate`` in the lab', r'\.lab\.test_drain\.'),
    ('A cancelled plan aborts what runs in Nova', r'\.lab\.test_cancel\.'),
    ('The weigher in the lab', r'\.lab\.test_weigher\.'),
)
"""What of the tests is a row of the table."""


def keep(cohort: cohorts.Cohort, suite: Suite, text: str) -> None:
    """Write down what stestr tells of a suite in a cohort."""
    RESULTS.mkdir(exist_ok=True)
    result = results(cohort)
    result[suite.name] = dict(TOLD.findall(text))
    layout.write_json(_file(cohort), result)


def results(cohort: cohorts.Cohort) -> dict[str, dict[str, str]]:
    """Name of a suite to test to what was said of it."""
    return layout.read_json(_file(cohort))


def _file(cohort: cohorts.Cohort) -> pathlib.Path:
    return RESULTS / f'{cohort.name}.json'


def table() -> str:
    """The releases, and how each of the rows did beside them."""
    known = list(cohorts.COHORTS.values())
    rows = [['', *(one.name for one in known)]]
    for title, package in (('Nova', 'nova'), ('Watcher', 'python-watcher')):
        versions = [one.versions()[package] for one in known]
        rows.append([title, *versions])
    for title, pattern in ROWS:
        rows.append([title, *(_cell(one, pattern) for one in known)])
    lines = []
    for row in rows:
        marks = ['* -', *['  -'] * (len(row) - 1)]
        pairs = zip(marks, row, strict=True)
        lines += [f'   {mark} {text}'.rstrip() for mark, text in pairs]
    return HEADER + '\n'.join(lines) + '\n'


def _cell(cohort: cohorts.Cohort, pattern: str) -> str:
    """Yes, with the number of tests, or why not."""
    suites = results(cohort).values()
    told = [
        said
        for tests in suites
        for test, said in tests.items()
        if re.search(pattern, test)
    ]
    if not told or 'FAILED' in told:
        return 'fails' if told else 'not tested'
    reasons = {said.partition(': ')[2] for said in told if said != 'ok'}
    number = told.count('ok')
    works = [f'yes ({number})'] if number else []
    return '; '.join([*works, *sorted(reasons)])
