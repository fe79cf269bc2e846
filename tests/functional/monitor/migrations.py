# SPDX-License-Identifier: Apache-2.0
"""What do tests of migrations share? Two libvirts, and an agent at each.

Whether a guest runs in the end is asked of both libvirts: one that is lost is
told once, and one that runs is not.
"""

import pathlib
import random
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence

from labkit.real import alone, boot_sectors

from tests.functional.monitor import base
from tests.unit.monitor import agents
from tests.unit.monitor.hypervisor import until

MOMENT = 1.0
"""Seconds of a migration, at most, before something happens to it."""
END_SECONDS = 60
RUNNING = ('running (', 'paused (user)')
LOST = 'post-copy failed'
Way = Callable[['Move'], None]


class End:
    """A host: a libvirt, an agent of it, and another one who listens."""

    def __init__(self, name: str, libvirt: alone.Libvirt) -> None:
        self.name = name
        self.libvirt = libvirt
        self.agent: agents.Running | None = None
        self.witness: base.Witness | None = None

    def saw(self, guest: str, detail: str) -> bool:
        """Whether it saw an event of a guest."""
        assert self.witness is not None
        return f'LIFECYCLE/{detail}' in self.witness.seen(guest)

    def runs(self, guest: str) -> bool:
        """Whether it runs a guest."""
        state = self.libvirt.state(guest)
        return state.startswith(RUNNING) and LOST not in state

    def is_settled(self, guests: Sequence[str]) -> bool:
        """Whether its libvirt knows of each process that ended."""
        has = self.libvirt.pids(guests)
        return not any(
            self.libvirt.state(one).startswith(('running', 'paused'))
            for one in guests
            if one not in has
        )

    def restart(self, pause: float) -> None:
        """Kill libvirt, and start it again."""
        self.libvirt.stop()
        time.sleep(pause)
        self.libvirt.start()


