# SPDX-License-Identifier: Apache-2.0
"""The agent: it takes what a source tells, and sees that sinks get it.

One thread takes the events, groups and decides, and puts on disk what follows;
each sink has a thread of its own. Whatever fails is told and tried again.
"""

import time
from collections import Counter, deque
from collections.abc import Sequence
from typing import Protocol

from oslo_log import log as logging

from kronos.monitor import gaps, messages
from kronos.monitor.deliveries.delivery import Delivery
from kronos.monitor.domains import Away, Domain, Gone, Listing
from kronos.monitor.events import Event, kind_of
from kronos.monitor.incidents import Gap, Grouping, Incident
from kronos.monitor.memory import Memory
from kronos.monitor.metrics import Metrics, Server
from kronos.monitor.outbox import DISK_SECONDS, Outbox
from kronos.monitor.rules import decision as decisions
from kronos.monitor.rules.file import WatchedRules
from kronos.monitor.settings import Settings
from kronos.monitor.sources.base import News, Source
from kronos.monitor.spool import Kept, Spool, SpoolError

LOG = logging.getLogger(__name__)

TURN_SECONDS = 0.08
"""Between two looks at what a source has told."""
MOST_NEWS = 5000
"""Of a turn, so that a storm does not keep incidents from the disk."""
CARE_SECONDS = 1.0
"""Between two looks at rules, certificates and ages."""
ALIVE_SECONDS = 10.0
"""Between two notes that the agent watches."""
END_SECONDS = 5.0
"""How long the end waits for tries that are under way."""
NO_KIND = 'none'
"""In the metrics, of an event that shows no failure."""


class Ending(Protocol):
    """What asks for the end of an agent."""

    def is_set(self) -> bool:
        """Whether it has asked."""

    def wait(self, timeout: float) -> bool:
        """Wait for it, for so many seconds."""


