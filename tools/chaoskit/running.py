# SPDX-License-Identifier: Apache-2.0
"""A run: faults under watch, healing, rest, verdict."""

import concurrent.futures
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from labkit import cleaning, layout, running, services, topology, troubled
from labkit.lab import Lab

from chaoskit import arrivals, events, health, judges, scene, watching
from chaoskit.doing import REFUSED, Hands
from chaoskit.facts import Audit, Finding, Look, Outages

LOOK_SECONDS = 1.0
MEMORY_SECONDS = 10.0
LASTS_SECONDS = 5.0
"""What is wrong for less may be a row that is just being written."""
HANDS = 12
RESTARTED = (
    'nova-scheduler',
    'watcher-decision-engine',
    'watcher-applier',
)
"""At first: they read options then, and run the code of this checkout."""
REST_SECONDS = 300.0
LEFT_SECONDS = 60.0
"""After which what others ought to end is taken for left."""
ALIVE_SECONDS = 120.0
"""Within which every audit runs again once all is healed."""
OURS = str(layout.ROOT / 'kronos') + '/'

Say = Callable[[str], None]


class Run:
    """One run of chaos.

    :param say: takes one line
    :param ha: whether the lab has three databases and brokers
    """

    def __init__(
        self, lab: Lab, seed: int, seconds: float, say: Say, ha: bool = False
    ) -> None:
        self._lab = lab
        self._names = scene.names(ha)
        self._seed = seed
        self._seconds = seconds
        self._say = say
        self._outages = Outages()
        self._findings: dict[tuple[str, str], Finding] = {}
        self._doubts: dict[tuple[str, str], float] = {}
        """What was seen wrong, and since when."""
        self._samples: dict[tuple[str, int], list[tuple[float, float]]] = {}
        self._is_over = threading.Event()
        self._audits: dict[str, str] = {}
        self._is_ending = False
        self._runs: set[tuple[str, float]] = set()
        self.counts: Counter[str] = Counter()
        self.last: Look | None = None

    @property
    def findings(self) -> list[Finding]:
        return sorted(self._findings.values(), key=lambda one: not one.is_ours)

    def run(self) -> None:
        """All of it.

        :raises LabError: the lab cannot be made ready, or does not heal
        """
        self._say('making the lab ready')
        self._lab.mend()
        cleaning.reset(self._lab.cloud)
        with self._prometheus() as prometheus:
            try:
                self._run(prometheus)
            finally:
                self._is_over.set()
                self._leave()

    @contextlib.contextmanager
    def _prometheus(self) -> Iterator[troubled.Troubled]:
        port = self._lab.ports['prometheus']
        server = troubled.Troubled(f'http://127.0.0.1:{port}')
        try:
            yield server
        finally:
            server.end()

    def _run(self, prometheus: troubled.Troubled) -> None:
        scene.options(prometheus.url)
        for name in (*RESTARTED, *services.seconds()):
            self._lab.restart(name)
        for name in services.on_demand():
            self._lab.start(name)
        groups = scene.groups(self._lab)
        scene.boot(self._lab, self._seed, groups)
        self._since = time.time()
        self._logs = watching.ends_of_logs()
        self._watcher = watching.Watcher(
            self._lab.ports['mariadb'], self._since
        )
        hands = Hands(self._lab, self._outages, groups, prometheus)
        self._audits = scene.begin_audits(self._lab)
        self._say(f'{len(self._audits)} continuous audits run; faults begin')
        watch = threading.Thread(target=self._watch, daemon=True)
        watch.start()
        self._do(hands)
        self._say('no more faults; healing')
        self._heal(hands)
        self._live_on()
        self._say('waiting until all comes to rest')
        self._is_ending = True
        scene.end_audits(self._lab, self._audits)
        self._rest()
        self._is_over.set()
        watch.join()
        self._judge_all()

    def _leave(self) -> None:
        """The lab as others want it, but with its servers to look at."""
        scene.no_options()
        with contextlib.suppress(running.LabError):
            for name in services.on_demand():
                self._lab.stop(name)
            self._lab.restart('nova-scheduler')

    # Faults

    def _do(self, hands: Hands) -> None:
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(HANDS) as pool:
            before: dict[tuple[str, str], Any] = {}
            for step in events.steps(self._seed, self._names, self._seconds):
                if step.at > self._seconds:
                    break
                time.sleep(max(0.0, start + step.at - time.monotonic()))
                key = (step.event.kind, step.event.subject)
                before[key] = pool.submit(
                    self._do_one, hands, step, start, before.get(key)
                )

    def _do_one(
        self, hands: Hands, step: events.Step, start: float, before: Any
    ) -> None:
        if before is not None:
            # One begins before it ends.
            concurrent.futures.wait([before])
        told = hands.do(step)
        self.counts['events'] += step.phase == events.BEGIN
        self.counts['not done'] += told.startswith(REFUSED)
        now = time.monotonic() - start
        self._say(f'{now:7.1f} s  {step}' + (f'  [{told}]' if told else ''))

    def _heal(self, hands: Hands) -> None:
        cloud = self._lab.cloud
        hands.be_well()
        names = self._names
        for name in [*names.stopped, *names.killed, *topology.HOSTS]:
            hands.serve(name)
        for row in cloud.services():
            if row['status'] == 'disabled':
                cloud.set_host(row['host'], True)
        for uuid, server in cloud.servers().items():
            if server['status'] == 'VERIFY_RESIZE':
                hands.confirm(uuid)

    def _live_on(self) -> None:
        """Every audit runs again, now that all is well."""
        # Those that are FAILED were found already.
        before = self._next_runs()

        def all_did() -> bool:
            now = self._next_runs()
            return all(now.get(one, 0) > run for one, run in before.items())

        try:
            running.wait_for(all_did, ALIVE_SECONDS, 'the audits to run', 1)
        except running.LabError:
            now = self._next_runs()
            for uuid, run in before.items():
                if now.get(uuid, 0) <= run:
                    self._find(
                        Finding(
                            'audits alive',
                            f'audit {uuid} does not run any more',
                            'the log of the decision engine',
                        )
                    )

    def _next_runs(self) -> dict[str, float]:
        look = self._watcher.look()
        return {
            one.uuid: one.next_run
            for one in (self._mine(look) if look else ())
            if one.state in judges.ALIVE
        }

    def _rest(self) -> None:
        since: dict[str, float] = {}

        def rests() -> bool:
            look = self._watcher.look()
            if look is None:
                return False
            left = list(judges.at_rest(look, self._outages))
            what = ' '.join(one.what for one in left)
            lasts = look.at - since.setdefault(what, look.at) > LEFT_SECONDS
            # What Nova or Watcher has left stays as it is.
            return not left or (lasts and not any(one.is_ours for one in left))

        try:
            running.wait_for(rests, REST_SECONDS, 'rest', 1)
        except running.LabError:
            self._say('it does not come to rest')

    # Watching

    def _watch(self) -> None:
        watcher = watching.Watcher(self._lab.ports['mariadb'], self._since)
        sampled = 0.0
        while not self._is_over.wait(LOOK_SECONDS):
            look = watcher.look()
            if look is not None:
                self.last = look
                self._judge(look)
            if time.monotonic() - sampled >= MEMORY_SECONDS:
                sampled = time.monotonic()
                for key, mib in watching.memory().items():
                    self._samples.setdefault(key, []).append((sampled, mib))

    def _judge(self, look: Look) -> None:
        self._runs |= {(one.uuid, one.next_run) for one in self._mine(look)}
        self.counts['runs of audits'] = len(self._runs)
        found = [
            *judges.twice(look, self._outages),
            *judges.rules(look, self._outages, topology.AGGREGATES),
        ]
        if not self._is_ending:
            found += judges.audits(look, self._outages, self._audits.values())
        keys = {(one.judge, one.what): one for one in found}
        for key in list(self._doubts):
            if key not in keys:
                del self._doubts[key]
        for key, one in keys.items():
            since = self._doubts.setdefault(key, look.at)
            if look.at - since >= LASTS_SECONDS:
                self._find(one)

    def _mine(self, look: Look) -> list[Audit]:
        ours = self._audits.values()
        return [look.audits[one] for one in ours if one in look.audits]

    def _find(self, one: Finding) -> None:
        key = one.judge, one.what
        if key in self._findings:
            return
        self._findings[key] = one
        kind = 'VIOLATION' if one.is_ours else 'not ours'
        self._say(f'{kind}: {one.judge}: {one.what}')

    def _judge_all(self) -> None:
        look = self._watcher.look()
        if look is None:
            raise running.LabError('the database cannot be read at the end')
        self.last = look
        found = [
            *judges.twice(look, self._outages),
            *judges.rules(look, self._outages, topology.AGGREGATES),
            *judges.cooldowns(
                look, self._outages, topology.AGGREGATES, scene.COOLDOWN
            ),
            *judges.at_rest(look, self._outages),
            *judges.errors(look),
            *arrivals.of_actions(look),
            *judges.placement(look, self._outages),
            *health.memory(self._samples),
        ]
        for name, text in watching.said(self._logs).items():
            found += health.tracebacks(name, text, OURS, self._outages)
        for one in found:
            self._find(one)
