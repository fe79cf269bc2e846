# SPDX-License-Identifier: Apache-2.0
"""The documents that programs read, as Kronos writes them today.

A shape is the name under which an object stands in a document, with its
keys: objects of one name have the same keys wherever they stand.
"""

import json
import os
import pathlib
import tempfile
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kronos.actions.core import notifications
from kronos.cmd import explain, replay, simulate
from kronos.common import exceptions
from kronos.engine.settings import PlanMode, SearchName
from kronos.engine.types import PastRestart
from kronos.extensions.cells.cell_drain import OffloadedServer, needs_of
from kronos.extensions.maintenance.notices import announcements
from kronos.extensions.maintenance.notices.notice import Event, HostNotice
from kronos.extensions.recovery.failures import Failures
from kronos.recordings import load
from kronos.recordings.replay import ReplayOptions
from kronos.recordings.replay import replay as planned
from kronos.simulate import load as loads
from kronos.strategies import audit, parameters
from kronos.strategies.outcome import artifacts
from kronos.watcher_db import publishing
from tests import commands, places
from tests.builders import cells, recordings, simulations
from tests.builders import loads as build

CLUSTER = str(places.CLUSTERS / 'by-hand.json')
EXAMPLES = ('drain', 'groups', 'pack', 'uneven', 'lab-drain', 'lab-pack')
TOP = 'the document'
UUID = '0d1e3f4a-0000-4000-8000-000000000001'

Shapes = dict[str, list[str]]


class Collector:
    """Collects the shapes of documents.

    :param by_data: names of objects whose keys are names of hosts, policies
        and the like; where other objects are named so, too, with the one
        that they stand in, as in ``weigher.scores``
    """

    def __init__(self, by_data: Sequence[str]) -> None:
        self._by_data = set(by_data)
        self._found: dict[str, set[str]] = {}

    @property
    def shapes(self) -> Shapes:
        return {name: sorted(keys) for name, keys in self._found.items()}

    def add(self, told: Any, name: str = TOP, inside: str = '') -> None:
        if isinstance(told, list):
            for one in told:
                self.add(one, name, inside)
        elif not isinstance(told, dict):
            return
        elif self._by_data & {name, f'{inside}.{name}'}:
            for one in told.values():
                self.add(one, f'each of {name}', name)
        else:
            self._found.setdefault(name, set()).update(told)
            for key, one in told.items():
                self.add(one, key, name)


def of_replay() -> Iterator[Any]:
    """One recording a document, in every mode."""
    for name in EXAMPLES:
        yield _said(replay.main, f'examples/{name}', '--time')
    yield _said(replay.main, 'examples/pack', '--max-migrations', '1')
    for mode in PlanMode:
        if mode not in (PlanMode.PACK, PlanMode.CELL_DRAIN):
            yield _said(replay.main, CLUSTER, '--mode', mode.value)
    with tempfile.TemporaryDirectory() as folder:
        yield _said(replay.main, _of_cells(folder))
        yield _said(replay.main, _of_stuck(folder))
    without = '--set', 'imbalance_query.memory=nobody_asked'
    yield _said(replay.main, 'examples/lab-spread', *without)


def _of_cells(folder: str) -> str:
    """The path of a recording of an audit that empties a cell."""
    snapshot = cells.cells([cells.server('u1'), cells.stopped('u2', 'o2')])
    needs_of(snapshot).offloaded = [OffloadedServer('u3', 'shelf')]
    asked = cells.settings(flavor_map={'small': 'large'}, close_source=True)
    path = f'{folder}/cells'
    load.write(path, cells.recording(snapshot, asked))
    return path


def _of_stuck(folder: str) -> str:
    """The path of a cluster whose highest host cannot change."""
    document = json.loads(pathlib.Path(CLUSTER).read_text())
    host, one = document['hosts'][0], document['instances'][0]
    scores = {'a': 0.9, 'b': 0.6, 'c': 0.2}
    document['groups'] = []
    document['hosts'] = [
        host | {'name': name, 'scores': {'cpu': value}}
        for name, value in scores.items()
    ]
    document['instances'] = [
        one | {'name': f'{name}-{n}', 'host': name, 'movable': name == 'b'}
        for name in 'ab'
        for n in range(2)
    ]
    path = pathlib.Path(folder, 'stuck.json')
    path.write_text(json.dumps(document))
    return str(path)


def of_simulate() -> Iterator[Any]:
    """A load of a few hours, and the advice for it."""
    with tempfile.TemporaryDirectory() as folder:
        path = f'{folder}/load'
        load = build.load(
            simulations.noisy(14, 6) * 4.0,
            [0, 0, 0, 0, 1, 2],
            [4.0] * 3,
            search=SearchName.GREEDY,
        )
        loads.write(path, load)
        words = path, '--jobs', '1', '--set', 'cooldown=0'
        yield _said(simulate.main, *words, '--watts', '90,130')
        yield _said(simulate.main, path, '--jobs', '1', '--advise')