class Agent:
    """One agent. One class, since its thread does one thing: its turns.

    :param deliveries: one for each sink
    :param server: of the metrics, None: they are not served
    """

    def __init__(
        self,
        settings: Settings,
        watched: WatchedRules,
        spool: Spool,
        source: Source,
        deliveries: Sequence[Delivery],
        metrics: Metrics,
        server: Server | None = None,
    ) -> None:
        self._settings = settings
        self._watched = watched
        self._spool = spool
        self._source = source
        self._news: deque[News] = source.news
        self._deliveries = deliveries
        self._metrics = metrics
        self._server = server
        self._memory = Memory(settings.host)
        self._grouping = self._new_grouping()
        self._outbox = self._new_outbox({})
        self._has_baseline = False
        self._away_since: float | None = None
        self._outdated = gaps.Outdated()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._is_new = False
        """Whether the metrics do not show all incidents."""
        self._file_id = ''
        self._care_after = self._alive_after = 0.0
        """Seconds of the monotonic clock."""

    def run(self, ended: Ending) -> None:
        """Work until the end is asked for."""
        LOG.info('The instance monitor of host %s starts', self._settings.host)
        if not self._begin(ended):
            return
        for delivery in self._deliveries:
            delivery.start()
        self._source.start()
        while not ended.is_set():
            if not self.turn():
                ended.wait(TURN_SECONDS)
        self._end()
        LOG.info('The instance monitor stops')

    def turn(self) -> bool:
        """Do what there is to do.

        :returns: whether there is more at once
        """
        is_more = False
        try:
            is_more = self._take_news()
            self._decide_all(self._grouping.due(time.monotonic()))
            if self._is_new:
                # Before a sink triggers who reads the metrics.
                self._show()
            self._keep()
            self._care()
        except Exception:
            LOG.exception('An unexpected error; the agent continues')
            self._metrics.errors.inc()
        self._metrics.count(self._counts)
        self._counts.clear()
        return is_more

    def _new_grouping(self) -> Grouping:
        return Grouping(self._memory, self._settings.control_error_seconds)

    def _new_outbox(self, sent: dict[tuple[str, str], float]) -> Outbox:
        return Outbox(self._spool, self._memory, self._metrics, sent)

    def _begin(self, ended: Ending) -> bool:
        """Read what is kept, as soon as the disk gives it."""
        while not ended.is_set():
            try:
                stored = self._spool.load(time.time())
                names = self._settings.sink_names
                if gone := self._spool.keep_sinks(names):
                    LOG.warning(
                        '%d deliveries are dropped: their sinks are no '
                        'longer in [kronos_monitor] sinks',
                        gone,
                    )
            except SpoolError as error:
                self._outbox.report_full(error)
                ended.wait(DISK_SECONDS)
                continue
            self._file_id = self._spool.file_id
            self._remember(stored)
            return True
        return False

    def _remember(self, stored: Kept) -> None:
        self._memory = Memory(self._settings.host, stored.rows)
        self._grouping = self._new_grouping()
        self._outbox = self._new_outbox(stored.sent)
        self._has_baseline = stored.is_baseline
        if stored.is_baseline:
            self._away_since = stored.alive or time.time()
        self._show()

    def _end(self) -> None:
        """Keep what is known; the rest is found when the agent is back."""
        self._source.stop()
        while self._news and self.turn():
            continue
        try:
            self._decide_all(self._grouping.flush())
            self._keep(at_once=True)
            self._spool.alive(time.time())
        except SpoolError as error:
            LOG.error('The stop of the agent could not be recorded: %s', error)
        for delivery in self._deliveries:
            delivery.end()
        until = time.monotonic() + END_SECONDS
        for delivery in self._deliveries:
            delivery.join(max(until - time.monotonic(), 0.0))
        self._spool.close()
        if self._server is not None:
            self._server.close()

    def _take_news(self) -> bool:
        now = time.monotonic()
        for _ in range(MOST_NEWS):
            try:
                news = self._news.popleft()
            except IndexError:
                return False
            try:
                self._take(news, now)
            except Exception:
                LOG.exception(
                    'An event could not be processed; the agent continues'
                )
                self._metrics.errors.inc()
        return True

    def _take(self, news: News, now: float) -> None:
        if isinstance(news, Event):
            self._outdated.follow(news)
            taken = self._grouping.take(news, now)
            if taken != 'opened':
                kind = kind_of(news.event, news.detail)
                self._counts[kind.value if kind else NO_KIND, taken] += 1
        elif isinstance(news, Domain):
            self._compare_again(news)
            self._memory.describe(news)
        elif isinstance(news, Gone):
            self._grouping.gone(news.instance)
            self._compare_again(news)
        elif isinstance(news, Listing):
            self._compare(news)
        else:
            self._lose(news)

    def _lose(self, away: Away) -> None:
        """No events come for a time."""
        if self._away_since is None:
            self._away_since = away.moment
        self._metrics.up.set(0)
        LOG.warning('The hypervisor is not reachable: %s', away.why)

    def _compare(self, listing: Listing) -> None:
        """The hypervisor is back, or there for the first time."""
        self._decide_all(self._grouping.flush())
        self._metrics.up.set(1)
        gap = None
        if self._has_baseline:
            began = self._away_since
            gap = Gap(
                listing.moment if began is None else began, listing.moment
            )
            self._metrics.gaps.inc()
        else:
            self._outbox.baseline()
        comparison = gaps.compare(self._memory, listing, gap)
        self._has_baseline, self._away_since = True, None
        self._outdated.begin(listing, gap)
        self._decide_all(comparison.incidents)
        if gap is None:
            LOG.info('The agent watches %d servers', len(listing.domains))
            return
        LOG.warning(
            'No events came for %.1f s; %d servers failed meanwhile, as '
            'their states show. Failures that leave no trace in the state, '
            'such as a reset by a watchdog, cannot be found',
            gap.ended - gap.began,
            len(comparison.incidents),
        )
        self._warn_of(comparison)

    def _compare_again(self, now: Domain | Gone) -> None:
        """Take a domain that the hypervisor had not looked at before."""
        comparison = self._outdated.compare(self._memory, now, time.time())
        self._decide_all(comparison.incidents)
        self._warn_of(comparison)

    @staticmethod
    def _warn_of(comparison: gaps.Comparison) -> None:
        for uuids, what in (
            (comparison.vanished, 'were running and no longer exist'),
            (
                comparison.unexplained,
                'were running and are off for an unknown reason',
            ),
        ):
            if uuids:
                some = ', '.join(uuids[:10]) + (', ...' if uuids[10:] else '')
                LOG.warning('%d servers %s: %s', len(uuids), what, some)

    def _decide_all(self, incidents: Sequence[Incident]) -> None:
        for incident in incidents:
            try:
                self._decide(incident)
            except Exception:
                LOG.exception(
                    'Incident %s could not be processed; the agent drops it',
                    incident.id,
                )
                self._metrics.errors.inc()

    def _decide(self, incident: Incident) -> None:
        settings = self._settings
        self._is_new = True
        decision = decisions.decide(
            self._watched.rules,
            decisions.fields_of(incident, settings.host),
            settings.sink_names,
        )
        body = messages.of(
            incident, decision, settings.host, self._source.HYPERVISOR
        )
        what = self._outbox.add(incident, decision, messages.text_of(body))
        self._counts[incident.kind.value, what] += 1
        LOG.warning(
            'Instance %s: %s%s (incident %s: %s%s)',
            incident.instance,
            incident.kind,
            ', found by its state' if incident.inferred else '',
            incident.id,
            what,
            f' by rule {decision.rule}' if decision.rule else '',
        )

    def _keep(self, at_once: bool = False) -> None:
        if self._outbox.keep(self._grouping.open, at_once):
            for delivery in self._deliveries:
                delivery.wake()

    def _care(self) -> None:
        """Look at what changes slowly."""
        now = time.monotonic()
        if now < self._care_after:
            return
        self._care_after = now + CARE_SECONDS
        self._watched.refresh()
        self._metrics.rules_valid.set(self._watched.is_valid)
        if self._server is not None:
            self._server.refresh()
        self._memory.expire(time.time())
        for instance in self._grouping.leaving | self._outdated.instances:
            self._source.want(instance)
        self._show()
        try:
            self._look_at_spool(now)
        except SpoolError as error:
            self._outbox.report_full(error)

    def _look_at_spool(self, now: float) -> None:
        if now >= self._alive_after and self._away_since is None:
            self._alive_after = now + ALIVE_SECONDS
            self._spool.alive(time.time())
        oldest = self._spool.oldest()
        age = 0.0 if oldest is None else max(time.time() - oldest, 0.0)
        self._metrics.oldest.set(age)
        self._metrics.spool_bytes.set(self._spool.used())
        if self._spool.file_id != self._file_id:
            self._file_id = self._spool.file_id
            self._outbox.keep_all(self._has_baseline)

    def _show(self) -> None:
        self._is_new = False
        self._metrics.show_failures(
            (row.instance, row.failed)
            for row in self._memory.rows.values()
            if row.failed
        )
