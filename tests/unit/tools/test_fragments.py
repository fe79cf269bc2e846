# SPDX-License-Identifier: Apache-2.0
"""Are the slots of the public clusters proven and carried out?"""

import dataclasses
import json
import sys
from unittest import mock

from oslotest import base

from tests import places

if str(places.TOP / 'tools') not in sys.path:
    sys.path.insert(0, str(places.TOP / 'tools'))

import fixtures  # noqa: E402
from bench import __main__ as bench  # noqa: E402
from bench.fragments import (  # noqa: E402
    figures,
    judge,
    planning,
    snapshots,
)
from bench.fragments.snapshots import Machine, Server, Snapshot  # noqa: E402

from kronos.extensions.room.planning import greedy, highs  # noqa: E402
from kronos.extensions.room.planning.market import checking  # noqa: E402

FOLDER = places.TOP / 'tests' / 'fixtures' / 'fragments'
MEDIUM = str(FOLDER / 'vmr-medium-hosts.csv')
GAINS = {10: 11, 25: 22, 50: 35, 100: 60}
"""Proven elsewhere, by migrations allowed."""


def tiny() -> Snapshot:
    machines = {
        name: Machine('r1', name != 'c', (44, 44), (1000, 1000))
        for name in 'abc'
    }
    servers = {
        'x': Server('a', (0,), 30, 10),
        'y': Server('a', (1,), 44, 600),
        'z': Server('b', (0, 1), 20, 500),
        'fixed': Server('b', (0,), 4, 10, is_movable=False),
    }
    return Snapshot('tiny', machines, servers)


class TestMedium(base.BaseTestCase):
    def test_proven_and_carried_out(self) -> None:
        snapshot = snapshots.read(MEDIUM)
        self.assertEqual(279, len(snapshot.machines))
        self.assertEqual(2089, len(snapshot.servers))
        for moves, gain in GAINS.items():
            row = figures.row(snapshot, False, moves)
            self.assertEqual(gain, row['gain'])
            self.assertEqual(gain, row['bound'])
            self.assertLessEqual(row['moves'], moves)
        self.assertEqual('0.2884', f'{row["rate"]:.4f}')

    def test_without_a_solver(self) -> None:
        snapshot = snapshots.read(MEDIUM)
        counts = planning.cluster(snapshot, False)
        result = greedy.ordered(counts, 10)
        steps = planning.steps(counts, result.moves)
        verdict = judge.carry_out(snapshot, steps)
        after = int(counts.slot_counts(result.free).sum())
        self.assertEqual(after, verdict.after)
        self.assertGreaterEqual(after - verdict.before, 10)

    def test_the_bound_is_computed_again(self) -> None:
        counts = planning.cluster(snapshots.read(MEDIUM), False)
        certificate = planning.plan(counts, 25).certificate
        assert certificate is not None
        verdict = checking.check(planning.case(counts), certificate)
        self.assertTrue(verdict.holds, verdict.text)

    def test_no_server_can_move(self) -> None:
        """Without a first migration, the slots of now are the most."""
        servers = {'x': Server('a', (0,), 30, 10)}
        machines = {'a': tiny().machines['a']}
        snapshot = Snapshot('tiny', machines, servers)
        row = figures.row(snapshot, False, 5)
        self.assertEqual((2, 0, 0), (row['before'], row['gain'], row['bound']))


class TestJudge(base.BaseTestCase):
    def refused(self, pattern: str, *step: object, **changes: object) -> None:
        snapshot = dataclasses.replace(tiny(), **changes)
        steps = [step]
        error = self.assertRaises(
            judge.IllegalMoveError, judge.carry_out, snapshot, steps
        )
        self.assertRegex(str(error), f'^move 1, {step[0]}: .*{pattern}')

    def test_legal(self) -> None:
        servers = {
            'x': Server('a', (0,), 4, 10),
            'y': Server('a', (0,), 28, 10),
            'z': Server('b', (0,), 40, 10),
        }
        snapshot = dataclasses.replace(tiny(), servers=servers)
        verdict = judge.carry_out(snapshot, [('x', 'b', (0,))])
        self.assertEqual((4, 5), (verdict.before, verdict.after))
        self.assertEqual(104, verdict.free)
        self.assertAlmostEqual(24 / 104, verdict.rate)
        back = [('x', 'b', (0,)), ('x', 'a', (1,))]
        self.assertEqual(5, judge.carry_out(snapshot, back).after)

    def test_illegal(self) -> None:
        self.refused('must not move', 'fixed', 'a', (0,))
        self.refused('is there', 'x', 'a', (1,))
        self.refused('c is not active', 'x', 'c', (0,))
        self.refused('takes 1 nodes', 'x', 'b', (0, 1))
        self.refused('takes 2 nodes', 'z', 'a', (0,))
        self.refused('b, node 0: not enough CPUs', 'x', 'b', (0,))
        servers = {**tiny().servers, 'y': Server('a', (1,), 20, 600)}
        self.refused(
            'b, node 1: not enough memory', 'y', 'b', (1,), servers=servers
        )

    def test_sets(self) -> None:
        servers = {
            'x': Server('a', (0,), 4, 10),
            'y': Server('b', (1,), 4, 10),
        }
        for level, machines in (
            ('host', tiny().machines),
            (
                'rack',
                {
                    **tiny().machines,
                    'a': Machine('r2', True, (44, 44), (1000, 1000)),
                },
            ),
        ):
            self.refused(
                'y of its set is there',
                'x',
                'b',
                (0,),
                servers=servers,
                machines=machines,
                apart=[(level, frozenset(['x', 'y', 'gone']))],
            )


