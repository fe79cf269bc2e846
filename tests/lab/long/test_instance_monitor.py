# SPDX-License-Identifier: Apache-2.0
"""Does the instance monitor keep its word beside a real libvirt?

It needs no lab: a libvirt of its own has the guests. What is measured is
printed.
"""

import contextlib
import datetime
import os
import pathlib
import random
import signal
import sqlite3
import statistics
import threading
import time
from collections import defaultdict
from typing import Any

from tests.functional.monitor import base
from tests.unit.monitor.hypervisor import until

from labkit.real import alone, boot_sectors  # isort: skip

USUAL = 'destroy {0}; start {0}; suspend {0}; resume {0}; reset {0}'
"""Five things that users do."""
KILLS, AT_ONCE, AGENT_KILLS = 20, 50, 50
STORM_SECONDS, AWAY_SECONDS = 60, 30
ACTS_AFTER = 20
"""Seconds of a guest, in which libvirt is ended."""
IDLE, IDLE_SECONDS = 200, 60
GUEST_MB = 50
"""Of the machine's memory, that a guest takes."""
TICK = os.sysconf('SC_CLK_TCK')


class LongTestCase(base.RealTestCase):
    def begun(self) -> int:
        """Pid of an agent that watches."""
        made = self.process(self.hook.url)
        self.ready()
        return made.pid

    def figures(self, **values: object) -> None:
        """Tell what was measured."""
        told = ', '.join(f'{key} {one}' for key, one in values.items())
        print(f'{self.id().rpartition(".")[2]}: {told}', flush=True)

    def delays(self) -> dict[str, float]:
        """Seconds from the event to the message, by guest."""
        return {
            body['instance']['name']: came
            - datetime.datetime.fromisoformat(body['seen']).timestamp()
            for body, came in zip(
                self.hook.bodies, self.hook.times, strict=True
            )
        }

    def came(self, name: str) -> float:
        """When the message of a guest came, in Unix seconds."""
        until(lambda: name in self.told(), name)
        names = [one['instance']['name'] for one in self.hook.bodies]
        return self.hook.times[names.index(name)]

    def boot(self, number: int) -> list[str]:
        guests = [alone.Guest(name=f'guest-{n}') for n in range(number)]
        self.libvirt.boot(*guests)
        return [one.name for one in guests]


class TestUsers(LongTestCase):
    def test_a_hundred_actions(self) -> None:
        names = self.boot(4)
        self.begun()
        for _ in range(5):
            for name in names:
                self.libvirt.virsh(USUAL.format(name))
        self.crashed(names[0])
        self.assertEqual({names[0]: 1}, self.told())


class TestKills(LongTestCase):
    def test_one_by_one(self) -> None:
        names = self.boot(KILLS)
        self.begun()
        for name in names:
            self.crashed(name)
        found = sorted(self.delays().values())
        median = statistics.median(found)
        self.figures(most=f'{found[-1]:.3f} s', median=f'{median:.3f} s')
        self.assertEqual(dict.fromkeys(names, 1), self.told())
        self.assertLessEqual(found[-1], 1.0)
        self.assertLessEqual(median, 0.3)

    def test_all_at_once(self) -> None:
        names = self.boot(AT_ONCE)
        self.begun()
        times = self.libvirt.kill(names)
        until(lambda: len(self.told()) == AT_ONCE, 'all of them')
        self.figures(
            killed_within=f'{max(times.values()) - min(times.values()):.3f} s',
            events_to_messages=f'{max(self.delays().values()):.3f} s',
            kill_to_last=f'{self.hook.times[-1] - min(times.values()):.1f} s',
        )
        self.assertEqual(dict.fromkeys(names, 1), self.told())


class TestStorm(LongTestCase):
    def test_a_minute(self) -> None:
        guest = base.on_key(
            boot_sectors.writing(), name='full', full_disk='report'
        )
        self.libvirt.boot(guest, alone.Guest(name='other'))
        self.begun()
        before = self.libvirt.resident_mb()
        base.press(self.libvirt, 'full', lambda: 'full' in self.told())
        began = time.monotonic()
        threading.Event().wait(STORM_SECONDS / 2)
        [killed] = self.libvirt.kill(['other']).values()
        crash = self.came('other') - killed
        rest = STORM_SECONDS - (time.monotonic() - began)
        threading.Event().wait(max(rest, 0.0))
        grown = self.libvirt.resident_mb() - before
        start = time.monotonic()
        self.libvirt.virsh('destroy full')
        destroyed = time.monotonic() - start
        self.figures(
            libvirtd=f'{before:.0f} MB, +{grown:.1f}',
            destroy=f'{destroyed:.2f} s',
            crash=f'{crash:.2f} s after the kill',
        )
        self.assertEqual({'full': 1, 'other': 1}, self.told())
        log = (self.folder / 'log').read_text()
        self.assertEqual(1, log.count('More than 200 I/O errors came'))
        self.assertLessEqual(grown, 10)
        self.assertLessEqual(destroyed, 3)
        self.assertLessEqual(crash, 5)


