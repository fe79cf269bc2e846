# SPDX-License-Identifier: Apache-2.0
"""Does the bench measure what it says? Nothing here is about time."""

import functools
import importlib.util
import json
import pathlib
import sys
from typing import Any

import fixtures
from oslotest import base

from kronos.engine.planning import propose
from kronos.engine.settings import Settings
from kronos.metrics import process
from kronos.recordings.formats import cluster
from tests import commands

TOP = pathlib.Path(__file__).resolve().parents[3]
if str(TOP / 'tools') not in sys.path:
    sys.path.insert(0, str(TOP / 'tools'))

from bench import __main__ as bench  # noqa: E402
from bench import (  # noqa: E402
    case,
    challenge,
    clusters,
    disruption,
    holding,
    maintenance,
    memory,
    metered,
    options,
    plans,
    processes,
    roadef,
    stalls,
    table,
)
from bench.field import kronos_openstack  # noqa: E402
from bench.placed import Placed  # noqa: E402
from generator import cluster_format, making  # noqa: E402

HOSTS, INSTANCES = 12, 72
RECORDING = TOP / 'tests' / 'fixtures' / 'recordings' / 'daemons'
MODEL = """
4
0 10
0 10
1 10
0 10
3
0 0 10 20 40 9 8 8 8 8 0 1 2
0 1 10 20 40 9 8 8 8 8 1 0 2
1 1 20 20 80 9 8 8 8 8 2 2 0
2
2 0
0 1 0
4
0 4 2 8 1 5
0 1 2 8 1 5
1 3 10 8 1 5
1 2 2 8 1 5
1
0 1 20
10
1 10 100
"""
"""Three machines, two services of two processes each."""
ASSIGNMENT = '0 1 0 2\n'


