# SPDX-License-Identifier: Apache-2.0
"""Is what a cloud did fetched whole, however often it is cut?"""

import pathlib
import random
from typing import Any

import numpy as np

from kronos.common import exceptions
from kronos.common.exceptions import ArchiveError
from kronos.simulate import load as loads
from kronos.simulate.fetch.workplace import Workplace
from kronos.simulate.load import Load
from tests.builders import loads as build
from tests.unit.simulate.fetch import fetching
from tests.unit.simulate.fetch.fetching import (
    START,
    STEP,
    TICKS,
    FetchTestCase,
)


def files_of(path: pathlib.Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in path.rglob('*')
        if file.is_file()
    }


class SessionTestCase(FetchTestCase):
    def loaded(self, **more: Any) -> Load:
        self.limits = self.fetch(**more)
        return loads.read(str(self.path))


class TestWhole(SessionTestCase):
    def test_arrays(self) -> None:
        load = self.loaded()
        self.assertEqual((STEP, TICKS), (load.meta.step, load.ticks))
        self.assertEqual(START, load.meta.start)
        self.assertEqual(fetching.HOSTS, load.meta.hosts)
        self.assertEqual(
            [build.uuid(number) for number in range(4)],
            [row.uuid for row in load.meta.instances],
        )
        for tick in (0, 99, 100, 101, 199, 200, 299, 300, TICKS - 1):
            expected = fetching.places(START + tick * STEP)
            with self.subTest(tick=tick):
                self.assertEqual(
                    [expected.get(number, -1) for number in range(4)],
                    load.placement[tick].tolist(),
                )
                np.testing.assert_allclose(
                    [
                        fetching.usage(number)
                        if number in expected
                        else np.nan
                        for number in range(4)
                    ],
                    load.usage['cpu'][tick],
                    rtol=1e-6,
                )
        np.testing.assert_allclose(
            np.full((TICKS, 4), 0.1), load.remainder['cpu'], atol=1e-5
        )
        self.assertEqual([10.0] * 4, load.capacity['cpu'].tolist())

    def test_servers(self) -> None:
        rows = self.loaded().meta.instances
        self.assertEqual(
            ['h0', 'h0', None, 'h3'], [row.host_at_start for row in rows]
        )
        self.assertEqual(
            [(None, None), (None, None), (fetching.BORN, None)],
            [(row.born, row.gone) for row in rows[:3]],
        )
        self.assertEqual(fetching.GONE, rows[3].gone)
        self.assertEqual(['g1', None], [row.group for row in rows[:2]])
        self.assertEqual(2, rows[3].vcpus)

    def test_the_recording(self) -> None:
        """Of the moment of the fetch, and without secrets."""
        recording = self.loaded().recording
        self.assertEqual(
            {build.uuid(number) for number in range(3)},
            {instance.uuid for instance in recording.gathered.instances},
        )
        everything = b''.join(files_of(self.path).values())
        self.assertNotIn(b'hunter2', everything)

    def test_limits(self) -> None:
        load = self.loaded()
        self.assertEqual(self.limits, load.meta.limits)
        self.assertIn(
            'Policy cpu: 1 series is of servers that Nova does not list; '
            'their load stays on its host.',
            self.limits,
        )

    def test_the_workplace_goes(self) -> None:
        self.fetch()
        self.assertEqual(
            {
                *('meta.json', 'placement.npy', 'recording', 'usage-cpu.npy'),
                *('remainder-cpu.npy', 'capacity-cpu.npy'),
            },
            {path.name for path in self.path.iterdir()},
        )

    def test_raw_queries(self) -> None:
        """Narrowed to the step, unless a user gives others."""
        self.fetch()
        self.assertEqual(
            {fetching.RAW, 'cpu_of_host'},
            {query['query'] for query in self.prometheus.ranges},
        )
        self.path = self.folder / 'other'
        self.prometheus.add('mine', 'uuid', {build.uuid(0): lambda _at: 2.0})
        load = self.loaded(raw={'cpu': 'mine'})
        self.assertEqual(2.0, load.usage['cpu'][0, 0])

    def test_windows(self) -> None:
        """Those of the queries, which a loop applies; of a raw one, too."""
        [row] = self.loaded().meta.policies.values()
        self.assertEqual(('avg:120', 'now'), (row.window, row.host_window))

    def test_windows_that_have_samples(self) -> None:
        """Where the step has too few samples, the next longer one is taken."""
        del self.prometheus.series[fetching.RAW]
        wide = 'max by (uuid) (rate(cpu_total[20m]))'
        self.prometheus.series[wide] = self.prometheus.series[fetching.QUERY]
        self.fetch()
        self.assertIn(wide, {q['query'] for q in self.prometheus.ranges})
        del self.prometheus.series[wide]
        self.path = self.folder / 'other'
        load = self.loaded()
        limits = ' '.join(load.meta.limits)
        self.assertIn('shorter ones have no samples', limits)
        self.assertEqual('now', load.meta.policies['cpu'].window)