class TestSnapshots(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path

    def written(self, name: str, text: str) -> str:
        path = f'{self.folder}/{name}'
        with open(path, 'w') as stream:
            stream.write(text)
        return path

    def json(self, **changes: object) -> str:
        numa = [
            {'node': node, 'total_cpu': 44, 'memory_huge_total_mb': 99.0}
            for node in (1, 0)
        ]
        host = {'node_id': 'a', 'rack_id': 3, 'status': 'ACTIVE', 'numa': numa}
        server = {
            'instance_id': 'x',
            'host_id': 'a',
            'numa': [{'node': 1, 'cpu': 16, 'mem_mb': 9}],
            'allow_migration': False,
            **changes,
        }
        sets = [{'granularity': 'host', 'data': ['x']}]
        cluster = {
            'host_info': [host],
            'vm_instance': [server],
            'other_requirement': {'deployment_set': sets},
        }
        text = json.dumps({'cluster_list': [cluster]})
        return self.written('one.json', text)

    def test_json(self) -> None:
        self.assertEqual(
            Snapshot(
                'one',
                {'a': Machine('3', True, (44, 44), (99, 99))},
                {'x': Server('a', (1,), 16, 9, False)},
                [('host', frozenset(['x']))],
            ),
            snapshots.read(self.json()),
        )

    def test_paths(self) -> None:
        path = self.json()
        self.assertEqual([path], snapshots.paths(self.folder))
        self.assertEqual([MEDIUM], snapshots.paths(str(FOLDER)))
        for wrong in (f'{self.folder}/none', f'{self.folder}/none.json'):
            error = self.assertRaises(
                snapshots.FragmentsError, snapshots.paths, wrong
            )
            self.assertIn(wrong, str(error))

    def test_bad_input(self) -> None:
        for path, pattern in (
            (self.written('text.txt', ''), 'neither in .json nor'),
            (self.written('bad.json', '{}'), 'another format'),
            (self.written('alone-hosts.csv', ''), 'cannot be read'),
            (self.written('list.json', '[]'), 'another format'),
        ):
            error = self.assertRaises(
                snapshots.FragmentsError, snapshots.read, path
            )
            self.assertRegex(str(error), f'^{path}: .*{pattern}')
        path = self.json(host_id='b')
        error = self.assertRaises(
            snapshots.FragmentsError, snapshots.read, path
        )
        self.assertIn('x is on b, which is no host', str(error))


class TestFigures(base.BaseTestCase):
    def test_command(self) -> None:
        row = {
            'name': 'medium',
            'gain': 11,
            'bound': 11,
            'share': 1.0,
            'rate': 0.85,
        }
        stdout = self.useFixture(fixtures.StringStream('stdout')).stream
        self.useFixture(fixtures.MonkeyPatch('sys.stdout', stdout))
        with mock.patch.object(figures, 'rows', return_value=[row]) as rows:
            status = bench.main(
                ['--quick', '--parts', 'fragments']
                + [
                    '--fragments',
                    MEDIUM,
                ]
            )
        self.assertEqual(0, status)
        rows.assert_called_once_with(MEDIUM)
        stdout.seek(0)
        self.assertIn('medium     11     11   100%  0.8500', stdout.read())

    def test_rows(self) -> None:
        """Clusters with sets are planned without them, too."""
        with (
            mock.patch.object(snapshots, 'read', return_value=tiny()),
            mock.patch.object(figures, 'MOVES', (1, 2)),
        ):
            rows = figures.rows(MEDIUM)
        self.assertEqual([1, 2], [row['allowed'] for row in rows])
        self.assertEqual([0, 0], [row['sets'] for row in rows])
        apart = [('host', frozenset(['x', 'z']))]
        snapshot = dataclasses.replace(tiny(), apart=apart)
        with (
            mock.patch.object(snapshots, 'read', return_value=snapshot),
            mock.patch.object(figures, 'MOVES', (1,)),
        ):
            rows = figures.rows(MEDIUM)
        self.assertEqual([0, 1], [row['sets'] for row in rows])

    def test_no_solver(self) -> None:
        with mock.patch.object(highs, 'solver', return_value=None):
            error = self.assertRaises(
                snapshots.FragmentsError, figures.rows, MEDIUM
            )
        self.assertIn('scipy is not installed', str(error))
