# SPDX-License-Identifier: Apache-2.0
"""Are made-up clouds valid, as wanted, and the same again?"""

import json
import os
import pathlib
import subprocess
import sys

import fixtures
from oslotest import base

from kronos.engine.server_groups import APART
from kronos.extensions.cells.cell_drain import needs_of
from kronos.recordings import examples, load
from kronos.recordings.formats import cluster
from kronos.recordings.recording import Recording
from kronos.recordings.replay import ReplayOptions, replay
from tests import commands

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / 'tools'))

from generator import cli, making  # noqa: E402
from generator.wanted import Wanted  # noqa: E402

MADE_UP = ('uneven', 'drain', 'groups', 'pack')


def content(folder: pathlib.Path, *without: str) -> dict[str, bytes]:
    """The files of a directory by their name in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob('*'))
        if path.is_file() and path.name not in without
    }


def run(*arguments: str) -> tuple[int, str]:
    """Exit status and stderr."""
    code, _, err = commands.run(cli.main, arguments)
    return code, err


class GenerateTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def made(self, options: str, name: str = 'made') -> Recording:
        path = self.folder / name
        code, err = run(str(path), *options.split())
        self.assertEqual(0, code, err)
        return load.read(str(path))


class TestSame(GenerateTestCase):
    def test_the_same_seed_makes_the_same_bytes(self) -> None:
        """Also in another process, whose hashes are others."""
        options = '--hosts 5 --seed 4 --classes 3 --empty 1'
        self.made(options, 'one')
        subprocess.run(
            [
                sys.executable,
                str(TOP / 'tools' / 'generate'),
                str(self.folder / 'two'),
                *options.split(),
            ],
            env={**os.environ, 'PYTHONHASHSEED': '7'},
            check=True,
            capture_output=True,
        )
        self.made(options.replace('4', '5'), 'three')
        one, two, three = (
            content(self.folder / name) for name in ('one', 'two', 'three')
        )
        self.assertEqual(one, two)
        self.assertNotEqual(one, three)

    def test_a_cluster_is_the_same_too(self) -> None:
        for name in ('a.json.gz', 'b.json.gz'):
            path = str(self.folder / name)
            code, err = run(path, '--format', 'cluster/1', '--hosts', '3')
            self.assertEqual(0, code, err)
        one, two = content(self.folder).values()
        self.assertEqual(one, two)

    def test_the_examples_can_be_made_again(self) -> None:
        """meta.json tells how; the settings of a later version are others."""
        for name in MADE_UP:
            with self.subTest(name=name):
                path = pathlib.Path(examples.located(f'examples/{name}'))
                meta = json.loads((path / 'meta.json').read_text())
                tool, _, options = meta['made_by'].partition(' ')
                self.assertEqual('tools/generate', tool)
                self.made(options, name)
                self.assertEqual(
                    content(path, 'meta.json'),
                    content(self.folder / name, 'meta.json'),
                )


class TestValid(GenerateTestCase):
    def test_every_variant(self) -> None:
        """What is recorded fits together, and no host is too full."""
        for at, options in enumerate(
            (
                '--hosts 2',
                '--hosts 9 --aggregates 3 --classes 3 --variant flavor',
                '--hosts 12 --hot 2 --down 1 --disabled 2 --empty 3',
                '--hosts 10 --instances 300 --grouped 0.6 --broken 4',
                '--hosts 30 --instances 45 --mode pack --frozen 0.5',
                '--hosts 4 --instances 0 --mode affinity',
            )
        ):
            with self.subTest(options=options):
                found = self.made(options, str(at))
                self.check_room(found)
                self.check_scores(found)
                replay(found, ReplayOptions())

    def check_room(self, found: Recording) -> None:
        """Placement's view is that of the instances."""
        cloud = found.gathered.cloud
        used = {name: [0, 0, 0] for name in cloud.hosts}
        for one in found.gathered.instances:
            for at, amount in enumerate(
                (one.disk_gb, one.memory_mb, one.vcpus)
            ):
                used[one.host][at] += amount
        kinds = ('DISK_GB', 'MEMORY_MB', 'VCPU')
        for host in cloud.hosts.values():
            assert host.headroom is not None
            room = [host.headroom[kind] for kind in kinds]
            self.assertEqual(used[host.name], [one.used for one in room])
            for one in room:
                self.assertLessEqual(one.used, one.capacity)
        self.assertEqual(
            sorted(cloud.hosts),
            sorted(host for one in cloud.aggregates for host in one.hosts),
        )

    def check_scores(self, found: Recording) -> None:
        """A host's score is what its instances use, and a little more."""
        where = {one.uuid: one.host for one in found.gathered.instances}
        for policy in found.policies:
            scores, usage, capacity = (
                {one.label: one.value for one in reading.samples}
                for reading in (
                    found.answers[policy.imbalance_query, policy.host_label],
                    found.answers[
                        policy.vm_profile_query, policy.vm_profile_label
                    ],
                    found.answers[
                        str(policy.host_capacity_query), policy.host_label
                    ],
                )
            )
            for host, score in scores.items():
                its = sum(usage[one] for one in usage if where[one] == host)
                rest = score - its / capacity[host]
                self.assertTrue(-1e-5 < rest < 0.0201, (policy.name, rest))
                self.assertLess(score, 0.951)

    def test_broken_groups_are_so_many(self) -> None:
        for broken in (0, 3):
            found = self.made(
                f'--hosts 10 --instances 120 --grouped 0.5 --broken {broken}',
                str(broken),
            )
            where = {one.uuid: one.host for one in found.gathered.instances}
            wrong = 0
            for group in found.gathered.groups:
                on = [where[member] for member in group.members]
                most = len(on) if group.policy in APART else 1
                wrong += len(set(on)) != most
            self.assertEqual(broken, wrong)

    def test_shapes(self) -> None:
        """Mostly small instances, few large tenants, groups kept apart."""
        found = making.make(Wanted(100))
        self.assertEqual(2000, len(found.servers))
        small = sum(one.vcpus <= 2 for one in found.servers)
        self.assertTrue(0.6 < small / 2000 < 0.72, small)
        sizes = [
            sum(one.tenant is tenant for one in found.servers)
            for tenant in found.tenants
        ]
        self.assertGreater(max(sizes), 8 * sorted(sizes)[len(sizes) // 2])
        grouped = sum(one.group is not None for one in found.servers)
        self.assertTrue(0.1 < grouped / 2000 <= 0.12, grouped)
        apart = sum(one.policy in APART for one in found.groups)
        self.assertTrue(0.7 < apart / len(found.groups) < 0.95, apart)


class TestVariants(GenerateTestCase):
    def test_hosts(self) -> None:
        found = self.made('--hosts 9 --empty 2 --down 1 --disabled 2')
        services = (found.gathered.services or {}).values()
        self.assertEqual(1, sum(one.state == 'down' for one in services))
        off = [one.host for one in services if one.status == 'disabled']
        self.assertEqual(2, len(off))
        used = {one.host for one in found.gathered.instances}
        self.assertEqual(7, len(used))
        self.assertLess(set(off), used)
        self.assertEqual(140, len(found.gathered.instances))

    def test_classes(self) -> None:
        found = self.made('--hosts 20 --classes 3')
        sizes = {
            host.headroom['VCPU'].capacity
            for host in found.gathered.cloud.hosts.values()
            if host.headroom
        }
        self.assertEqual(3, len(sizes))

    def test_hot(self) -> None:
        """A policy must not get worse: only swaps help such hosts."""
        scores = making.make(Wanted(8, hot=1)).scores()
        opposites = [
            (round(scores['cpu'][name], 2), round(scores['ram'][name], 2))
            for name in scores['cpu']
        ]
        self.assertIn((0.85, 0.25), opposites)
        [(_, memory)] = [one for one in opposites if one[0] == 0.25]
        self.assertGreater(memory, 0.5)

    def test_flavor(self) -> None:
        """Whole steps of a host."""
        found = making.make(Wanted(10, variant='flavor'))
        for server in found.servers:
            assert server.host is not None
            share = server.usage['cpu'] / server.host.capacity['cpu']
            self.assertAlmostEqual(0, (share * 100 + 0.5) % 1 - 0.5, 6)

    def test_frozen(self) -> None:
        """Locked or pinned, so that planning leaves them alone."""
        found = self.made('--hosts 5 --frozen 0.2 --disabled 1')
        plan = replay(found, ReplayOptions(mode='evacuate'))
        told = ' '.join(plan.report.scopes[0].unmovable.values())
        self.assertIn('locked', told)
        self.assertIn('hw:cpu_policy', told)

    def test_a_recovery(self) -> None:
        """It is recorded as one, whatever there is to recover."""
        found = self.made('--hosts 8 --mode recover')
        self.assertEqual('recovery', found.settings.extension.name)

    def test_cells(self) -> None:
        """Half of the hosts are in a cell that can be emptied."""
        found = self.made('--hosts 8 --mode cell_drain')
        cells = {
            host.name: host.cell
            for host in found.gathered.cloud.hosts.values()
        }
        self.assertEqual(['new'] * 4 + ['old'] * 4, sorted(cells.values()))
        flavors = needs_of(found.gathered).flavors
        for one in found.gathered.instances:
            flavor = flavors[one.flavor]
            self.assertEqual(
                (one.vcpus, one.memory_mb, one.root_gb),
                (flavor.vcpus, flavor.memory_mb, flavor.root_gb),
            )
        [scope] = replay(found, ReplayOptions()).report.scopes
        self.assertEqual('old -> new', scope.name)
        self.assertEqual(10, len(scope.steps))
        for step in scope.steps:
            self.assertEqual(
                ('old', 'new'), (cells[step.source], cells[step.destination])
            )

    def test_cluster(self) -> None:
        path = str(self.folder / 'c.json')
        options = '--hosts 6 --seed 2 --disabled 1 --format cluster/1'
        self.assertEqual(0, run(path, *options.split())[0])
        found = cluster.read(path)
        self.assertEqual([], found.warnings)
        self.assertEqual(6, len(found.snapshot.hosts))
        self.assertEqual(120, len(found.snapshot.instances))
        closed = [one for one in found.snapshot.hosts.values() if one.closed]
        self.assertEqual(1, len(closed))

    def test_days(self) -> None:
        """A week goes on from day to day, a little changed each time."""
        self.assertEqual(
            0, run(str(self.folder / 'w'), '--days', '7', '--hosts', '4')[0]
        )
        week = [
            load.read(path) for path in load.found_in([str(self.folder / 'w')])
        ]
        self.assertEqual(7, len(week))
        for one, two in zip(week, week[1:], strict=False):
            self.assertEqual(86400, two.recorded_at - one.recorded_at)
            before, after = (
                {server.uuid for server in day.gathered.instances}
                for day in (one, two)
            )
            self.assertEqual(len(before), len(after))
            self.assertTrue(0 < len(before - after) < 5)
            self.assertNotEqual(one.answers, two.answers)


class TestRefusals(GenerateTestCase):
    def test_there_is_no_such_cloud(self) -> None:
        for options, text in (
            ('--hosts 1', '--hosts must be at least 2'),
            ('--hosts 3 --empty 3', 'no host for the instances'),
            ('--hosts 3 --down 2 --hot 1', 'more hosts than'),
            ('--hosts 3 --aggregates 4', '--aggregates must be'),
            ('--classes 4', '--classes must be from 1 to 3'),
            ('--frozen 1.5', '--frozen must be from 0 to 1'),
            ('--frozen nan', '--frozen must be from 0 to 1'),
            ('--broken 900', 'can be broken; give more'),
            ('--down -1', 'must be at least 0'),
            ('--days 0', 'invalid'),
            ('--format cluster/1 --mode pack', 'another mode than spread'),
            ('--format cluster/1 --classes 2', 'hosts of several sizes'),
            ('--format cluster/1 --days 2', '--days is for'),
        ):
            with self.subTest(options=options):
                code, err = run(str(self.folder / 'x'), *options.split())
                self.assertEqual((2, True), (code, text in err), err)
                self.assertEqual([], list(self.folder.iterdir()))

    def test_there_is_something_already(self) -> None:
        for name, options in (
            ('a', '--hosts 2'),
            ('b', '--hosts 2 --days 2'),
            ('c', '--hosts 2 --format cluster/1'),
        ):
            path = self.folder / name
            path.mkdir()
            (path / 'mine').write_text('')
            code, err = run(str(path), *options.split())
            self.assertEqual(1, code)
            self.assertIn(str(path), err)
            self.assertEqual(['mine'], os.listdir(path))