@functools.cache
def made(broken: int = 0) -> str:
    """The document of the small cluster."""
    wanted = clusters.wanted(HOSTS, broken)
    return json.dumps(cluster_format.document(making.make(wanted)))


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr."""
    return commands.run(bench.main, arguments)


class BenchTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def file(self, broken: int = 0) -> str:
        path = self.folder / f'{broken}.json'
        path.write_text(made(broken))
        return str(path)


class TestAlone(BenchTestCase):
    def test_all_that_is_asked_for(self) -> None:
        """In processes of its own, each with its own figures."""
        words = '--quick --json --modes spread --searches greedy'
        code, out, err = run(*words.split())
        self.assertEqual(0, code, err)
        rows = json.loads(out)['plans']
        self.assertEqual(
            [
                ('spread', 'greedy'),
                ('spread', 'plain'),
                ('spread', 'literal'),
            ],
            [(row['mode'], row['by']) for row in rows],
        )
        for row in rows:
            self.assertEqual(HOSTS, row['hosts'])
            self.assertEqual(INSTANCES, row['instances'])
            self.assertGreater(row['seconds'], 0.0)
            self.assertGreater(row['ratio'], 0.0)
            # Python alone takes more than that.
            self.assertGreater(row['peak_mib'], 10.0)
        greedy, plain, literal = rows
        self.assertEqual(1.0, greedy['ratio'])
        self.assertEqual('*', greedy['result'])
        for key in ('moves', 'gib', 'before'):
            self.assertEqual(literal[key], plain[key], key)
        self.assertAlmostEqual(literal['after'], plain['after'])


class TestOptions(BenchTestCase):
    def test_what_makes_no_sense(self) -> None:
        for words, told in (
            ('--sizes 12,x', 'are no numbers with commas in between'),
            ('--sizes 1', '2 hosts are the least'),
            ('--modes spread,spred', "'spred' is none of spread, pack"),
            ('--parts roadef', 'give --roadef'),
            ('--json --services', 'no figures as JSON'),
            ('--stalls 0', 'one of each kind is the least'),
        ):
            code, _, err = run(*words.split())
            self.assertEqual(2, code)
            self.assertIn(told, err)

    def test_what_cannot_be_read(self) -> None:
        (self.folder / 'file').write_text('{}')
        for words in (
            ['--parts', 'plans', str(self.folder / 'file')],
            ['--quick', '--parts', 'roadef', '--roadef', str(self.folder)],
        ):
            code, out, err = run(*words)
            self.assertEqual((1, ''), (code, out))
            self.assertIn(str(self.folder), err)

    def test_parts(self) -> None:
        for words, parts in (
            ('', ['plans', 'weighing']),
            ('--quick --roadef x', ['plans', 'roadef']),
            ('--field', [*options.USUAL, *options.FIELD]),
            ('--parts watcher --field', ['watcher']),
        ):
            self.assertEqual(parts, options.parse(words.split()).parts)
        self.assertEqual({*options.PARTS}, {*bench.TEXTS})


class TestTable(BenchTestCase):
    def test_the_text(self) -> None:
        rows = [
            self.measured('drain', 'best'),
            self.measured('repair', 'greedy', broken=2),
            self.measured('pack', 'best'),
        ]
        plans.compare(rows)
        head, drain, repair, pack, *_ = plans.text(rows).splitlines()
        self.assertEqual(['hosts', 'instances'], head.split()[:2])
        self.assertIn(f'{rows[0]["drained"]} of ', drain)
        self.assertIn('2 broken, then 0', repair)
        self.assertRegex(pack, r' [1-9] of 11 hosts emptied, at most \d+$')

    def measured(self, mode: str, by: str, broken: int = 0) -> dict[str, Any]:
        return case.measured(self.file(broken), mode, by, 12, repeats=1)

    def test_a_plan_lasts_as_long_as_it_must(self) -> None:
        row = self.measured('drain', 'best')
        self.assertGreater(row['least_seconds'], 0.0)
        self.assertGreaterEqual(
            row['plan_seconds'] + 1e-9, row['least_seconds']
        )

    def test_columns(self) -> None:
        columns = {'a': ('A', 's'), 'b': ('B', '.1f'), 'c': ('C', 'd')}
        rows = [{'a': 'one', 'b': 1.25, 'c': None}, {'a': 'x', 'b': None}]
        self.assertEqual('A      B\none  1.2\nx', table.text(columns, rows))


class TestPlaced(BenchTestCase):
    def test_it_agrees_with_the_engine(self) -> None:
        found = cluster.read(self.file(broken=2))
        settings = Settings(
            max_migrations=12,
            enforce_hard_affinity=True,
            enforce_soft_affinity=True,
        )
        [scope] = propose.propose(
            [found.snapshot], found.policies, settings
        ).scopes
        placed = Placed(found.snapshot, found.policies)
        self.assertAlmostEqual(scope.combined_before, placed.combined)
        self.assertEqual(len(scope.violations_before), placed.broken_groups)
        self.assertEqual(2, placed.broken_groups)
        self.assertEqual(scope.hosts_in_use_before, placed.hosts_in_use)
        placed.move((one.instance, one.destination) for one in scope.steps)
        self.assertAlmostEqual(scope.combined_after, placed.combined)
        self.assertEqual(len(scope.violations_after), placed.broken_groups)
        self.assertEqual(scope.hosts_in_use_after, placed.hosts_in_use)
        self.assertEqual(
            sum(one.memory_mb for one in scope.steps), placed.moved_mb
        )
        self.assertEqual(0, placed.overfull_hosts)

    def test_too_much_on_a_host(self) -> None:
        found = cluster.read(self.file())
        host = next(iter(found.snapshot.hosts))
        placed = Placed(found.snapshot, found.policies)
        placed.move((uuid, host) for uuid in found.snapshot.instances)
        self.assertEqual(1, placed.overfull_hosts)
        self.assertEqual(1, placed.hosts_in_use)


class TestMemory(BenchTestCase):
    def test_the_price_counts(self) -> None:
        dear, free = (
            case.measured(
                self.file(), 'spread', 'best', 2, repeats=1, cost_weight=price
            )
            for price in (0.5, 0.0)
        )
        self.assertLess(dear['gib'], free['gib'])
        self.assertGreater(dear['after'], free['after'])

    def test_the_one_that_copies_least(self) -> None:
        rows: list[dict[str, Any]] = [
            {'by': 'plain', 'after': 0.5, 'gib': 100.0},
            {'by': 'best', 'after': 0.4, 'gib': 80.0},
            {'by': 'best', 'after': 0.5, 'gib': 70.0},
            {'by': 'best', 'after': 0.501, 'gib': 40.0},
        ]
        memory.compare(rows)
        self.assertEqual(['', '', '*', ''], [row['result'] for row in rows])
        self.assertEqual(0.7, rows[2]['gib_ratio'])
        self.assertRegex(memory.text(rows), r'0\.5000 +70 +70% +\*')


class TestMetered(BenchTestCase):
    def test_what_the_metrics_add(self) -> None:
        row = metered.measured('planning', self.file(), pairs=2)
        self.assertEqual(HOSTS, row['hosts'])
        self.assertGreater(row['ratio'], 0.0)
        self.assertGreater(row['write_ms'], 0.0)
        self.assertFalse(process.of_process().is_on)

    def test_the_target(self) -> None:
        row = {'part': 'planning', 'hosts': 9, 'ratio': 1.0}
        self.assertTrue(metered.is_met([row, {**row, 'ratio': 1.03}]))
        self.assertFalse(metered.is_met([row, {**row, 'ratio': 1.031}]))
        self.assertIn('1.0000', metered.text([row]))


class TestDisruption(BenchTestCase):
    def test_what_limits_add(self) -> None:
        """Plans are about the same size: what limits save is not measured."""
        row = disruption.measured(self.file(), pairs=1)
        self.assertEqual(HOSTS, row['hosts'])
        self.assertGreater(row['ratio'], 0.0)
        self.assertGreater(row['moves'], 0)
        self.assertGreaterEqual(row['limited_moves'], row['moves'] * 0.9)

    def test_the_target(self) -> None:
        row = {'hosts': 9, 'ratio': 1.1}
        self.assertTrue(disruption.is_met([row]))
        self.assertFalse(disruption.is_met([row, {**row, 'ratio': 1.101}]))
        self.assertIn('1.1000', disruption.text([row]))


class TestMaintenance(BenchTestCase):
    def test_a_run(self) -> None:
        row = maintenance.measured(4, 1, 0.5, 9.0, times=1)
        self.assertEqual(4, row['hosts'])
        self.assertGreaterEqual(row['moves'], row['servers'])
        self.assertGreater(row['seconds'], 0.0)
        self.assertGreater(row['hours'], 4 * 1200 / 3600)

    def test_the_target(self) -> None:
        row = {'hosts': 100, 'seconds': 0.9, 'most': 1.0}
        self.assertTrue(maintenance.is_met([row]))
        self.assertFalse(maintenance.is_met([row, {**row, 'seconds': 1.1}]))
        self.assertIn('0.90', maintenance.text([row]))


class TestHolding(BenchTestCase):
    def test_the_text(self) -> None:
        row = {'weighers': 'x', 'slots': 9, 'after_100': 5, 'refused': 0}
        self.assertIn('x             9          5', holding.text([row]))
        self.assertIn('Nova is not installed', holding.text([]))

    def test_each_case_is_of_a_row(self) -> None:
        for arrivals in holding.ARRIVALS:
            self.assertIn(f'after_{arrivals}', holding.COLUMNS)
        self.assertIn(0.0, [weight for _, _, weight in holding.CASES])

    def test_a_run(self) -> None:
        """In a process of its own: Nova's options are those of a process."""
        if importlib.util.find_spec('nova') is None:
            self.skipTest('Nova is not installed')
        size = {'hosts': 30, 'arrivals': 5, 'rounds': 3}
        for slot_weight in (0.0, 1.0):
            row = processes.run(
                'bench.holding',
                name='x',
                is_ours=True,
                slot_weight=slot_weight,
                **size,
            )
            self.assertEqual(6, row['slots'])
            self.assertEqual(0, row['refused'])
            self.assertEqual(bool(slot_weight), 'held_ratio' in row)


