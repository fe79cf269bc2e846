# SPDX-License-Identifier: Apache-2.0
"""The cache of scores: a thread keeps it fresh, readers take no lock.

A request reads one attribute, the scores of the moment, and leaves notes:
hosts that are new, vCPUs in use. Each note is one assignment. Where a request
shows new hosts, it puts up scores with them itself; it asks nobody for that.
"""

import dataclasses
import functools
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from oslo_log import log as logging

from kronos.engine.scoring import host_weights
from kronos.metrics import process
from kronos.policies.models import Mode
from kronos.weighers import host_scores, weigher_metrics
from kronos.weighers.host_scores import HostScores, KnownHost, PolicyAnswers
from kronos.weighers.log_messages import LogMessages
from kronos.weighers.recent_placements import RecentPlacements
from kronos.weighers.score_source import RefreshSeconds, ScoreSource
from kronos.weighers.slot_hold import SlotHold

LOG = logging.getLogger(__name__)

TICK = 1.0
"""Seconds within which a new host is scored."""
START_SECONDS = 0.5, 2.5
"""Within which a process that was just started looks for the first time, lest
all of them look at once."""
NOD = 0.1
"""Seconds after which such a process sees that it is asked already."""
FORGET_SECONDS = 120.0
"""A host without a score that was not weighed for so long, though others
were, is gone. Nova takes 60 s by default to find a host down."""