class TestCut(SessionTestCase):
    def test_resumed_at_random(self) -> None:
        """However often it is cut, the same files come out."""
        self.fetch()
        whole = files_of(self.path)
        self.path = self.folder / 'again'
        choice = random.Random(4)
        cuts = 0
        while not (self.path / 'meta.json').exists():
            requests = len(self.prometheus.ranges)
            self.prometheus.cut_after = requests + choice.randrange(4)
            try:
                self.fetch()
            except exceptions.PrometheusError:
                cuts += 1
            self.assertLess(cuts, 100)
        self.assertGreater(cuts, 3)
        self.assertEqual(whole, files_of(self.path))

    def test_what_is_there_is_not_asked_again(self) -> None:
        self.prometheus.cut_after = 5
        self.assertRaises(exceptions.PrometheusError, self.fetch)
        answered = {query['start'] for query in self.prometheus.ranges[:5]}
        self.prometheus.cut_after = 10**9
        self.prometheus.requests.clear()
        self.fetch()
        usage = [
            query['start']
            for query in self.prometheus.ranges
            if query['query'] == fetching.RAW
        ]
        self.assertEqual(5, len(answered))
        self.assertEqual(set(), answered & set(usage))
        self.assertEqual(1, self.records)

    def test_a_broken_piece_is_asked_again(self) -> None:
        self.fetch()
        whole = files_of(self.path)
        self.path = self.folder / 'again'
        self.prometheus.cut_after = len(self.prometheus.ranges) + 5
        self.assertRaises(exceptions.PrometheusError, self.fetch)
        for number, piece in enumerate(
            sorted((self.path / 'fetch' / 'pieces').iterdir())
        ):
            data = piece.read_bytes()
            piece.write_bytes([b'', data[:-9], b'\0' * 99, data][number % 4])
        self.prometheus.cut_after = 10**9
        self.fetch()
        self.assertEqual(whole, files_of(self.path))

    def test_another_wish(self) -> None:
        """It goes on with what it was about, and with nothing else."""
        self.prometheus.cut_after = 3
        self.assertRaises(exceptions.PrometheusError, self.fetch)
        for more, words in (
            ({'seconds': 86400.0}, 'a fetch of 2 days by steps of 5 min'),
            ({'raw': {'cpu': 'mine'}}, 'a fetch of other raw queries'),
            ({'policies': 'x'}, 'a fetch of other policies'),
        ):
            with self.subTest(more=more):
                error = self.assertRaises(ArchiveError, self.fetch, **more)
                self.assertIn(words, str(error))

    def test_there_is_a_load_already(self) -> None:
        self.fetch()
        error = self.assertRaises(ArchiveError, self.fetch)
        self.assertIn('there is a load already', str(error))

    def test_something_else_is_there(self) -> None:
        self.path.mkdir()
        (self.path / 'thesis.tex').write_text('x')
        error = self.assertRaises(ArchiveError, self.fetch)
        self.assertIn('there is something already', str(error))
        self.assertEqual(0, self.records)

    def test_another_fetch_is_at_work(self) -> None:
        place = Workplace(str(self.path))
        with place.locked():
            error = self.assertRaises(ArchiveError, self.fetch)
            self.assertIn('another fetch is running there', str(error))
        self.assertFalse(self.path.exists())
        self.fetch()

    def test_cut_at_its_end(self) -> None:
        """The load was whole, and its workplace was being removed."""
        self.fetch()
        (self.path / 'fetch' / 'pieces').mkdir(parents=True)
        self.assertEqual([], self.fetch())
        self.assertFalse((self.path / 'fetch').exists())

    def test_cut_at_its_beginning(self) -> None:
        (self.path / 'fetch' / 'recording').mkdir(parents=True)
        self.fetch()
        loads.read(str(self.path))


class TestRefused(SessionTestCase):
    def test_answers_that_are_too_long(self) -> None:
        """Fewer ticks are asked for; the load is the same."""
        self.fetch()
        whole = files_of(self.path)
        self.path = self.folder / 'again'
        self.prometheus.requests.clear()
        self.prometheus.most_samples = 20
        self.fetch()
        self.assertGreater(len(self.prometheus.ranges), 2 * TICKS / 5)
        self.assertEqual(whole, files_of(self.path))
        self.path = self.folder / 'third'
        self.prometheus.most_samples = 2
        error = self.assertRaises(exceptions.PrometheusError, self.fetch)
        self.assertIn('too many samples', str(error))

    def test_too_little_or_too_much(self) -> None:
        for seconds, words in (
            (300.0, 'fewer than two steps'),
            (1e9, 'more than 100000 steps'),
        ):
            error = self.assertRaises(
                exceptions.ConfigurationError, self.fetch, seconds=seconds
            )
            self.assertIn(words, str(error))

    def test_a_raw_query_for_nothing(self) -> None:
        error = self.assertRaises(
            exceptions.ConfigurationError, self.fetch, raw={'ram': 'x'}
        )
        self.assertIn('policy ram', str(error))


class TestAnonymous(SessionTestCase):
    def test_no_name_is_left(self) -> None:
        load = self.loaded(anonymize=True)
        self.assertTrue(load.meta.anonymized)
        everything = b''.join(files_of(self.path).values())
        for name in (b'secret', b'acme', b'h0', b'h3', b'instance-00000003'):
            self.assertNotIn(name, everything)
        self.assertEqual(4, len({row.name for row in load.meta.instances}))
        present = {
            instance.uuid: instance
            for instance in load.recording.gathered.instances
        }
        own = [load.meta.instances[number] for number in range(3)]
        for row in own:
            self.assertEqual(row.name, present[row.uuid].name)
        [group] = load.recording.gathered.groups
        self.assertEqual(own[0].group, group.uuid)
        hosts = set(load.recording.gathered.cloud.hosts)
        self.assertEqual(hosts, set(load.meta.hosts))

    def test_the_arrays_are_the_same(self) -> None:
        plain = self.loaded()
        self.path = self.folder / 'again'
        other = self.loaded(anonymize=True)
        np.testing.assert_array_equal(plain.usage['cpu'], other.usage['cpu'])
        np.testing.assert_array_equal(plain.placement, other.placement)