class TestStalls(BenchTestCase):
    def test_a_scope(self) -> None:
        step, initial = stalls.measured('flavor', 5)
        self.assertEqual('step', step['reference'])
        self.assertEqual('initial', initial['reference'])
        for row in step, initial:
            self.assertEqual((1, True), (row['fewest'], row['is_proven']))
            self.assertEqual(
                ('balanced', 1),
                (
                    row['best_stopped'],
                    row['best_moves'],
                ),
            )

    def test_the_text(self) -> None:
        row = {'kind': 'ties', 'reference': 'step', 'best_stopped': 'balanced'}
        row |= {'greedy_stopped': 'stuck', 'best_seconds': 0.5}
        rows: list[dict[str, Any]] = [
            row | {'seed': 0, 'best_moves': 3, 'fewest': 2, 'at_least': 1},
            row | {'seed': 1, 'best_moves': 2, 'fewest': 2, 'at_least': 2},
            row | {'seed': 2, 'best_moves': 4, 'fewest': None, 'at_least': 0},
            row
            | {'seed': 3, 'best_moves': 1, 'fewest': 2, 'at_least': 2}
            | {'best_stopped': 'stuck'},
        ]
        for one in rows:
            one['is_proven'] = one['fewest'] == one['at_least']
        told = stalls.text(rows)
        [ties, every] = [
            line.split()[1:] for line in told.splitlines() if ' step ' in line
        ][:2]
        self.assertEqual(ties, every)
        self.assertEqual('step 4 3 2 0 2 67% 1.250 2.000 0.50', ' '.join(ties))
        self.assertRegex(told, r'ties +3 +step +2 +2 +1 +stuck')