def of_series() -> Iterator[Any]:
    """Several recordings a document."""
    folder = str(places.EXAMPLES)
    yield _said(replay.main, folder, '--time')
    yield _said(replay.main, CLUSTER, '/nowhere')


def of_explain() -> Iterator[Any]:
    for name in ('drain', 'groups', 'pack', 'uneven'):
        path = f'examples/{name}'
        plan = _said(replay.main, path)['scopes'][0]
        yield _said(explain.main, path)
        first, *_, last = [one['name'] for one in plan['hosts']]
        for host in (first, last):
            yield _said(explain.main, path, '--host', host)
        yield _said(explain.main, path, '--blockers', last)
        moved = [one['instance'] for one in plan['steps'][:1]]
        for uuid in [*moved, *list(plan['stayed'])[:4]]:
            about = '--instance', uuid
            yield _said(explain.main, path, *about)
            yield _said(explain.main, path, *about, '--destination', first)


def of_audit(folder: str) -> tuple[str, Any, str]:
    """The report and the recording that an audit keeps.

    :param folder: to write to
    :returns: name of the report, the report, and name of the recording
    """
    asked = types.SimpleNamespace(
        uuid=UUID, name='even', audit_type='ONESHOT', parameters={}, scope=[]
    )
    kronos = types.SimpleNamespace(
        report_dir=folder,
        report_keep=9,
        report_html=False,
        record_dir=folder,
        record_keep=9,
        record_max_age=30,
    )
    plan = planned(load.read('examples/drain'), ReplayOptions())
    result = audit.AuditResult(
        plan.report,
        plan.parents,
        plan.order,
        plan.settings,
        publishing.Basis(frozenset()),
        plan.timings,
    )
    request = audit.AuditRequest(
        'policies.yaml', PlanMode.SPREAD, parameters.parse({}, ())
    )
    artifacts.keep(result, request, asked, 'kronos_spread', kronos)
    (report,) = os.listdir(folder)
    keep = artifacts.recorder(asked, 'kronos_spread', kronos)
    keep(recordings.small())
    (recording,) = {*os.listdir(folder)} - {report}
    document = json.loads(pathlib.Path(folder, report).read_text())
    return report, document, recording


def of_recording(folder: str) -> Iterator[tuple[str, Any]]:
    """Name and contents of each file of recordings written anew."""
    of_examples = {name: load.read(f'examples/{name}') for name in EXAMPLES}
    faulty = recordings.small()
    faulty.gathered.cloud.hosts['a1'].excluded = 1.0
    faulty.gathered.cloud.hosts['a1'].faulty = 1.0
    faulty.gathered.cloud.hosts['a1'].hypervisor_version = 8002001
    faulty.gathered.exclusions_unknown = 'why'
    faulty.gathered.beside['recovery'] = Failures('why')
    faulty.gathered.instances[0].failure = 'crash'
    faulty.gathered.instances[0].dirty_rate = 1.0
    faulty.gathered.instances[0].created = 1.0
    faulty.gathered.instances[0].misallocated_on = ['h2']
    faulty.gathered.instances[0].restarts = [PastRestart(1.0, 'FAILED', True)]
    more = {'x': recordings.small(), 'y': faulty}
    for name, recording in (of_examples | more).items():
        path = pathlib.Path(folder, name)
        load.write(str(path), recording)
        for file in sorted(path.rglob('*')):
            told = str(file.relative_to(path))
            if told.startswith('prometheus/'):
                told = f'prometheus/POLICY.{told.split(".")[-2]}.json'
            if file.suffix == '.json':
                yield told, json.loads(file.read_text())
            elif file.is_file():
                yield told, None


def of_notices() -> list[Any]:
    """What a listener is sent of migrations, and of maintained hosts."""
    sent: list[Any] = []
    conf = types.SimpleNamespace(
        kronos=types.SimpleNamespace(notify=True, maintenance_webhook_url='')
    )
    facts = dict.fromkeys(notifications.Facts.__dataclass_fields__, 'x')
    notices = notifications.Notices(
        notifications.Facts(**facts), conf, sent.append
    )
    record = notifications.Record()
    notices.started(request_id='x', retry_count=0)
    notices.completed(record=record, retry_count=0)
    notices.failed(
        record=record,
        error=exceptions.MigrationFailed(reason='x'),
        retry_count=0,
        final=True,
    )
    more = {'action_uuid': 'x', 'action_plan_uuid': 'x'}
    announcer = announcements.Announcer(conf, dict, more, sent.append)
    for event in Event:
        announcer.announce(HostNotice(event, 'x', 'x', 'x', 0.0))
    return sent


def _said(main: Callable[..., int], *arguments: str) -> Any:
    _, out, err = commands.run(main, [*arguments, '--format', 'json'])
    assert out, err
    return json.loads(out)
