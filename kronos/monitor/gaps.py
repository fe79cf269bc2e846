# SPDX-License-Identifier: Apache-2.0
"""The comparison after a gap: which domains failed while no events came.

The remembered state of each domain is laid beside its state now. What users
do leaves another trace there than what fails.
"""

from dataclasses import dataclass, field

from kronos.monitor import domains, events
from kronos.monitor.domains import Domain, Gone, Listing, State
from kronos.monitor.events import Event, Kind
from kronos.monitor.incidents import Gap, Incident
from kronos.monitor.memory import Memory, Row

_INCONCLUSIVE = ('UNKNOWN', 'FAILED', 'DAEMON', '')
"""Reasons of an end that tell neither a failure nor anybody's wish."""


@dataclass
class Comparison:
    incidents: list[Incident] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)
    """Instances that ran and are gone: destroyed, migrated or crashed."""
    unexplained: list[str] = field(default_factory=list)
    """Instances that ran and are off, for no reason that is told."""


def compare(memory: Memory, listing: Listing, gap: Gap | None) -> Comparison:
    """Find what happened in a gap, and remember the domains as they are.

    :param gap: None: nothing was remembered before, so whatever there is may
        be old, and is no incident
    """
    comparison = Comparison()
    present = {domain.instance for domain in listing.domains}
    for instance in [*memory.rows]:
        if instance not in present:
            _compare_gone(memory, instance, comparison)
    for domain in listing.domains:
        _compare_domain(memory, domain, listing.moment, gap, comparison)
    return comparison


class Outdated:
    """The domains whose states in the last listing were not current."""

    def __init__(self) -> None:
        self._gap: Gap | None = None
        self.instances: set[str] = set()
        """Those to look at again."""

    def begin(self, listing: Listing, gap: Gap | None) -> None:
        """Start with a listing that was compared, and its gap."""
        self._gap = gap
        self.instances = {
            domain.instance
            for domain in listing.domains
            if not domain.is_current
        }

    def follow(self, event: Event) -> None:
        """Take an event: if it shows a state, the hypervisor is up to date.

        A domain can be defined even before.
        """
        if event.event == events.LIFECYCLE and not event.detail.startswith(
            ('DEFINED_', 'UNDEFINED_')
        ):
            self.instances.discard(event.instance)

    def compare(
        self, memory: Memory, now: Domain | Gone, moment: float
    ) -> Comparison:
        """Find what happened to one of them, as soon as its state is current.

        :param moment: in Unix seconds
        """
        comparison = Comparison()
        instance = now.instance
        if instance not in self.instances:
            return comparison
        if isinstance(now, Gone):
            self.instances.discard(instance)
            if instance in memory.rows:
                _compare_gone(memory, instance, comparison)
        elif now.is_current:
            self.instances.discard(instance)
            gap = self._gap and Gap(self._gap.began, moment)
            _compare_domain(memory, now, moment, gap, comparison)
        return comparison


def _compare_gone(
    memory: Memory, instance: str, comparison: Comparison
) -> None:
    row = memory.rows[instance]
    if row.is_elsewhere or row.is_leaving:
        memory.end_elsewhere(row)
        return
    if row.state in (State.RUNNING, State.PAUSED):
        comparison.vanished.append(instance)
    memory.forget(instance)


def _compare_domain(
    memory: Memory,
    domain: Domain,
    moment: float,
    gap: Gap | None,
    comparison: Comparison,
) -> None:
    before = memory.rows.get(domain.instance)
    kind = _news_of(before, domain) if gap is not None else None
    if before is not None and _is_unexplained(before, domain):
        comparison.unexplained.append(domain.instance)
    run = before.run if before and domain.run is None else domain.run
    memory.adopt(domain)
    if kind is not None and gap is not None:
        comparison.incidents.append(
            _incident(memory, domain, run, kind, moment, gap)
        )


def _news_of(row: Row | None, domain: Domain) -> Kind | None:
    """The failure that a domain's state shows and its row does not."""
    kind = domains.failure_of(domain)
    if row is None or kind is None:
        return kind
    same_state = (row.state, row.reason) == (domain.state, domain.reason)
    if kind is Kind.CRASH:
        is_known = (
            same_state
            or row.ending
            or row.state is State.CRASHED
            or _was_elsewhere(row)
        )
    elif kind is Kind.PANIC:
        is_known = row.state is domain.state and row.run == domain.run
    else:
        is_known = same_state and row.run == domain.run
    return None if is_known else kind


def _was_elsewhere(row: Row) -> bool:
    """Whether a domain that is off now need not have run here.

    One that came undefined is there only if it arrived.
    """
    return row.is_elsewhere and row.reason != domains.INCOMING


def _is_unexplained(row: Row, domain: Domain) -> bool:
    return (
        row.state is State.RUNNING
        and domain.state is State.SHUTOFF
        and domain.reason in _INCONCLUSIVE
        and not row.ending
    )


def _incident(
    memory: Memory,
    domain: Domain,
    run: int | None,
    kind: Kind,
    moment: float,
    gap: Gap,
) -> Incident:
    row = memory.row_of(domain.instance, domain.name)
    return Incident(
        memory.fail(row, kind, moment),
        domain.instance,
        row.name,
        kind,
        moment,
        domain.state,
        run,
        row.metadata,
        gap=gap,
    )