class TestRoadef(BenchTestCase):
    def written(self, model: str = MODEL, assignment: str = ASSIGNMENT) -> str:
        path = self.folder / 'model_x_1.txt'
        path.write_text(model)
        (self.folder / 'assignment_x_1.txt').write_text(assignment)
        return str(path)

    def test_what_is_read(self) -> None:
        found = roadef.read(self.written())
        snapshot = found.snapshot
        self.assertEqual(['m0', 'm1', 'm2'], list(snapshot.hosts))
        self.assertEqual(
            {'p0': 'm0', 'p1': 'm1', 'p2': 'm0', 'p3': 'm2'},
            {uuid: one.host for uuid, one in snapshot.instances.items()},
        )
        self.assertEqual(
            [['p0', 'p1'], ['p2', 'p3']],
            [one.members for one in snapshot.groups],
        )
        scores = [
            {one.label: one.value for one in readings.imbalance.samples}
            for readings in snapshot.readings.values()
        ]
        self.assertEqual({'m0': 0.7, 'm1': 0.1, 'm2': 0.1}, scores[0])
        self.assertEqual({'m0': 0.6, 'm1': 0.1, 'm2': 0.1}, scores[1])
        self.assertEqual({'m0': 0.4, 'm1': 0.2, 'm2': 0.1}, scores[2])
        room = snapshot.hosts['m2'].headroom or {}
        self.assertEqual((80, 8), (room['DISK_GB'].capacity, 8))

    def test_it_is_planned(self) -> None:
        """Of process 0, as machine 1 has another one of its service."""
        row = case.measured(self.written(), 'spread', 'greedy', 1, repeats=1)
        self.assertEqual(1, row['moves'])
        self.assertAlmostEqual(
            0.5 * 0.6 + 0.3 * 0.5 + 0.2 * 0.3, row['before']
        )
        # It goes to machine 2, of which it takes half as much.
        self.assertAlmostEqual(0.5 * 0.2 + 0.3 * 0.4, row['after'])

    def test_models(self) -> None:
        path = self.written()
        self.assertEqual([path], roadef.models(path))
        self.assertEqual([path], roadef.models(str(self.folder)))
        other = self.useFixture(fixtures.TempDir()).path
        self.assertRaises(roadef.RoadefError, roadef.models, other)

    def test_faults(self) -> None:
        for model, assignment, told in (
            (MODEL.replace('1 10 100\n', '1 10\n'), ASSIGNMENT, 'ends before'),
            (MODEL + '7', ASSIGNMENT, '1 numbers are left'),
            (MODEL.replace('0 10\n', '0 x\n'), ASSIGNMENT, 'is x'),
            (MODEL.replace('1 3 10', '2 3 10'), ASSIGNMENT, 'process 2 must'),
            (MODEL.replace('0 0 10', '0 0 0'), ASSIGNMENT, 'machine 0 has'),
            (MODEL, '0 1 0', 'process 3'),
            (MODEL, '0 1 0 3', 'less than 3, is 3'),
            (MODEL, '0 1 0 2 2', '1 numbers are left'),
        ):
            path = self.written(model, assignment)
            error = self.assertRaises(roadef.RoadefError, roadef.read, path)
            self.assertIn(told, str(error))
            self.assertIn('_x_1.txt: ', str(error))

    def test_the_text(self) -> None:
        row = {'name': 'x_1', 'hosts': 3, 'instances': 4, 'before': 0.5}
        row |= {'greedy': 0.25, 'greedy_moves': 2, 'greedy_seconds': 0.5}
        self.assertIn('0.2500', challenge.text([row]))


class TestKronosOpenstack(BenchTestCase):
    def setUp(self) -> None:
        super().setUp()
        for name, value in (
            ('MOST', 8),
            ('BUDGETS', (5,)),
            ('PLACE', self.folder / 'none'),
        ):
            self.useFixture(
                fixtures.MonkeyPatch(
                    f'bench.field.kronos_openstack.{name}', value
                )
            )

    def test_as_many_moves(self) -> None:
        """Of ours themselves, as if they were theirs."""
        path = str(RECORDING)
        ours = kronos_openstack.replay(
            kronos_openstack.load.read(path),
            kronos_openstack.ReplayOptions(max_migrations=5),
        )
        steps = [(one.instance, one.destination) for one in ours.report.steps]
        self.assertNotEqual([], steps)
        theirs = {'seconds': 1.0, 'steps': steps}
        rows = kronos_openstack.compared(path, 'spread', theirs)
        same, whole = rows[0], rows[-1]
        self.assertEqual('equal', same['result'])
        self.assertEqual(len(steps), same['their_moves'])
        self.assertEqual(same['their_after'], same['our_after'])
        self.assertEqual(kronos_openstack.MOST, whole['budget'])
        self.assertEqual(1.0, whole['their_seconds'])
        told = kronos_openstack.text(rows).splitlines()
        self.assertEqual(
            ['spread', 'as', 'many', 'moves', '1', '0', '1'],
            told[1].split()[:7],
        )

    def test_worse_is_said(self) -> None:
        path = str(RECORDING)
        theirs = {'seconds': 1.0, 'steps': []}
        [row] = kronos_openstack.compared(path, 'spread', theirs)
        self.assertEqual('lower', row['result'])
        self.assertEqual(row['before'], row['their_after'])
        whole = kronos_openstack.summary([row])[2]
        self.assertEqual((1, 0), (whole['lower'], whole['higher']))
        row['result'] = 'HIGHER'
        whole = kronos_openstack.summary([row])[2]
        self.assertEqual((0, 1), (whole['lower'], whole['higher']))

    def test_after_their_repair(self) -> None:
        """Ours begins where they end, and moves nothing of that again."""
        path = str(RECORDING)
        ours = kronos_openstack.replay(
            kronos_openstack.load.read(path),
            kronos_openstack.ReplayOptions(max_migrations=5),
        )
        [snapshot], policies = ours.snapshots, ours.policies
        steps = [(one.instance, one.destination) for one in ours.report.steps]
        repair = steps[:2]
        after = kronos_openstack.moved(snapshot, policies, repair)
        self.assertAlmostEqual(
            Placed(snapshot, policies).move(repair).combined,
            Placed(after, policies).combined,
        )
        [scope] = propose.propose([after], policies, ours.settings).scopes
        self.assertNotEqual([], scope.steps)
        self.assertAlmostEqual(
            Placed(after, policies).combined, scope.combined_before
        )
        self.assertEqual(
            set(),
            {uuid for uuid, _ in repair}
            & {one.instance for one in scope.steps},
        )
        theirs = {
            'seconds': 1.0,
            'steps': steps,
            'phases': ['affinity'] * 2 + ['spread'] * (len(steps) - 2),
        }
        rows = kronos_openstack.compared(
            path, kronos_openstack.REPAIRED, theirs
        )
        self.assertEqual(
            [(5, 3), (kronos_openstack.MOST, len(steps) - 2)],
            [(row['budget'], row['their_moves']) for row in rows],
        )
        for row in rows:
            self.assertAlmostEqual(scope.combined_before, row['before'])
            self.assertNotEqual('HIGHER', row['result'])
        theirs['phases'] = ['spread'] * len(steps)
        self.assertEqual(
            [],
            kronos_openstack.compared(path, kronos_openstack.REPAIRED, theirs),
        )

    def test_there_is_no_such_python(self) -> None:
        error = self.assertRaises(
            kronos_openstack.FieldError,
            kronos_openstack.Rival,
            'python-that-is-not-there',
        )
        self.assertIn('give one with --python', str(error))