class Cache:
    """The scores of one process of nova-scheduler.

    Nothing happens before ``begin`` or the first weighing: a process may
    fork until then, and afterwards too.

    One class, since the thread and the requests share its attributes without a
    lock: each note is one assignment.

    :param clock: seconds that only grow
    :param sleep: of the thread
    :param spawn: starts the thread
    :param read_hold: reads the hold of room; it raises nothing
    """

    def __init__(
        self,
        source: ScoreSource,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
        spawn: Callable[[Callable[[], None]], None] | None = None,
        read_hold: Callable[[], SlotHold | None] = lambda: None,
    ) -> None:
        self._source = source
        self._clock = clock
        self._sleep = sleep
        self._spawn = spawn or _spawn
        self._read_hold = read_hold
        self.hold: SlotHold | None = None
        """Of room for watched flavors, until the next refresh."""
        self._started: dict[int, object] = {}
        """By process, the token of who began."""
        self._scores: HostScores | None = None
        self._valid_for = 0.0
        self._met: dict[str, KnownHost] = {}
        self._fault: Exception | None = None
        self._placements = RecentPlacements(0.0)
        self._has_news = False
        self._log = LogMessages(clock)

    def begin(self, is_asked: bool = False) -> None:
        """Have a thread look at Prometheus, if this process has none yet.

        :param is_asked: whether somebody wants weights already
        :raises RuntimeError: no thread is to be had
        """
        pid, token = os.getpid(), object()
        if pid in self._started or (
            self._started.setdefault(pid, token) is not token
        ):
            return
        try:
            self._spawn(functools.partial(self._run, is_asked))
        except BaseException:
            del self._started[pid]
            raise

    def weigh(self, states: Sequence[Any], vcpus: float = 0.0) -> list[float]:
        """A weight in [0, 1] for each of Nova's ``HostState``.

        A host that is to be filled counts as full if the new server would
        lift it above a ceiling. One of which nothing is known gets the mean
        of the others; if nothing is known of any, all get 0.

        :param vcpus: of the new server
        """
        self.begin(is_asked=True)
        now, shown = self._clock(), self._scores
        if shown is None:
            for state in states:
                self._met[state.host] = KnownHost.of(state)
            return [0.0] * len(states)
        if now - shown.asked_at > self._valid_for:
            return [0.0] * len(states)
        return self._read(shown, states, vcpus)

    def _admit(self, shown: HostScores, states: Sequence[Any]) -> HostScores:
        """Put up the scores with the hosts that are new to them.

        The thread makes it anew soon, since they may change what the others
        weigh; and the placements are the thread's.
        """
        new = {
            state.host: KnownHost.of(state)
            for state in states
            if state.host not in shown.rows
        }
        self._met.update(new)
        met, now = {**self._met, **new}, self._clock()
        seen = self._placements.copy()
        seen.note(
            {host: host_state.used for host, host_state in new.items()}, now
        )
        more = host_scores.build(met, shown.answers, seen, shown.asked_at, now)
        scores = dataclasses.replace(shown, rows={**more.rows, **shown.rows})
        # Else there is a newer one, and the next weighing adds to that.
        if self._scores is shown:
            self._scores = scores
        self._has_news = True
        return scores

    def _read(
        self, shown: HostScores, states: Sequence[Any], vcpus: float
    ) -> list[float]:
        weights: list[float | None] = []
        append, find = weights.append, shown.rows.get
        is_complete = True
        for state in states:
            row = find(state.host)
            if row is None:
                more = self._admit(shown, states)
                return self._read(more, states, vcpus)
            row.is_seen = True
            used, aggregates, weight = row.spot
            if aggregates != state.aggregates:
                # Taken into account at the thread's next tick.
                self._met[state.host] = KnownHost.of(state)
            if used != state.vcpus_used:
                weight = row.update(state.vcpus_used)
            if weight is None:
                is_complete = False
            elif state.vcpus_used + vcpus > row.limit:
                weight = host_weights.FULL
            append(weight)
        # To look for None among them would take a sixth of the time.
        if is_complete:
            return weights  # type: ignore[return-value]
        return _filled(weights)

    def note_fault(self, error: Exception) -> None:
        """Count what went wrong in a weighing, and have the thread tell it."""
        weigher_metrics.fault(error)
        self._fault = error

    def _run(self, is_asked: bool) -> None:
        """What the thread does; the next weighing begins another one."""
        # A process that forked has left its own thread behind.
        self._log = LogMessages(self._clock)
        process.start()
        try:
            self._go_on(is_asked)
        # Such as eventlet's Timeout and GreenletExit.
        except BaseException as error:
            self._started.pop(os.getpid(), None)
            LOG.warning(
                'The weigher of Kronos was stopped by %s and no longer '
                'queries Prometheus; it starts again when a server is placed',
                type(error).__name__,
            )

    def _go_on(self, is_asked: bool) -> None:
        if not is_asked:
            self._wait_a_little()
        first = True
        while True:
            seconds = self._round()
            # Processes that start together shall not ask together.
            spread = random.random() if first else random.uniform(0.9, 1.1)  # noqa: S311
            first = False
            self._rest(max(TICK, seconds * spread))

    def _wait_a_little(self) -> None:
        end = self._clock() + random.uniform(*START_SECONDS)  # noqa: S311
        while not self._met and self._clock() < end:
            self._sleep(NOD)

    def _round(self) -> float:
        """Refresh; whatever happens, the next round comes.

        :returns: seconds from now
        """
        seconds = 30.0
        try:
            options = self._source.options()
            seconds = options.refresh_seconds
            self.hold = self._read_hold()
            self._refresh(options)
        except BaseException as error:
            weigher_metrics.refresh_failed()
            self._trouble(error)
        return seconds

    def _refresh(self, options: RefreshSeconds) -> None:
        asked_at = self._clock()
        self._placements.settling = options.settling_seconds
        # A copy, since requests add to it.
        met = dict(self._met)
        modes = set[str]().union(*(host.modes() for host in met.values()))
        # Which ones are wanted is not known yet.
        answers = self._source.ask(modes if met else set(Mode))
        self._valid_for = options.staleness_threshold
        if not self._score(answers, asked_at):
            self._log.all_is_well()
        self._log.announce(asked_at, self._scores)
        weigher_metrics.refreshed(self._scores, self._clock() - asked_at)

    def _score(self, answers: PolicyAnswers, asked_at: float) -> list[str]:
        """Put up new scores of what is known.

        :returns: what is wrong with it; that is told already
        """
        self._has_news = False
        met, now = dict(self._met), self._clock()
        self._note(met, now)
        shown = host_scores.build(
            met, answers, self._placements, asked_at, now
        )
        if gone := self._forget(shown):
            for host in gone:
                met.pop(host)
            shown = host_scores.build(
                met, answers, self._placements, asked_at, now
            )
        self._scores = shown
        if shown.troubles:
            self._log.troubles(shown.troubles, shown)
        return shown.troubles

    def _note(self, met: dict[str, KnownHost], now: float) -> None:
        rows = self._scores.rows if self._scores else {}
        used = {
            host: known_host.used
            for host, known_host in met.items()
            if host not in rows
        }
        since = {}
        for host, row in rows.items():
            if row.is_seen and row.base is not None:
                used[host] = row.spot[0] or 0.0
                since[host] = row.base
        self._placements.note(used, now, since)

    def _forget(self, shown: HostScores) -> list[str]:
        """Drop hosts that are gone, lest their samples seem to be missing."""
        gone = [
            host
            for host, row in shown.rows.items()
            if row.is_neutral
            and self._placements.silence(host) > FORGET_SECONDS
        ]
        for host in gone:
            self._met.pop(host, None)
        self._placements.forget(gone)
        return gone

    def _rest(self, seconds: float) -> None:
        """Until the next refresh; new hosts are scored meanwhile."""
        end = self._clock() + seconds
        while (remaining := end - self._clock()) > 0:
            self._sleep(min(TICK, remaining))
            fault, self._fault = self._fault, None
            self._log.fault(fault)
            try:
                shown = self._scores
                if shown is not None and self._is_outdated(shown):
                    self._score(shown.answers, shown.asked_at)
                    self._log.announce(shown.asked_at, self._scores)
            except Exception as error:
                self._trouble(error)

    def _trouble(self, error: BaseException) -> None:
        weigher_metrics.fault(error)
        text = f'{type(error).__name__}: {error}'
        self._log.troubles([text], self._scores)

    def _is_outdated(self, shown: HostScores) -> bool:
        rows = shown.rows
        return self._has_news or any(
            host not in rows or rows[host].spot[1] != known_host.aggregates
            for host, known_host in list(self._met.items())
        )


def _filled(weights: Sequence[float | None]) -> list[float]:
    numbers = [weight for weight in weights if weight is not None]
    mean = sum(numbers) / len(numbers) if numbers else 0.0
    return [mean if weight is None else weight for weight in weights]


def _spawn(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name='kronos-weigher', daemon=True).start()