class TestAway(LongTestCase):
    def test_half_a_minute(self) -> None:
        wait = boot_sectors.after(ACTS_AFTER)
        self.begun()
        self.libvirt.boot(
            alone.Guest(wait + boot_sectors.PANIC, 'panic'),
            alone.Guest(wait + boot_sectors.HANG, 'hang', watchdog='pause'),
            alone.Guest(wait + boot_sectors.writing(), 'f', full_disk='stop'),
            alone.Guest(wait + boot_sectors.OFF, 'off'),
            alone.Guest(name='killed'),
            alone.Guest(name='last'),
        )
        self.known(6)
        self.libvirt.stop()
        gone = time.monotonic()
        self.libvirt.kill(['killed'])
        threading.Event().wait(AWAY_SECONDS)
        self.assertEqual({}, self.told())
        back = time.time()
        self.libvirt.start()
        wanted = {'panic': 'panic', 'hang': 'hang', 'f': 'io_error'}
        wanted |= {'killed': 'crash'}
        until(lambda: self.kinds() == wanted, f'{wanted}')
        self.figures(
            away=f'{time.monotonic() - gone:.0f} s',
            last=f'{self.hook.times[-1] - back:.2f} s after its start',
        )
        self.assertTrue(all(one['inferred'] for one in self.hook.bodies))
        self.assertLessEqual(self.hook.times[-1] - back, 10)
        self.crashed('last')
        told = {**dict.fromkeys(wanted, 1), 'last': 1}
        self.assertEqual(told, self.told())

    def test_it_hangs(self) -> None:
        """It keeps the connection, and says nothing any more."""
        [name, last] = self.boot(2)
        self.begun()
        log = self.folder / 'log'
        os.kill(self.libvirt.pid, signal.SIGSTOP)
        began = time.monotonic()
        until(lambda: 'is not reachable' in log.read_text(), 'the log')
        found = time.monotonic() - began
        self.libvirt.kill([name])
        os.kill(self.libvirt.pid, signal.SIGCONT)
        self.came(name)
        self.figures(found_after=f'{found:.0f} s')
        self.crashed(last)
        self.assertEqual({name: 1, last: 1}, self.told())

    def known(self, number: int) -> None:
        """Wait until an agent remembers so many guests on its disk."""

        def count() -> int:
            path = f'file:{self.state}?mode=ro'
            with (
                contextlib.suppress(sqlite3.Error),
                contextlib.closing(sqlite3.connect(path, uri=True)) as reader,
            ):
                text = 'SELECT count(*) FROM domains'
                return int(reader.execute(text).fetchone()[0])
            return 0

        until(lambda: count() == number)

    def test_again_and_again(self) -> None:
        """Nothing is left behind of connections that are gone."""
        pid = self.begun()
        log = self.folder / 'log'
        sizes = []
        for number in range(1, 13):
            self.libvirt.stop()
            self.libvirt.start()
            until(lambda n=number: log.read_text().count('No events') == n)
            files = len(os.listdir(f'/proc/{pid}/fd'))
            threads = len(os.listdir(f'/proc/{pid}/task'))
            sizes.append((files, threads, alone.resident_mb(pid)))
        self.figures(files_threads_mb=f'{sizes[1]} to {sizes[-1]}')
        self.assertLessEqual(sizes[-1][0], sizes[1][0] + 2)
        self.assertLessEqual(sizes[-1][1], sizes[1][1] + 1)
        self.assertLess(sizes[-1][2] - sizes[1][2], 2)


class TestKilled(LongTestCase):
    def test_none_is_missing_and_none_has_two_ids(self) -> None:
        chance = random.Random(16)
        names = self.boot(AGENT_KILLS)
        agent = self.process(self.hook.url)
        self.ready()
        log = self.folder / 'log'
        for number, name in enumerate(names):
            self.libvirt.kill([name])
            # libvirt tells of it after one or two seconds.
            threading.Event().wait(chance.uniform(0.0, 3.0))
            agent.send_signal(signal.SIGKILL)
            agent.wait()
            before = log.read_text().count('No events came')
            agent = self.process(self.hook.url)
            if number % 3:  # else it is killed before it watches
                until(
                    lambda n=before: (
                        log.read_text().count('No events came') > n
                    ),
                    'the agent',
                )
        until(lambda: {*self.told()} == {*names}, 'all of them')
        ids: dict[str, set[str]] = defaultdict(set)
        inferred = 0
        for body in self.hook.bodies:
            ids[body['instance']['name']].add(body['id'])
            inferred += body['inferred']
            self.assertEqual('crash', body['kind'])
        self.figures(messages=len(self.hook.bodies), inferred=inferred)
        self.assertEqual([], [one for one in ids.values() if len(one) != 1])


class TestIdle(LongTestCase):
    def test_many_guests(self) -> None:
        room = _available_mb() // (2 * GUEST_MB)
        names = self.boot(min(IDLE, room))
        self.libvirt.define(*(alone.Guest() for _ in range(IDLE - len(names))))
        pid = self.begun()
        threading.Event().wait(5)
        before = _used(pid)
        threading.Event().wait(IDLE_SECONDS)
        share = (_used(pid) - before) / IDLE_SECONDS * 100
        size = alone.resident_mb(pid)
        self.figures(
            running=len(names),
            defined=IDLE,
            memory=f'{size:.1f} MiB',
            core=f'{share:.2f} %',
        )
        self.assertLessEqual(size, 100)
        self.assertLessEqual(share, 0.5)


def _available_mb() -> int:
    text = pathlib.Path('/proc/meminfo').read_text()
    [line] = [x for x in text.splitlines() if x.startswith('MemAvailable')]
    return int(line.split()[1]) // 1024


def _used(pid: int) -> float:
    """Seconds of processors."""
    fields: Any = pathlib.Path(f'/proc/{pid}/stat').read_text()
    fields = fields.rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK
