# SPDX-License-Identifier: Apache-2.0
"""A comparison of kronos-openstack 0.2.0 and Kronos, by recordings.

It is installed where it is asked for, in a virtual environment of its own;
its source distribution has the generator of its recordings. Both plan by
what a recording says: it says nothing of room, so neither knows any.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bench import processes, table
from bench.placed import Placed
from kronos.engine.planning import propose
from kronos.engine.types import Snapshot
from kronos.policies.models import Policy
from kronos.recordings import load
from kronos.recordings.replay import ReplayOptions, replay

NAME, VERSION = 'kronos-openstack', '0.2.0'
PYTHON = 'python3.12'
OLDEST = (3, 12)
PLACE = processes.TOP / '.lab' / NAME
GENERATOR = 'tools/generate_fake_snapshot.py'
THEIR_PLAN = pathlib.Path(__file__).with_name('their_plan.py')
MADE_UP = ((6, 48, 6), (12, 240, 24), (24, 480, 40))
"""Hosts, instances and server groups of the recordings that are made."""
SEEDS = (1, 2, 3, 4)
BUDGETS = (5, 10, 20, 50)
MOST = 100
"""The largest budget that it knows."""
SAME = 1e-9
SPREAD, REPAIR = 'spread', 'repair, spread'
REPAIRED = 'spread after their repair'
"""Both begin where its repair ends, so the same groups are repaired."""
WHAT = (SPREAD, REPAIR, REPAIRED)
THEIR_REPAIR = 'affinity'
"""What it calls the phase."""
SEEDED = """
import random, runpy, sys, uuid
drawn = random.Random({seed})
uuid.uuid4 = lambda: uuid.UUID(int=drawn.getrandbits(128), version=4)
sys.argv = ['generate', *{words}]
runpy.run_path({path!r}, run_name='__main__')
"""
"""Its seed is not that of its uuids."""
COLUMNS = {
    'recording': ('recording', 's'),
    'what': ('what', 's'),
    'budget': ('budget', 'd'),
    'before': ('before', '.4f'),
    'their_moves': ('moves', 'd'),
    'their_after': ('theirs', '.4f'),
    'our_moves': ('moves', 'd'),
    'our_after': ('ours', '.4f'),
    'broken_before': ('broken', 'd'),
    'their_broken': ('theirs', 'd'),
    'our_broken': ('ours', 'd'),
    'their_seconds': ('CPU s theirs', '.2f'),
    'our_seconds': ('ours', '.2f'),
    'result': ('ours is', 's'),
}
SUMMARY = {
    'what': ('what', 's'),
    'budget': ('budget', 's'),
    'compared': ('compared', 'd'),
    'lower': ('lower', 'd'),
    'equal': ('equal', 'd'),
    'higher': ('higher', 'd'),
    'fewer': ('fewer groups broken', 'd'),
    'more': ('more', 'd'),
}
LEGEND = (
    'before, theirs, ours: combined imbalance; broken: server groups whose '
    'rule is broken, before and after. Kronos (search = best) has the budget '
    'of as many moves as theirs has made, but in the rows of budget '
    f'{MOST}: there both have it. In rows "{REPAIRED}" both begin where its '
    'repair has ended: "before" has it, and its moves do not count; what '
    'it moved is not moved again by ours'
)


Steps = Sequence[Sequence[str]]
"""Instances and where they go."""


class FieldError(Exception):
    """What is to be compared with cannot be had."""


class Rival:
    """It, installed.

    :param python: a Python for it, where it is not installed yet
    :raises FieldError: it cannot be
    """

    def __init__(self, python: str = PYTHON) -> None:
        self._python = PLACE / 'bin' / 'python'
        self._generator = PLACE / f'{NAME}-{VERSION}' / GENERATOR
        if not (self._python.exists() and self._generator.exists()):
            self._install(python)

    def _install(self, python: str) -> None:
        result = shutil.which(python)
        if result is None:
            raise FieldError(f'there is no {python}: give one with --python')
        _said(
            [result, '-c', f'import sys; assert sys.version_info >= {OLDEST}'],
            f'{result} must be Python {".".join(map(str, OLDEST))} or later',
        )
        wanted = f'{NAME}=={VERSION}'
        _said([result, '-m', 'venv', '--clear', PLACE], 'no environment')
        pip = [self._python, '-m', 'pip', '-q']
        _said([*pip, 'install', wanted], f'{wanted} cannot be installed')
        with tempfile.TemporaryDirectory() as name:
            _said(
                [*pip, 'download', '--no-deps', f'--no-binary={NAME}']
                + ['-d', name, wanted],
                f'the source of {wanted} cannot be had',
            )
            [path] = pathlib.Path(name).glob('*.tar.gz')
            with tarfile.open(path) as archive:
                archive.extractall(PLACE, filter='data')
                (PLACE / archive.getnames()[0].split('/')[0]).rename(
                    self._generator.parents[1]
                )

    def recording(
        self, path: str, hosts: int, instances: int, groups: int, seed: int
    ) -> None:
        """Let its generator make one, always the same."""
        words = [path, '--hosts', hosts, '--vms', instances]
        words += ['--groups', groups, '--seed', seed]
        code = SEEDED.format(
            seed=seed, words=list(map(str, words)), path=str(self._generator)
        )
        _said([self._python, '-I', '-c', code], 'its generator failed')

    def plan(self, path: str, is_repair: bool) -> dict[str, Any]:
        """What it plans with the largest budget.

        With a smaller one it is the beginning of that.
        """
        words = [self._python, '-I', THEIR_PLAN, path, MOST]
        words += ['--repair'] if is_repair else []
        document: dict[str, Any] = json.loads(
            _said(words, f'no plan of {path}')
        )
        return document


def _said(words: Sequence[object], fault: str) -> str:
    """:raises FieldError: it failed"""
    done = subprocess.run(
        [str(word) for word in words],
        env={**os.environ, **dict.fromkeys(processes.THREADS, '1')},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise FieldError(f'{NAME}: {fault}: {done.stderr[-800:]}')
    return done.stdout


def rows(
    folder: pathlib.Path,
    python: str = PYTHON,
    recordings: Sequence[str] = (),
    seeds: Sequence[int] = SEEDS,
) -> list[dict[str, Any]]:
    """Compare on those made by its generator and on those that are given.

    :param folder: where recordings may be made
    :param recordings: directories in its layout, with their policies.yaml
    :raises FieldError: it cannot be had, or cannot plan one
    """
    rival = Rival(python)
    paths = list(recordings)
    for size in MADE_UP:
        for seed in seeds:
            paths.append(str(folder / f'{size[0]} hosts, seed {seed}'))
            rival.recording(paths[-1], *size, seed)
    found = []
    for path in paths:
        repairing = rival.plan(path, is_repair=True)
        for what in WHAT:
            print(f'  {path} {what} ...', file=sys.stderr)
            theirs = repairing
            if what == SPREAD:
                theirs = rival.plan(path, is_repair=False)
            found += processes.run(
                'bench.field.kronos_openstack',
                path=path,
                what=what,
                theirs=theirs,
            )
    return found


def compared(
    path: str, what: str, theirs: dict[str, Any]
) -> list[dict[str, Any]]:
    """One recording with every budget that makes a difference."""
    found = []
    given = theirs['steps']
    repaired = _repairs(theirs) if what == REPAIRED else 0
    if what == REPAIRED and not repaired:
        return []  # it is as without a repair
    numbers = [min(budget, len(given)) for budget in BUDGETS]
    for budget in [*dict.fromkeys(numbers), MOST]:
        if budget <= repaired:
            continue
        steps = given[:repaired], given[repaired:budget]
        row = _compared(path, what, *steps, budget - repaired)
        row['budget'] = budget
        if budget == MOST:
            row['their_seconds'] = theirs['seconds']
        found.append(row)
    return found


def _repairs(theirs: dict[str, Any]) -> int:
    """How many of its steps repair groups; they come first."""
    phases = theirs['phases']
    return next(
        (index for index, phase in enumerate(phases) if phase != THEIR_REPAIR),
        len(phases),
    )


def _compared(
    path: str, what: str, before: Steps, theirs: Steps, budget: int
) -> dict[str, Any]:
    """One recording with one budget.

    :param before: what was moved before either begins
    """
    options = ReplayOptions(max_migrations=budget)
    # Theirs asks neither what a migration buys nor what it copies.
    options.overrides = {'min_gain': '0', 'cost_weight': '0'}
    if what == REPAIR:
        options.overrides |= dict.fromkeys(
            ('enforce_hard_affinity', 'enforce_soft_affinity'), 'true'
        )
    recording = load.read(path)
    began = time.process_time()
    ours = replay(recording, options)
    seconds = time.process_time() - began
    [snapshot], report = ours.snapshots, ours.report
    if before:
        snapshot = moved(snapshot, ours.policies, before)
        began = time.process_time()
        report = propose.propose([snapshot], ours.policies, ours.settings)
        seconds = time.process_time() - began
    start, other, own = (Placed(snapshot, ours.policies) for _ in range(3))
    other.move(theirs)
    own.move((step.instance, step.destination) for step in report.steps)
    return {
        'recording': pathlib.Path(path).name,
        'what': what,
        'before': start.combined,
        'their_moves': len(theirs),
        'their_after': other.combined,
        'our_moves': len(report.steps),
        'our_after': own.combined,
        'broken_before': start.broken_groups,
        'their_broken': other.broken_groups,
        'our_broken': own.broken_groups,
        'our_seconds': seconds,
        'result': _result(own.combined, other.combined),
    }


def moved(
    snapshot: Snapshot, policies: Sequence[Policy], steps: Steps
) -> Snapshot:
    """The scope as some moves leave it; none of that moves once more."""
    placed = Placed(snapshot, policies).move(steps)
    readings = dict(snapshot.readings)
    for policy in policies:
        if policy.enabled:
            old = readings[policy.name]
            scores = placed.scores(policy.name)
            samples = [
                replace(sample, value=scores[sample.label])
                for sample in old.imbalance.samples
            ]
            imbalance = replace(old.imbalance, samples=samples)
            readings[policy.name] = replace(old, imbalance=imbalance)
    instances = dict(snapshot.instances)
    for uuid, host in steps:
        instances[uuid] = replace(
            instances[uuid], host=host, unmovable='it was moved before'
        )
    return replace(snapshot, readings=readings, instances=instances)


def _result(ours: float, theirs: float) -> str:
    if abs(ours - theirs) <= SAME:
        return 'equal'
    return 'lower' if ours < theirs else 'HIGHER'


def text(found: Sequence[dict[str, Any]]) -> str:
    return '\n'.join(
        [
            table.text(SUMMARY, summary(found)),
            '',
            table.text(COLUMNS, found),
            LEGEND,
        ]
    )


def summary(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """In how many of the rows ours is lower."""
    rows = []
    for what in WHAT:
        its = [row for row in found if row['what'] == what]
        as_many = [row for row in its if row['budget'] < MOST]
        for budget, some in (
            ('as many moves', as_many),
            ('10 and more', [r for r in as_many if r['budget'] >= 10]),
            (f'{MOST} each', [r for r in its if r['budget'] == MOST]),
        ):
            results = [row['result'] for row in some]
            rows.append(
                {
                    'what': what,
                    'budget': budget,
                    'compared': len(some),
                    'lower': results.count('lower'),
                    'equal': results.count('equal'),
                    'higher': results.count('HIGHER'),
                    'fewer': sum(
                        row['our_broken'] < row['their_broken'] for row in some
                    ),
                    'more': sum(
                        row['our_broken'] > row['their_broken'] for row in some
                    ),
                }
            )
    return rows


if __name__ == '__main__':
    processes.answer(compared(**processes.wanted()))
