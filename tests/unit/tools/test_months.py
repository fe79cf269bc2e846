# SPDX-License-Identifier: Apache-2.0
"""Is a made-up month like a real one, and the same again?"""

import pathlib
import sys

import fixtures
import numpy as np
import numpy.typing as npt
from oslotest import base

from kronos.engine.settings import PlanMode
from kronos.policies.models import Mode
from kronos.simulate import load
from kronos.simulate.load import Load
from tests import commands

TOP = pathlib.Path(__file__).resolve().parents[3]
if str(TOP / 'tools') not in sys.path:
    sys.path.insert(0, str(TOP / 'tools'))

from generator import cli, lives, load_format, months  # noqa: E402
from generator.months import Kind, Month  # noqa: E402

DAY, HOUR = 86400.0, 3600.0
DAYS, BOOTS = 28, 3752


class TestLives(base.BaseTestCase):
    """Against what was measured of a public trace."""

    def setUp(self) -> None:
        super().setUp()
        everyone = lives.lives(DAYS, BOOTS, np.random.default_rng(5))
        self.everyone = everyone
        self.new = everyone.only(everyone.born >= 0)
        self.life = self.new.gone - self.new.born

    def between(self, least: float, value: float, most: float) -> None:
        self.assertGreaterEqual(value, least)
        self.assertLessEqual(value, most)

    def test_how_long_servers_live(self) -> None:
        for ratio, least, most in (
            (0.05, 20, 60),
            (0.25, 120, 360),
            (0.5, 36 * 60, 54 * 60),
            (0.75, 1.4 * HOUR, 2.4 * HOUR),
            (0.9, 4.5 * HOUR, 7 * HOUR),
            (0.99, 3 * DAY, 8 * DAY),
        ):
            self.between(least, float(np.quantile(self.life, ratio)), most)

    def test_age_alone_tells(self) -> None:
        """Of those of an age, how many die within the next hour."""
        for age, least, most in (
            (0, 0.52, 0.68),
            (HOUR, 0.32, 0.48),
            (2 * HOUR, 0.18, 0.32),
            (DAY, 0.0, 0.06),
        ):
            old = self.life[self.life > age]
            dying = float((old <= age + HOUR).mean())
            self.between(least, dying, most)

    def test_boots_come_in_bursts(self) -> None:
        self.between(0.8 * BOOTS, len(self.new) / DAYS, 1.2 * BOOTS)
        self.between(0.4, float((np.diff(self.new.born) == 0).mean()), 0.6)
        for seconds, least, most in ((HOUR, 60, 180), (60, 10, 35)):
            counts = np.bincount((self.new.born // seconds).astype(int))
            self.between(least, counts.var() / counts.mean(), most)
        by_day = np.bincount((self.new.born // DAY).astype(int))
        by_weekday = by_day.reshape(-1, 7).mean(axis=0)
        self.assertLess(by_weekday[5:].max(), by_weekday[:5].min())

    def test_sizes(self) -> None:
        for vcpus, gib, least, most in (
            (1, 2, 0.42, 0.5),
            (1, 1, 0.19, 0.25),
            (2, 4, 0.1, 0.16),
        ):
            is_such = (self.new.vcpus == vcpus) & (self.new.gib == gib)
            self.between(least, float(is_such.mean()), most)
        for day in range(DAYS):
            time = day * DAY
            is_there = (self.everyone.born <= time) & (
                self.everyone.gone > time
            )
            self.between(330, int(is_there.sum()), 1500)


class TestMonth(base.BaseTestCase):
    def test_servers_are_there_while_they_live(self) -> None:
        days = months.make(Month(2, 8))
        begin = load_format.BEGIN
        for tick in (0, 100, 575):
            now = begin + tick * load_format.STEP
            alive = days.placement[tick] >= 0
            for server, row in enumerate(days.servers):
                assert row.born is not None and row.gone is not None
                lives_now = row.born <= now < row.gone
                self.assertLessEqual(bool(alive[server]), lives_now)
            rooms = np.bincount(
                days.placement[tick][alive],
                [row.vcpus for row in np.array(days.servers)[alive]],
            )
            self.assertLessEqual(rooms.max(), months.VCPUS)
            self.assertEqual(
                alive.tolist(), (~np.isnan(days.usage[tick])).tolist()
            )
        has_room = (days.placement >= 0).any(axis=0)
        self.assertGreater(float(has_room.mean()), 0.95)

    def test_noise_is_like_that_of_planetlab(self) -> None:
        loads = self.loads(Kind.NOISY)
        mean = np.nanmean(loads, axis=0)
        self.assertGreater(float(np.median(mean)), 0.05)
        self.assertLess(float(np.median(mean)), 0.09)
        zeros = float((loads == 0).sum() / (~np.isnan(loads)).sum())
        self.assertGreater(zeros, 0.08)
        self.assertLess(zeros, 0.22)
        self.assertLess(self.memory(loads), 0.25)
        self.assertLessEqual(float(np.nanmax(loads)), 1.0)

    def test_slow_load_remembers(self) -> None:
        self.assertGreater(self.memory(self.loads(Kind.SLOW)), 0.9)

    def loads(self, kind: Kind) -> npt.NDArray[np.float64]:
        """Ratios of the vCPUs of those that live long enough."""
        days = months.make(Month(2, 12, kind=kind))
        vcpus = np.array([row.vcpus for row in days.servers])
        is_long = (days.placement >= 0).sum(axis=0) > 100
        return np.array(days.usage[:, is_long] / vcpus[is_long], float)

    def memory(self, loads: npt.NDArray[np.float64]) -> float:
        """Correlation of a sample with the next, about each mean."""
        noise = loads - np.nanmean(loads, axis=0)
        return float(np.nanmean(noise[1:] * noise[:-1]) / np.nanmean(noise**2))


class TestCommand(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def generated(self, name: str, options: str) -> Load:
        path = str(self.folder / name)
        words = [path, *['--format', 'load', '--hosts', '2'], *options.split()]
        code, _, err = commands.run(cli.main, words)
        self.assertEqual(0, code, err)
        return load.read(path)

    def files(self, name: str) -> dict[str, bytes]:
        paths = sorted((self.folder / name).rglob('*'))
        return {
            str(path.relative_to(self.folder / name)): path.read_bytes()
            for path in paths
            if path.is_file()
        }

    def test_the_same_again(self) -> None:
        first = self.generated('first', '--seed 3 --boots 60')
        _, _, options = first.meta.made_by.partition(' ')
        self.generated('second', options)
        self.generated('third', '--seed 4 --boots 60')
        self.assertEqual(self.files('first'), self.files('second'))
        self.assertNotEqual(self.files('first'), self.files('third'))

    def test_what_is_recorded_is_the_last_moment(self) -> None:
        load = self.generated(
            'pack', '--days 2 --mode pack --load slow --boots 90'
        )
        self.assertEqual(2.0, load.days)
        recorded = load.recording
        self.assertEqual('kronos_pack', recorded.strategy)
        self.assertEqual([Mode.PACK], [one.mode for one in recorded.policies])
        self.assertTrue(recorded.settings.rebalance)
        self.assertEqual(
            (load.placement[-1] >= 0).sum(), len(recorded.gathered.instances)
        )
        self.assertEqual(
            load_format.policy(PlanMode.PACK), recorded.policies[0]
        )
        [snapshot] = recorded.snapshots()
        for host in snapshot.hosts.values():
            assert host.headroom is not None
            self.assertLessEqual(
                host.headroom['VCPU'].used, host.headroom['VCPU'].capacity
            )

    def test_no_such_load(self) -> None:
        for options in ('--hosts 1', '--boots 0.1'):
            code, _, err = commands.run(
                cli.main,
                [
                    str(self.folder / 'none'),
                    '--format',
                    'load',
                    *options.split(),
                ],
            )
            self.assertEqual(2, code)
            self.assertIn('2 hosts and a boot a day at least', err)