class MigrationTestCase(base.RealTestCase):
    """Has two hosts."""

    late: set[str]
    """Guests that had arrived before they were to fail, as on a machine that
    starves them: they are judged, but went another way."""

    def setUp(self) -> None:
        super().setUp()
        place = tempfile.TemporaryDirectory(prefix='kronos-')
        self.addCleanup(place.cleanup)
        other = alone.Libvirt(pathlib.Path(place.name))
        self.addCleanup(other.close)
        other.start()
        self.source_end = End('source', self.libvirt)
        self.target_end = End('target', other)
        for end in self.ends:
            self.watch(end)
            end.witness = self.witness()

    @property
    def ends(self) -> tuple[End, End]:
        return self.source_end, self.target_end

    def watch(self, end: End) -> None:
        """Have an agent begin, or begin anew."""
        self.HOST, self.libvirt = end.name, end.libvirt
        self.state = self.folder / f'{end.name}.db'
        end.agent = self.agent(self.hook.url).ready()

    def moves(self, names: Sequence[str], seed: int = 37) -> list['Move']:
        """Guests that run at the source, and are about to leave."""
        guests = [alone.Guest(boot_sectors.DIRTY, name=one) for one in names]
        source = self.source_end.libvirt
        source.boot(*guests)
        for end in self.ends:
            # One before may have ended its libvirt.
            assert end.witness is not None
            until(end.witness.listens, f'the witness of the {end.name}')
        for one in names:
            source.virsh(
                f'migrate-setspeed {one} 1', f'migrate-setmaxdowntime {one} 1'
            )
            until(lambda one=one: source.is_dirtying(one), f'{one} to boot')
        return [
            Move(self, one, random.Random(f'{seed} {one}')) for one in names
        ]

    def judge(self, names: Sequence[str]) -> None:
        """Is told of each guest what is true of it?"""
        for end in self.ends:
            until(lambda end=end: end.is_settled(names), end.name)
            last = alone.Guest(name=f'last-{end.name}-{len(self.hook.bodies)}')
            end.libvirt.boot(last)
            end.libvirt.kill([last.name])
            until(lambda name=last.name: name in self.told(), last.name)
            grouping = end.agent.agent._grouping  # type: ignore[union-attr]
            until(lambda open=grouping: not open.open, 'groups to be closed')
        expected = {one: 0 if self.run_by(one) else 1 for one in names}
        told = {one: self.told()[one] for one in names}
        self.assertEqual(expected, told, self.story(names))

    def run_by(self, guest: str) -> str:
        """The host that runs a guest; '': it is lost."""
        return ''.join(one.name for one in self.ends if one.runs(guest))

    def story(self, names: Sequence[str]) -> str:
        lines = []
        for name in names:
            for end in self.ends:
                assert end.witness is not None
                seen = ' '.join(end.witness.seen(name))
                state = end.libvirt.state(name)
                lines.append(f'{name}, {end.name}: {state}: {seen}')
        return '\n'.join([*lines, str(self.outcomes(names))])

    def outcomes(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Who runs each guest, and what is told of it by whom."""
        found = {one: [self.run_by(one)] for one in names}
        for body in self.hook.bodies:
            name = body['instance']['name']
            if name in found:
                found[name] += [body['host'], body['kind']]
        return {name: tuple(row) for name, row in found.items()}

    def all_at_once(
        self, ways: dict[str, Way], seed: int = 37
    ) -> dict[str, tuple[str, ...]]:
        """Have guests go their ways side by side, and judge all.

        :param ways: by the names of the guests
        """
        moves = self.moves([*ways], seed)
        threads = [
            threading.Thread(target=one.go, args=(ways[one.name],))
            for one in moves
        ]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        return self.judged(moves)

    def one_by_one(
        self, ways: dict[str, Way], seed: int = 37
    ) -> dict[str, tuple[str, ...]]:
        """The same, one after the other; those before stay."""
        moves = []
        for name, way in ways.items():
            moves += self.moves([name], seed)
            moves[-1].go(way)
        return self.judged(moves)

    def judged(self, moves: Sequence['Move']) -> dict[str, tuple[str, ...]]:
        """What became of guests, once it is judged."""
        faults = {one.name: one.fault for one in moves if one.fault}
        self.assertEqual({}, faults)
        names = [one.name for one in moves]
        self.judge(names)
        self.late = {move.name for move in moves if move.is_late}
        return self.outcomes(names)


class Move:
    """A guest that migrates from one host to the other."""

    def __init__(
        self, test: MigrationTestCase, name: str, chance: random.Random
    ) -> None:
        self.name = name
        self.chance = chance
        self.test = test
        self.source, self.target = test.ends
        self.fault = ''
        self._is_refused = False
        """Whether libvirt refused an order, as it does in the last moment."""
        self._process: subprocess.Popen[str] | None = None

    def go(self, way: Way) -> None:
        """Go a way to its end."""
        try:
            way(self)
            self.end()
        except (AssertionError, alone.Error, OSError) as error:
            self.fault = repr(error)

    def begin(self, *options: str) -> None:
        """Be at it for a moment."""
        self._process = self.source.libvirt.migrate(
            self.name, self.target.libvirt, *options
        )
        until(self.has_begun, f'{self.name} to begin to migrate')
        self.pause()

    def has_begun(self) -> bool:
        """Whether the target has seen it.

        :raises AssertionError: it ended, and never began
        """
        assert self._process is not None
        has_ended = self._process.poll() is not None
        if self.target.saw(self.name, 'STARTED_MIGRATED'):
            return True
        if has_ended and self._process.returncode:
            output = self._process.communicate()[0]
            raise AssertionError(f'{self.name} never begins: {output}')
        return False

    def hand_over(self) -> None:
        """Be in post-copy, of which half a second is left."""
        self.begin('--postcopy', '--postcopy-bandwidth', '1')
        self.order('migrate-postcopy {0}')
        # On a machine that starves it, it may arrive before.
        self.until(self.target, 'RESUMED_POSTCOPY', 'RESUMED_MIGRATED')

    def hasten(self) -> None:
        """Let it arrive."""
        self.order('migrate-setspeed {0} 1000')

    def end(self) -> None:
        """Wait for the end of the migration, whatever it is."""
        process, self._process = self._process, None
        if process is not None:
            try:
                process.communicate(timeout=END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                raise AssertionError(f'{self.name} never ends') from None

    def pause(self, most: float = MOMENT) -> None:
        time.sleep(self.chance.uniform(0.0, most))

    def until(self, end: End, *details: str) -> None:
        """Wait until an end has seen one of some events."""
        until(
            lambda: any(end.saw(self.name, one) for one in details),
            f'{self.name}: {details} at the {end.name}',
        )

    def kill(self, end: End) -> None:
        end.libvirt.kill([self.name])

    def order(self, command: str) -> None:
        """Give the source an order, which may come too late."""
        try:
            self.source.libvirt.virsh(command.format(self.name))
        except alone.Error:
            self._is_refused = True

    @property
    def is_late(self) -> bool:
        """Whether it has left all the same after an order that was refused."""
        return self._is_refused and not self.source.runs(self.name)
